//! Packages by a name with or without version. A package is its directory, such as `i3-wm_4.22`;
//! users call it `i3-wm`.

use crate::problem::Problem;
use frontend::{Coordinator, Scope};
use schema::message::{ListEntry, ListKind, ListRequest};

/// Bound of listed versions: about what a backend sends at once.
const VERSIONS_MAX: u32 = 1000;

/// The directory itself, or all versions, ordered by name.
pub(crate) async fn versions(
    coordinator: &Coordinator,
    scope: &Scope,
    name: &[u8],
) -> Result<Vec<ListEntry>, Problem> {
    let request = ListRequest::new(ListKind::Packages, name, b"", VERSIONS_MAX);
    let mut list = coordinator.listing(scope, &request).await?;
    if list.entries.iter().any(|entry| entry.package == name) {
        list.entries.retain(|entry| entry.package == name);
    }
    if list.entries.is_empty() {
        list = list.whole().map(|_| Default::default())?;
    }
    Ok(list.entries)
}
