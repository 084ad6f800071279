//! What a request that names visible packages reads: views of its shards, and the repositories among them.
//!
//! **Invariant:** a shard that the request does not name is not read, and an answer has nothing of a package
//! that is not visible.

use crate::live_shards::{Generation, LiveShards};
use index::shard::{Shard, ShardError};
use schema::message::{Failure, FailureKind, Recorded, VisibleShard};
use std::collections::HashSet;
use std::sync::Arc;

/// Which of the recorded repositories a request needs.
#[derive(Clone, Debug)]
pub(super) enum Repositories {
    None,
    /// The one of this package.
    Of(Vec<u8>),
    All,
}

/// Returns what a request reads: everything, or the visible part.
pub(super) fn generation(
    live: &LiveShards,
    visible: Option<&[VisibleShard]>,
    repositories: &Repositories,
) -> Result<Arc<Generation>, Failure> {
    let current = live.current();
    let Some(visible) = visible else {
        return Ok(current);
    };
    let shards = views(live, visible)?;
    let recorded = visible_repositories(&shards, &current.recorded, repositories);
    Ok(Arc::new(Generation {
        recorded: Arc::new(recorded.map_err(|error| failure(&error))?),
        shards,
        updated: current.updated,
    }))
}

/// Returns what a caller sees of these shards.
pub(super) fn views(
    live: &LiveShards,
    visible: &[VisibleShard],
) -> Result<Vec<Arc<Shard>>, Failure> {
    let view = |visible| match live.view(visible) {
        Ok(Some(view)) => Ok(view),
        Ok(None) => {
            let message = "this backend no longer serves a shard of the request";
            Err(Failure::new(FailureKind::StaleShards, message))
        }
        Err(error) => Err(failure(&error)),
    };
    visible.iter().map(view).collect()
}

fn failure(error: &ShardError) -> Failure {
    Failure::new(FailureKind::Unavailable, error.to_string())
}

/// Returns the records of the wanted repositories that have a visible package.
fn visible_repositories(
    views: &[Arc<Shard>],
    recorded: &Recorded,
    wanted: &Repositories,
) -> Result<Recorded, ShardError> {
    let is_wanted = |package: &[u8]| match wanted {
        Repositories::None => false,
        Repositories::Of(one) => package == one,
        Repositories::All => true,
    };
    let repositories = recorded.repositories.iter();
    let mut kept: Vec<_> = repositories
        .filter(|repository| is_wanted(&repository.package))
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
