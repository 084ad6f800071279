//! Links to a file in other versions or revisions.

use super::super::directory::{indexed_repository, short_name};
use super::super::{filters, visible};
use super::page::FilePage;
use crate::http::links::FileAddress;
use crate::problem::Problem;
use crate::suggest::Corpus;
use askama::Template;
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
    corpus: Corpus<'_>,
    page: &FilePage,
    request: &FileRequest,
) -> Result<String, Problem> {
    let request = FileRequest {
        range: FileRange::Lines { first: 1, count: 1 },
        ..request.clone()
    };
    let fragment = page.asked.kept.fragment();
    let link = |package: &[u8], revision: &str| {
        let address = FileAddress::current(package, &request.path).at(revision);
        let name = match revision {
            "" => package,
            revision => revision.as_bytes(),
        };
        let href = address.with_query(&page.query).near_href(&fragment);
        (visible::plain(name), href)
    };
    let (of, versions): (_, Vec<_>) = if request.revision.is_empty() {
        let known = corpus.versions(package_name(&request.package)).await?;
        let found = corpus.in_versions(&request, known).await?;
        let newest_first = found.iter().rev();
        let links = newest_first.map(|found| link(&found.package, ""));
        ("versions", links.collect())
    } else {
        let found = in_revisions(corpus, &request, &page.asked.revision).await?;
        let links = found
            .iter()
            .map(|revision| link(&request.package, revision));
        ("revisions", links.collect())
    };
    if versions.is_empty() {
        return Ok(String::new());
    }
    Ok(page.form.site.render(&OtherVersions { of, versions }))
}

async fn in_revisions(
    corpus: Corpus<'_>,
    request: &FileRequest,
    asked: &str,
) -> Result<Vec<String>, Problem> {
    let repository = indexed_repository(corpus, &request.package).await?;
    let others = repository.map_or_else(Vec::new, |found| others(found, request, asked));
    let mut found = Vec::new();
    for revision in others.into_iter().take(REVISIONS_MAX) {
        let request = FileRequest {
            revision,
            ..request.clone()
        };
        if corpus.file(&request).await?.found {
            found.push(request.revision);
        }
    }
    Ok(found)
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
