//! Restricts a request to visible packages: views of shards, and their repositories.
//!
//! **Invariant:** unnamed shards are not read, and answers have nothing of invisible packages.

use crate::live::{Generation, LiveShards};
use index::shard::{Shard, ShardError};
use schema::message::{Failure, FailureKind, Recorded, VisibleShard};
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) enum Repositories {
    None,
    /// That of a package.
    Of(Vec<u8>),
    All,
}

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
