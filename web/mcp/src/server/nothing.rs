//! Reasons for an answer without a match: for each part of the query its count alone, the filter
//! that removes everything, and near spellings.
//!
//! The counts are searches of their own, all at once, under one short time limit.

use super::answer::escaped;
use super::call::{Call, HELP_MAX};
use frontend::query::{ParsedQuery, interpreted_as};
use frontend::{SearchResult, similar};
use futures_util::future::join_all;
use schema::message::{Expr, Field, ListKind, ListRequest, Pattern};

const PARTS_MAX: usize = 8;

/// Packages with one first letter, compared with a wrong name.
const PACKAGES_MAX: u32 = 1000;

const SIMILAR_MAX: usize = 3;

/// Returns lines that explain the empty result.
pub(super) async fn explained(call: &Call, parsed: &ParsedQuery, result: &SearchResult) -> String {
    let query = &parsed.query;
    let factors = query.expr.factors();
    let told = join_all(factors.iter().take(PARTS_MAX).map(async |factor| {
        let shown = interpreted_as(factor);
        if factor.is_filter() {
            filter(call, parsed, factor, &shown).await
        } else {
            pattern(call, factor, query.names, &shown).await
        }
    }));
    let mut told = told.await.concat();
    if told.is_empty() {
        told = "each part occurs, but in no file together; leave out a word\n".to_owned();
    }
    if result.is_complete()
        && let Some(notice) = call.coordinator.notice_of_revisions(&call.scope, query)
    {
        told += &format!("{}; {}\n", notice.reason, notice.hint.unwrap_or_default());
    }
    told
}

/// Counts a pattern without the filters.
async fn pattern(call: &Call, factor: &Expr, names: bool, shown: &str) -> String {
    match (call.count(factor.clone(), names).await, factor) {
        (None, _) => String::new(),
        (Some(found @ 1..), _) => {
            format!("{shown}: {found} by itself, without the rest of the query\n")
        }
        (Some(0), Expr::Pattern(pattern)) => {
            let mut text = format!("{shown}: 0 in all files");
            let in_any_case = Pattern {
                ignore_case: true,
                ..pattern.clone()
            };
            if !pattern.ignore_case
                && let Some(found @ 1..) = call.count(Expr::Pattern(in_any_case), names).await
            {
                text += &format!(", but {found} with case:no");
            }
            let near = call
                .coordinator
                .near_words(&call.scope, call.client, pattern)
                .await;
            if !near.is_empty() {
                text += &format!("; near spellings: {}", near.join(", "));
            }
            text + "\n"
        }
        (Some(0), _) => format!("{shown}: 0 in all files\n"),
    }
}

/// Counts the query without one filter.
async fn filter(call: &Call, parsed: &ParsedQuery, factor: &Expr, shown: &str) -> String {
    let rest = parsed.query.expr.factors().iter();
    let rest: Vec<Expr> = rest.filter(|other| *other != factor).cloned().collect();
    let without = call.count(Expr::all(rest), parsed.query.names);
    match tokio::join!(call.count(factor.clone(), false), without) {
        (Some(0), without) => {
            let without = without.filter(|found| *found > 0);
            let without = without.map_or(String::new(), |found| format!("; {found} without it"));
            let near = near_packages(call, factor).await;
            format!("{shown}: no file passes this filter{without}{near}\n")
        }
        (_, Some(found @ 1..)) => format!("{shown}: removes all {found}\n"),
        _ => String::new(),
    }
}

/// Names like that of a package filter.
async fn near_packages(call: &Call, factor: &Expr) -> String {
    let name = match factor {
        Expr::Filter(it) if it.field == Field::Package => it.text.trim_matches(['^', '$']),
        _ => "",
    };
    if name.is_empty() {
        return String::new();
    }
    match &near(call, name.as_bytes()).await[..] {
        [] => "; the tool repositories lists all packages".to_owned(),
        near => format!("; near names: {}", near.join(", ")),
    }
}

/// Visible packages with a similar name.
pub(super) async fn near(call: &Call, name: &[u8]) -> Vec<String> {
    let first = &name[..name.len().min(1)];
    let request = ListRequest::new(ListKind::Packages, b"", first, PACKAGES_MAX);
    let listing = call.coordinator.listing(&call.scope, &request);
    let Ok(Ok(listing)) = tokio::time::timeout(HELP_MAX, listing).await else {
        return Vec::new();
    };
    let names = listing.entries.iter().map(|entry| entry.package.clone());
    let near = similar(name, names).into_iter().take(SIMILAR_MAX);
    near.map(|name| escaped(&name)).collect()
}
