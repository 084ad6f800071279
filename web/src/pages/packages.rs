//! Lists of packages, by name, and of files left out of the index, with counts of the reasons.
//!
//! Backends send parts without counts, so a bounded number of parts is counted here.

use super::directory::{after, find, words};
use super::form::Form;
use super::{filters, visible};
use crate::http::links::{encode, package_href};
use crate::model::LeftOut;
use crate::problem::Problem;
use crate::search::params::{lossy, position};
use crate::state::Call;
use crate::suggest::Corpus;
use askama::Template;
use axum::response::Html;
use frontend::{Listing, entry_name};
use schema::message::{ListEntry, ListKind, ListRequest};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const PACKAGES_MAX: u32 = 500;

/// Lists read to find names that contain a text, of about 1,000 packages each.
const LISTS_MAX: usize = 64;

const TIME_MAX: Duration = Duration::from_millis(500);

#[derive(Template)]
#[template(path = "packages.html")]
struct PackagesPage {
    form: Form,
    prefix: String,
    total: u64,
    list: Listing,
    next: Option<String>,
    /// True if there are too many packages to find all names.
    is_cut: bool,
}

/// After `after`: names that begin with the text, then those that contain it.
pub(crate) async fn packages(call: Call) -> Result<Html<String>, Problem> {
    let params = &call.params;
    params.expect(&[&["prefix", "after"]])?;
    let prefix = params.bytes("prefix").unwrap_or_default();
    let scope = call.viewer.scope().await?;
    let request = ListRequest {
        after: after(params)?,
        ..ListRequest::new(ListKind::Packages, b"", prefix, PACKAGES_MAX)
    };
    let corpus = call.corpus(&scope);
    let mut list = corpus.listing(&request).await?;
    let last = list.entries.last().filter(|_| list.more);
    let next = last.map(|last| {
        let (prefix, last) = (encode(prefix), position(&last.package));
        format!("/packages?prefix={prefix}&after={last}")
    });
    let mut is_cut = false;
    if !list.more && !prefix.is_empty() {
        let (others, is_whole) = containing(corpus, prefix).await?;
        list.entries.extend(others);
        is_cut = !is_whole;
    }
    let page = PackagesPage {
        form: Form::of(&params.site),
        prefix: lossy(Some(prefix)).into_owned(),
        total: call.coordinator.served(&scope).packages,
        list,
        next,
        is_cut,
    };
    Ok(Html(params.site.render(&page)))
}

/// Names that contain the text elsewhere, and true if these are all.
async fn containing(corpus: Corpus<'_>, text: &[u8]) -> Result<(Vec<ListEntry>, bool), Problem> {
    let deadline = Instant::now() + TIME_MAX;
    let mut request = ListRequest::new(ListKind::Packages, b"", b"", u32::MAX);
    let contains = |entry: &&ListEntry| {
        let name = &entry.package[..];
        !name.starts_with(text)
            && (name.windows(text.len())).any(|part| part.eq_ignore_ascii_case(text))
    };
    let mut found = Vec::new();
    for _ in 0..LISTS_MAX {
        let list = corpus.listing(&request).await?;
        found.extend(list.entries.iter().filter(contains).cloned());
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

const LISTED_MAX: usize = 500;

/// Parts that are counted; a backend reads all names for each.
const PARTS_MAX: usize = 4;

/// About as many as a backend sends at once.
const PART_ENTRIES: u32 = 1000;

#[derive(Template)]
#[template(path = "skipped.html")]
struct SkippedPage {
    form: Form,
    /// Empty: all packages.
    package: Vec<u8>,
    notice: Option<String>,
    /// Counts, on the first page only.
    reasons: Vec<(String, usize)>,
    counted: usize,
    list: Listing,
    next: Option<String>,
    json_href: String,
}

pub(crate) async fn skipped(call: Call) -> Result<Html<String>, Problem> {
    let params = &call.params;
    params.expect(&[&["package", "after"]])?;
    let name = params.bytes("package").filter(|name| !name.is_empty());
    let (scope, package, notice) = match name {
        Some(name) => {
            let scope = call.viewer.scope_of(name).await?;
            let (entry, notice) = find(call.corpus(&scope), name).await?;
            (scope, entry.package, notice)
        }
        None => (call.viewer.scope().await?, Vec::new(), None),
    };
    let after = after(params)?;
    let is_first = after.is_empty();
    let request = ListRequest {
        after,
        ..ListRequest::new(ListKind::Skipped, &package, b"", PART_ENTRIES)
    };
    let parts_max = if is_first { PARTS_MAX } else { 1 };
    let mut list = call.corpus(&scope).parts(request, parts_max).await?;
    let page = SkippedPage {
        form: Form::of(&params.site),
        notice,
        reasons: if is_first {
            reasons(&list.entries)
        } else {
            Vec::new()
        },
        counted: list.entries.len(),
        next: next(&package, &list),
        json_href: format!("/api/v2/skipped?package={}", encode(&package)),
        list: {
            list.entries.truncate(LISTED_MAX);
            list
        },
        package,
    };
    Ok(Html(params.site.render(&page)))
}

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
    let after = position(&entry_name(ListKind::Skipped, last));
    Some(format!(
        "/skipped?package={}&after={after}",
        encode(package)
    ))
}

impl SkippedPage {
    fn package(&self) -> String {
        lossy(Some(&self.package)).into_owned()
    }
}
