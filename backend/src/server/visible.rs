//! Restricts a request to visible packages: views of shards, and their repositories.
//!
//! **Invariant:** unnamed shards are not read, and answers have nothing of invisible packages.

use crate::live::{Generation, LiveShards};
use index::shard::{Shard, ShardError};
use schema::message::{Failure, FailureKind, Recorded, VisibleShard};
use std::collections::HashSet;
use std::sync::Arc;

/// `reads` tests if the request reads the repository of a package.
pub(super) fn generation(
    live: &LiveShards,
    visible: Option<&[VisibleShard]>,
    reads: impl Fn(&[u8]) -> bool,
) -> Result<Arc<Generation>, Failure> {
    let current = live.current();
    let Some(visible) = visible else {
        return Ok(current);
    };
    let shards = views(live, visible)?;
    let recorded = visible_repositories(&shards, &current.recorded, reads);
    Ok(Arc::new(Generation {
        recorded: Arc::new(recorded.map_err(unavailable)?),
        shards,
        updated: current.updated,
        precise: current.precise.clone(),
    }))
}

pub(super) fn views(
    live: &LiveShards,
    visible: &[VisibleShard],
) -> Result<Vec<Arc<Shard>>, Failure> {
    let view = |visible: &VisibleShard| {
        let shard = served(live, &visible.shard, "a shard of the request")?;
        live.view(&shard, visible).map_err(unavailable)
    };
    visible.iter().map(view).collect()
}

/// `what` names the shard in the failure.
pub(super) fn served(
    live: &LiveShards,
    id: &[u8; 32],
    what: &'static str,
) -> Result<Arc<Shard>, Failure> {
    live.shard(id).ok_or_else(|| {
        let message = format!("this backend no longer serves {what}");
        Failure::new(FailureKind::StaleShards, message)
    })
}

pub(super) fn unavailable(error: impl ToString) -> Failure {
    Failure::new(FailureKind::Unavailable, error.to_string())
}

fn visible_repositories(
    views: &[Arc<Shard>],
    recorded: &Recorded,
    reads: impl Fn(&[u8]) -> bool,
) -> Result<Recorded, ShardError> {
    let repositories = recorded.repositories.iter();
    let mut kept: Vec<_> = repositories
        .filter(|repository| reads(&repository.package))
        .collect();
    let mut seen = HashSet::new();
    if !kept.is_empty() {
        for shard in views {
            for id in shard.live_packages() {
                seen.insert(shard.package(id)?.directory);
            }
            shard.intact()?;
        }
    }
    kept.retain(|repository| seen.contains(&repository.package[..]));
    Ok(Recorded {
        repositories: kept.into_iter().cloned().collect(),
        ..Recorded::default()
    })
}
