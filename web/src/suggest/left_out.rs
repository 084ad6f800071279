//! Explains a file that the index skipped: by a rule, or below a skipped directory.

use crate::model::LeftOut;
use crate::problem::Problem;
use frontend::{Coordinator, Scope};
use schema::message::{ListKind, ListRequest};

/// Compared entries of a list of skipped files.
const SKIPPED_MAX: u32 = 100;

/// Reason why a file was skipped. `None` if it was not.
pub(crate) async fn why(
    coordinator: &Coordinator,
    scope: &Scope,
    (package, path): (&[u8], &[u8]),
) -> Option<Problem> {
    let words = words(coordinator, scope, package, path).await?;
    let [package, path] = [package, path].map(String::from_utf8_lossy);
    let detail = format!("{package}/{path} is not indexed: {words}");
    Some(Problem::missing(detail))
}

async fn words(
    coordinator: &Coordinator,
    scope: &Scope,
    package: &[u8],
    path: &[u8],
) -> Option<String> {
    let request = ListRequest::new(ListKind::Skipped, package, path, SKIPPED_MAX);
    let list = coordinator.listing(scope, &request).await.ok()?;
    let mut entries = list.entries.into_iter();
    let entry = entries.find(|entry| is_at_or_below(path, &entry.path))?;
    Some(LeftOut::from(entry).words)
}

fn is_at_or_below(path: &[u8], directory: &[u8]) -> bool {
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| rest.is_empty() || directory.is_empty() || rest[0] == b'/')
}
