//! Suggests packages with a name similar to one that does not exist.

use crate::problem::Problem;
use frontend::{Coordinator, Scope, similar};
use schema::message::{ListKind, ListRequest};
use schema::name::package_name;

pub(crate) const SIMILAR_MAX: usize = 3;

/// Each has about a thousand packages: enough for a distribution's packages with one first letter,
/// and a wrong name costs little.
const LISTS_MAX: usize = 4;

/// Returns visible packages with a similar name and the same first letter.
pub(crate) async fn near_packages(
    coordinator: &Coordinator,
    scope: &Scope,
    name: &[u8],
) -> Result<Vec<Vec<u8>>, Problem> {
    let first = &name[..name.len().min(1)];
    let mut request = ListRequest::new(ListKind::Packages, b"", first, u32::MAX);
    let mut names = Vec::new();
    for _ in 0..LISTS_MAX {
        let list = coordinator.listing(scope, &request).await?;
        let found = list.entries.iter();
        names.extend(found.map(|entry| entry.name().to_vec()));
        match list.entries.into_iter().next_back().filter(|_| list.more) {
            Some(last) => request.after = last.package,
            None => break,
        }
    }
    let mut similar = similar(package_name(name), names);
    similar.truncate(SIMILAR_MAX);
    Ok(similar)
}
