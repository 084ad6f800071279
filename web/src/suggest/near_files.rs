//! Suggests files with a name similar to one that does not exist.

use super::near_packages::SIMILAR_MAX;
use crate::problem::Problem;
use frontend::{Coordinator, Scope, similar};
use schema::message::{ListKind, ListRequest};

const SIBLINGS_MAX: u32 = 1000;

/// Returns similar paths in the same directory.
pub(crate) async fn near_files(
    coordinator: &Coordinator,
    scope: &Scope,
    package: &[u8],
    path: &[u8],
) -> Result<Vec<Vec<u8>>, Problem> {
    let slash = path.iter().rposition(|&byte| byte == b'/');
    let (directory, name) = path.split_at(slash.map_or(0, |at| at + 1));
    let request = ListRequest::new(ListKind::Children, package, directory, SIBLINGS_MAX);
    let list = coordinator.list(scope, request).await?;
    // Only a faulty backend sends entries of other directories.
    let names = list.entries.iter();
    let names = names.filter_map(|entry| entry.path.strip_prefix(directory).map(<[u8]>::to_vec));
    let near = similar(name, names).into_iter().take(SIMILAR_MAX);
    Ok(near.map(|name| [directory, &name].concat()).collect())
}
