//! List of files left out of the index, with counts of the reasons.
//!
//! Backends send it in parts without counts, so a bounded number of parts is counted here.

use super::directory::{after, find};
use super::form::Layout;
use super::{filters, visible};
use crate::http::links::{encode, package_href};
use crate::model::LeftOut;
use crate::problem::Problem;
use crate::search::params::{Params, lossy};
use crate::state::App;
use access::Viewer;
use askama::Template;
use axum::extract::State;
use axum::response::Html;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use frontend::{Listing, Scope, entry_name};
use schema::message::{ListEntry, ListKind, ListRequest};
use std::cmp::Reverse;
use std::collections::BTreeMap;

const LISTED_MAX: usize = 500;

/// Parts that are counted; a backend reads all names for each.
const PARTS_MAX: usize = 4;

/// About as many as a backend sends at once.
const PART_ENTRIES: u32 = 1000;

#[derive(Template)]
#[template(path = "skipped.html")]
struct SkippedPage {
    layout: Layout,
    /// Empty: all packages.
    package: String,
    package_href: String,
    notice: Option<String>,
    /// Counts, on the first page only.
    reasons: Vec<(String, usize)>,
    counted: usize,
    has_uncounted: bool,
    files: Vec<SkippedFile>,
    next: Option<String>,
    json_href: String,
    missing: Vec<(String, String)>,
}

struct SkippedFile {
    package: String,
    package_href: String,
    path: String,
    words: String,
}

pub(crate) async fn skipped(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Html<String>, Problem> {
    params.expect(&[&["package", "after"]])?;
    let name = params.bytes("package").filter(|name| !name.is_empty());
    let (scope, package, notice) = match name {
        Some(name) => {
            let scope = viewer.scope_of(name).await?;
            let (entry, notice) = find(&app, &scope, name).await?;
            (scope, entry.package, notice)
        }
        None => (viewer.scope().await?, Vec::new(), None),
    };
    let after = after(&params)?;
    let is_first = after.is_empty();
    let request = ListRequest {
        after,
        ..ListRequest::new(ListKind::Skipped, &package, b"", PART_ENTRIES)
    };
    let parts_max = if is_first { PARTS_MAX } else { 1 };
    let list = read(&app, &scope, request.clone(), parts_max).await?;
    let page = SkippedPage {
        layout: Layout::of(&params.site),
        package: lossy(Some(&request.package)).into_owned(),
        package_href: package_href(&request.package),
        notice,
        reasons: if is_first {
            reasons(&list.entries)
        } else {
            Vec::new()
        },
        counted: list.entries.len(),
        has_uncounted: list.more,
        next: next(&request.package, &list),
        json_href: format!("/api/v2/skipped?package={}", encode(&request.package)),
        files: (list.entries.into_iter())
            .take(LISTED_MAX)
            .map(Into::into)
            .collect(),
        missing: list.unreachable,
    };
    Ok(Html(params.site.render(&page)))
}

async fn read(
    app: &App,
    scope: &Scope,
    mut request: ListRequest,
    parts_max: usize,
) -> Result<Listing, Problem> {
    let mut whole = Listing::default();
    for _ in 0..parts_max {
        let part = app.coordinator.listing(scope, &request).await?;
        whole.entries.extend(part.entries);
        whole.more = part.more;
        whole.unreachable = part.unreachable;
        match whole.entries.last().filter(|_| part.more) {
            Some(last) => request.after = entry_name(request.kind, last),
            None => break,
        }
    }
    Ok(whole)
}

/// Most frequent first.
fn reasons(entries: &[ListEntry]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in entries {
        *counts.entry(&entry.reason).or_default() += 1;
    }
    let counts = counts.into_iter();
    let mut counts: Vec<_> = counts
        .map(|(reason, count)| (visible::plain(LeftOut::kind(reason).as_bytes()), count))
        .collect();
    // Stable: ties stay in order.
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts
}

fn next(package: &[u8], list: &Listing) -> Option<String> {
    let has_more = list.more || list.entries.len() > LISTED_MAX;
    let last = list.entries.iter().take(LISTED_MAX).next_back();
    let last = last.filter(|_| has_more)?;
    let after = BASE64.encode(entry_name(ListKind::Skipped, last));
    Some(format!(
        "/skipped?package={}&after={after}",
        encode(package)
    ))
}

impl From<ListEntry> for SkippedFile {
    fn from(entry: ListEntry) -> SkippedFile {
        SkippedFile {
            package: visible::plain(&entry.package),
            package_href: package_href(&entry.package),
            path: visible::plain(&entry.path),
            words: visible::plain(LeftOut::from(entry).words.as_bytes()),
        }
    }
}
