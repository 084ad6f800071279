//! List of packages, by name.

use super::directory::after;
use super::filters;
use super::form::Layout;
use super::visible;
use crate::http::links::{encode, package_href};
use crate::problem::Problem;
use crate::search::params::{Params, lossy};
use crate::state::App;
use access::Viewer;
use askama::Template;
use axum::extract::State;
use axum::response::Html;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use frontend::Scope;
use schema::message::{ListEntry, ListKind, ListRequest};
use std::time::{Duration, Instant};

const PACKAGES_MAX: u32 = 500;

/// Lists read to find names that contain a text, of about 1,000 packages each.
const LISTS_MAX: usize = 64;

const TIME_MAX: Duration = Duration::from_millis(500);

#[derive(Template)]
#[template(path = "packages.html")]
struct PackagesPage {
    layout: Layout,
    prefix: String,
    /// Packages visible to the caller.
    total: u64,
    packages: Vec<PackageRow>,
    next: Option<String>,
    /// True if there are too many packages to find all names.
    is_cut: bool,
    missing: Vec<(String, String)>,
}

struct PackageRow {
    name: String,
    href: String,
    documents: u32,
    lines: u64,
    bytes: u64,
    indexed: String,
}

/// Lists packages after `after`: names that begin with the text, then those that contain it.
pub(crate) async fn packages(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Html<String>, Problem> {
    params.expect(&[&["prefix", "after"]])?;
    let prefix = params.bytes("prefix").unwrap_or_default();
    let scope = viewer.scope().await?;
    let request = ListRequest {
        after: after(&params)?,
        ..ListRequest::new(ListKind::Packages, b"", prefix, PACKAGES_MAX)
    };
    let list = app.coordinator.listing(&scope, &request).await?;
    let last = list.entries.last().filter(|_| list.more);
    let mut packages: Vec<_> = list.entries.iter().map(PackageRow::new).collect();
    let mut is_cut = false;
    if !list.more && !prefix.is_empty() {
        let (others, is_whole) = containing(&app, &scope, prefix).await?;
        packages.extend(others);
        is_cut = !is_whole;
    }
    let page = PackagesPage {
        layout: Layout::of(&params.site),
        prefix: lossy(Some(prefix)).into_owned(),
        total: app.coordinator.served(&scope).packages,
        next: last.map(|last| {
            let (prefix, last) = (encode(prefix), BASE64.encode(&last.package));
            format!("/packages?prefix={prefix}&after={last}")
        }),
        packages,
        is_cut,
        missing: list.unreachable,
    };
    Ok(Html(params.site.render(&page)))
}

/// Names that contain the text elsewhere, and true if these are all.
async fn containing(
    app: &App,
    scope: &Scope,
    text: &[u8],
) -> Result<(Vec<PackageRow>, bool), Problem> {
    let deadline = Instant::now() + TIME_MAX;
    let mut request = ListRequest::new(ListKind::Packages, b"", b"", u32::MAX);
    let contains = |entry: &&ListEntry| {
        let name = &entry.package[..];
        !name.starts_with(text)
            && (name.windows(text.len())).any(|part| part.eq_ignore_ascii_case(text))
    };
    let mut found = Vec::new();
    for _ in 0..LISTS_MAX {
        let list = app.coordinator.listing(scope, &request).await?;
        found.extend(list.entries.iter().filter(contains).map(PackageRow::new));
        let Some(last) = list.entries.into_iter().next_back().filter(|_| list.more) else {
            return Ok((found, true));
        };
        request.after = last.package;
        if found.len() >= PACKAGES_MAX as usize || Instant::now() >= deadline {
            break;
        }
    }
    found.truncate(PACKAGES_MAX as usize);
    Ok((found, false))
}

impl PackageRow {
    fn new(entry: &ListEntry) -> PackageRow {
        PackageRow {
            name: visible::plain(&entry.package),
            href: package_href(&entry.package),
            documents: entry.documents,
            lines: entry.lines,
            bytes: entry.text_bytes,
            indexed: filters::moment(entry.indexed),
        }
    }
}
