//! The same file in the other versions of its package, beside its lines.

use super::super::visible;
use crate::file_range::in_versions;
use crate::links::FileAddress;
use crate::problem::Problem;
use crate::state::App;
use crate::versions::versions;
use askama::Template;
use frontend::Scope;
use schema::message::{FileRange, FileRequest};
use schema::name::package_name;

#[derive(Template)]
#[template(path = "file_versions.html")]
struct OtherVersions {
    /// Names of versions that have the file, with its addresses.
    versions: Vec<(String, String)>,
}

/// Renders links to the file in other versions, the newest first; nothing if no other version has it, or if it is
/// asked for in a revision. The links keep `query`.
pub(super) async fn render(
    app: &App,
    scope: &Scope,
    request: &FileRequest,
    query: &str,
) -> Result<String, Problem> {
    if !request.revision.is_empty() {
        return Ok(String::new());
    }
    let known = versions(app, scope, package_name(&request.package)).await?;
    let first_line = FileRequest {
        range: FileRange::Lines { first: 1, count: 1 },
        ..request.clone()
    };
    let found = in_versions(app, scope, &first_line, known).await?;
    let link = |package: &[u8]| {
        let address = FileAddress {
            query,
            ..FileAddress::current(package, &request.path)
        };
        (visible::plain(package), address.show_href(0))
    };
    let newest_first = found.iter().rev();
    let versions: Vec<_> = newest_first.map(|found| link(&found.package)).collect();
    if versions.is_empty() {
        return Ok(String::new());
    }
    let view = OtherVersions { versions };
    Ok(view.render().expect("a list of versions has a bound"))
}
