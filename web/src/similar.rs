//! Packages that may have been meant by a name that none has.

use super::App;
use super::problem::Problem;
use frontend::similar;
use schema::message::{ListKind, ListRequest};
use schema::name::package_name;

/// How many are proposed.
pub(super) const SIMILAR_MAX: usize = 3;

/// Lists that are asked for, at most, each of some thousand packages: those of a distribution with
/// the same first letter, so that a wrong name costs little.
const LISTS_MAX: usize = 4;

/// Indexed packages that have a name like this one; it begins with the same letter.
pub(super) async fn similar_packages(app: &App, name: &[u8]) -> Result<Vec<Vec<u8>>, Problem> {
    let mut request = ListRequest {
        kind: ListKind::Packages,
        package: Vec::new(),
        prefix: name.iter().take(1).copied().collect(),
        after: Vec::new(),
        count: u32::MAX,
    };
    let mut names = Vec::new();
    for _ in 0..LISTS_MAX {
        let list = app.frontend.listing(&request).await?;
        let found = list.entries.iter();
        names.extend(found.map(|entry| package_name(&entry.package).to_vec()));
        match list.entries.into_iter().next_back().filter(|_| list.more) {
            Some(last) => request.after = last.package,
            None => break,
        }
    }
    let mut similar = similar(package_name(name), names);
    similar.truncate(SIMILAR_MAX);
    Ok(similar)
}
