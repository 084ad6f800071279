//! Links to a file in other versions or revisions.

use super::super::filters;
use super::super::package::{indexed_repository, short_name};
use super::super::visible;
use crate::http::links::FileAddress;
use crate::http::site::Site;
use crate::problem::Problem;
use crate::source::file_range::in_versions;
use crate::state::App;
use crate::suggest::versions;
use askama::Template;
use frontend::Scope;
use schema::message::{FileRange, FileRequest, IndexedRepository};
use schema::name::package_name;

const REVISIONS_MAX: usize = 16;

#[derive(Template)]
#[template(path = "file_versions.html")]
struct OtherVersions {
    /// Versions, or revisions.
    of: &'static str,
    /// Names and addresses.
    versions: Vec<(String, String)>,
}

/// Links to the file in other versions, newest first, or revisions. They keep query and lines.
pub(super) async fn render(
    (app, site): (&App, &Site),
    scope: &Scope,
    (request, asked): (&FileRequest, &str),
    kept: (&str, &str),
) -> Result<String, Problem> {
    let first_line = FileRequest {
        range: FileRange::Lines { first: 1, count: 1 },
        ..request.clone()
    };
    let view = if request.revision.is_empty() {
        other_versions(app, scope, &first_line, kept).await?
    } else {
        other_revisions(app, scope, (&first_line, asked), kept).await?
    };
    if view.versions.is_empty() {
        return Ok(String::new());
    }
    Ok(site.render(&view))
}

async fn other_versions(
    app: &App,
    scope: &Scope,
    request: &FileRequest,
    (query, fragment): (&str, &str),
) -> Result<OtherVersions, Problem> {
    let known = versions(&app.coordinator, scope, package_name(&request.package)).await?;
    let found = in_versions(&app.coordinator, scope, request, known).await?;
    let link = |package: &[u8]| {
        let address = FileAddress {
            query,
            ..FileAddress::current(package, &request.path)
        };
        (visible::plain(package), address.near_href(fragment))
    };
    let newest_first = found.iter().rev();
    Ok(OtherVersions {
        of: "versions",
        versions: newest_first.map(|found| link(&found.package)).collect(),
    })
}

async fn other_revisions(
    app: &App,
    scope: &Scope,
    (request, asked): (&FileRequest, &str),
    (query, fragment): (&str, &str),
) -> Result<OtherVersions, Problem> {
    let repository = indexed_repository(app, scope, &request.package).await?;
    let others = repository.map_or_else(Vec::new, |found| others(found, request, asked));
    let mut versions = Vec::new();
    for revision in others.into_iter().take(REVISIONS_MAX) {
        let request = FileRequest {
            revision: revision.clone(),
            ..request.clone()
        };
        if app.coordinator.file(scope, &request).await?.found {
            let address = FileAddress {
                package: &request.package,
                path: &request.path,
                revision: &revision,
                query,
            };
            let name = visible::plain(revision.as_bytes());
            versions.push((name, address.near_href(fragment)));
        }
    }
    Ok(OtherVersions {
        of: "revisions",
        versions,
    })
}

fn others(repository: IndexedRepository, request: &FileRequest, asked: &str) -> Vec<String> {
    let is_shown = |full: &str, commit: &str| match asked {
        "" => short_name(full) == repository.default,
        asked if asked == request.revision => commit == asked,
        asked => full == asked || short_name(full) == asked,
    };
    let all = repository.revisions.iter();
    let others = all.filter(|revision| !is_shown(&revision.name, &revision.commit));
    let names = others.map(|revision| short_name(&revision.name).to_owned());
    names.collect()
}
