//! The list of packages, by name.

use super::directory::after;
use super::filters;
use super::form::{Form, Layout};
use super::visible;
use crate::links::{encode, package_href};
use crate::params::{Params, lossy};
use crate::problem::Problem;
use crate::state::App;
use crate::viewer::Viewer;
use askama::Template;
use axum::extract::State;
use axum::response::Html;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use schema::message::{ListEntry, ListKind, ListRequest};

/// Packages on a page.
const PACKAGES_MAX: u32 = 500;

#[derive(Template)]
#[template(path = "packages.html")]
struct PackagesPage {
    layout: Layout,
    /// What the names begin with.
    prefix: String,
    /// Packages that the caller may see.
    total: u64,
    packages: Vec<PackageRow>,
    /// The address of the packages that follow.
    next: Option<String>,
    /// Backends that could not be asked, and why.
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

/// Lists packages, from the name `after` on.
pub(crate) async fn packages(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Html<String>, Problem> {
    params.expect(&[&["prefix", "after"]])?;
    let prefix = params.bytes("prefix").unwrap_or_default();
    let scope = viewer.scope(&app).await?;
    let request = ListRequest {
        kind: ListKind::Packages,
        package: Vec::new(),
        prefix: prefix.to_vec(),
        after: after(&params)?,
        count: PACKAGES_MAX,
        visible: None,
    };
    let list = app.coordinator.listing(&scope, &request).await?;
    let last = list.entries.last().filter(|_| list.more);
    let page = PackagesPage {
        layout: Layout::new(Form {
            has_key: params.has_key,
            ..Form::default()
        }),
        prefix: lossy(Some(prefix)).into_owned(),
        total: app.coordinator.served(&scope).packages,
        next: last.map(|last| {
            let (prefix, last) = (encode(prefix), BASE64.encode(&last.package));
            format!("/packages?prefix={prefix}&after={last}")
        }),
        packages: list.entries.iter().map(PackageRow::new).collect(),
        missing: list.unreachable,
    };
    Ok(Html(page.render().expect("a page fits in memory")))
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
