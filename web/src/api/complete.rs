//! Completion of a query: keys, values and symbols; for names (`type:path`) also files.
//!
//! Only visible names are offered. Packages come from a list by prefix, symbols and files from a
//! search with a short timeout.

use super::call::Call;
use super::openapi::described as doc;
use crate::http::blocking;
use crate::http::links::FileAddress;
use crate::http::response::{self, no_store};
use crate::model::{Completion, CompletionKind, Completions};
use crate::problem::Problem;
use axum::response::Response;
use frontend::query::{PartOf, Query, TypedPart, keys_with};
use frontend::{Document, Match, Scope, SearchRequest};
use futures_util::future::join;
use language::words::is_word;
use language::{Language, symbols};
use schema::message::{
    DocumentKind, Expr, Field, ListEntry, ListKind, ListRequest, Pattern, Place, Role, Syntax, Want,
};
use schema::name::revision_name;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::timeout;

const COMPLETIONS_MAX: usize = 10;

/// Matches for symbols: many define one name.
const SYMBOLS_MAX: u64 = 40;

/// Shorter texts are in most paths.
const PATH_LETTERS_MIN: usize = 3;

/// Listed for their revisions.
const REPOSITORIES_MAX: u32 = 1000;

/// Users type on.
const TIME_MAX: Duration = Duration::from_millis(150);

/// Complete a query that is being typed.
#[utoipa::path(
    get, path = "/api/v2/complete", operation_id = "complete", tag = "search",
    params(doc::CompleteParams),
    responses((status = 200, description = "How the query may go on", body = Completions))
)]
pub(crate) async fn complete(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::CompleteParams::NAMES])?;
    let q = call.params.text("q")?.unwrap_or_default();
    let at = call.params.number("at", q.len())?;
    if !q.is_char_boundary(at) {
        let detail = format!(
            "at={at} is not between two characters of q; its length in bytes: {}",
            q.len()
        );
        return Err(Problem::bad_request(detail));
    }
    let scope = call.viewer.scope().await?;
    let (from, completions) = match TypedPart::at(q, at) {
        Some(part) => (
            part.from,
            completions(&call, &scope, part, wants_names(q)).await,
        ),
        None => (at, Vec::new()),
    };
    let found = Completions {
        from,
        to: at,
        completions,
    };
    Ok(no_store(response::json(&found)))
}

async fn completions(
    call: &Call,
    scope: &Scope,
    part: TypedPart<'_>,
    wants_names: bool,
) -> Vec<Completion> {
    let typed = part.text;
    let mut found: Vec<Completion> = match part.of {
        PartOf::Word if typed.is_empty() => Vec::new(),
        PartOf::Word => words(call, scope, typed, wants_names).await,
        PartOf::Symbol(mark) => symbols(call, scope, name_of(typed), (mark, false)).await,
        PartOf::Option(values) => {
            let values = values.iter().filter(|value| value.starts_with(typed));
            named("", values.copied(), CompletionKind::Value)
        }
        PartOf::Filter(Field::Kind) => {
            let files = DocumentKind::ALL.map(DocumentKind::name).into_iter();
            let kinds = files.chain(symbols::Kind::names());
            let kinds = kinds.filter(|name| begins(name, typed));
            named("", kinds, CompletionKind::Value)
        }
        PartOf::Filter(Field::Language) => languages(typed),
        PartOf::Filter(Field::Package) => packages(call, scope, typed).await,
        PartOf::Filter(Field::Path) => files(call, scope, typed).await,
        PartOf::Filter(Field::Revision) => revisions(call, scope, typed).await,
        PartOf::Filter(_) => Vec::new(),
    };
    found.truncate(COMPLETIONS_MAX);
    found
}

fn wants_names(q: &str) -> bool {
    q.split_whitespace().any(|term| term == "type:path")
}

async fn words(call: &Call, scope: &Scope, typed: &str, wants_names: bool) -> Vec<Completion> {
    let files = async {
        if !wants_names {
            return Vec::new();
        }
        files(call, scope, typed).await
    };
    let symbols = symbols(call, scope, typed, ("", wants_names));
    let (mut files, mut symbols) = join(files, symbols).await;
    symbols.retain(|it| is_name(&it.label));
    let more_files = files.split_off(files.len().min(COMPLETIONS_MAX / 2));
    let [files, more_files] = [files, more_files].map(|files| files.into_iter().map(filter));
    let found = keys_with(typed).map(key).chain(files);
    found.chain(symbols).chain(more_files).collect()
}

fn filter(value: Completion) -> Completion {
    Completion {
        text: format!("path:{}", value.text),
        ..value
    }
}

fn key((name, about): (&'static str, &'static str)) -> Completion {
    Completion {
        text: format!("{name}:"),
        label: format!("{name}:"),
        kind: CompletionKind::Key,
        about: about.to_owned(),
        href: None,
    }
}

fn named<'a>(
    mark: &str,
    names: impl Iterator<Item = &'a str>,
    kind: CompletionKind,
) -> Vec<Completion> {
    let completion = |name: &str| Completion {
        text: quoted(mark, name),
        label: name.to_owned(),
        kind,
        about: String::new(),
        href: None,
    };
    names.map(completion).collect()
}

/// Quotes a value that would end earlier.
fn quoted(mark: &str, name: &str) -> String {
    let is_special = |letter: char| letter.is_whitespace() || "\"'()\\".contains(letter);
    if !name.contains(is_special) {
        return format!("{mark}{name}");
    }
    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
    format!("{mark}\"{name}\"")
}

fn begins(name: &str, typed: &str) -> bool {
    name.get(..typed.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(typed))
}

/// Names that begin with `typed` come first.
fn languages(typed: &str) -> Vec<Completion> {
    let lower = typed.to_ascii_lowercase();
    let has = |name: &&str| !begins(name, typed) && name.to_ascii_lowercase().contains(&lower);
    let names = || Language::all().iter().map(|language| language.name);
    let first = names().filter(|name| begins(name, typed));
    let others = names().filter(has);
    named("", first.chain(others), CompletionKind::Language)
}

/// Drops the signs of exact values and of the beginning.
fn name_of(typed: &str) -> &str {
    let name = typed.strip_prefix('=').unwrap_or(typed);
    name.strip_prefix('^').unwrap_or(name)
}

async fn packages(call: &Call, scope: &Scope, typed: &str) -> Vec<Completion> {
    let prefix = name_of(typed).as_bytes();
    // Versions of one package count once.
    let count = 4 * COMPLETIONS_MAX as u32;
    let request = ListRequest::new(ListKind::Packages, b"", prefix, count);
    let list = timeout(TIME_MAX, call.coordinator.listing(scope, &request)).await;
    let entries = list.ok().and_then(Result::ok).map(|list| list.entries);
    let entries = entries.unwrap_or_default();
    let names = entries.iter().map(ListEntry::name);
    let mut names: Vec<&str> = names.filter_map(|name| str::from_utf8(name).ok()).collect();
    names.dedup();
    named("=", names.into_iter(), CompletionKind::Package)
}

/// Indexed branches and tags, most frequent first.
async fn revisions(call: &Call, scope: &Scope, typed: &str) -> Vec<Completion> {
    let request = ListRequest::new(ListKind::Repositories, b"", b"", REPOSITORIES_MAX);
    let list = timeout(TIME_MAX, call.coordinator.listing(scope, &request)).await;
    let entries = list.ok().and_then(Result::ok).map(|list| list.entries);
    let entries = entries.unwrap_or_default();
    let repositories = entries.iter().filter_map(|entry| entry.repository.as_ref());
    let typed = name_of(typed);
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    for revision in repositories.flat_map(|repository| &repository.revisions) {
        let name = revision_name(revision.name.as_bytes());
        if name.starts_with(typed.as_bytes()) {
            *counts.entry(name).or_default() += 1;
        }
    }
    let mut names: Vec<_> = counts.into_iter().collect();
    names.sort_by_key(|(_, count)| Reverse(*count));
    let names = names
        .iter()
        .filter_map(|(name, _)| str::from_utf8(name).ok());
    named("", names, CompletionKind::Value)
}

/// Each name at its best place.
async fn symbols(
    call: &Call,
    scope: &Scope,
    typed: &str,
    (mark, leads): (&str, bool),
) -> Vec<Completion> {
    if typed.chars().count() < PATH_LETTERS_MIN || !is_name(typed) {
        return Vec::new();
    }
    let pattern = Pattern {
        text: format!("^{typed}"),
        syntax: Syntax::Regexp,
        ignore_case: !typed.contains(char::is_uppercase),
        place: Place {
            role: Role::Definition,
            ..Place::default()
        },
        ..Pattern::default()
    };
    let query = Query::new(Expr::Pattern(pattern), 0);
    let query = query.and_then(|it| it.wanting(Want::Matches, SYMBOLS_MAX));
    let Ok(query) = query.and_then(Query::uncounted) else {
        return Vec::new();
    };
    let found = timeout(TIME_MAX, best(call, scope, query)).await;
    let mut symbols: Vec<Completion> = Vec::new();
    for found in found.ok().flatten().unwrap_or_default() {
        let names = found.ranges.iter();
        let names = names.filter_map(|name| str::from_utf8(found.text.get(name.clone())?).ok());
        for name in names {
            if symbols.iter().all(|it| it.label != name) {
                let href = leads.then(|| FileAddress::of(&found.document).show_href(found.line));
                let text = quoted(mark, name);
                symbols.push(Completion {
                    text,
                    label: name.to_owned(),
                    kind: CompletionKind::Symbol,
                    about: about(&found),
                    href,
                });
            }
        }
    }
    symbols.truncate(COMPLETIONS_MAX);
    symbols
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| is_word(byte) || !byte.is_ascii())
}

fn about(found: &Match) -> String {
    let Document { package, path, .. } = &*found.document;
    let [package, path] = [package, path].map(|bytes| String::from_utf8_lossy(bytes));
    let kinds = symbols::Kind::names_of(found.kinds).join(", ");
    format!("{kinds} · {package}/{path}:{}", found.line)
}

async fn best(call: &Call, scope: &Scope, query: Query) -> Option<Vec<Match>> {
    let request = SearchRequest {
        client: call.params.client.into(),
        timeout: Some(TIME_MAX),
        ..SearchRequest::new(scope, query)
    };
    let search = call.coordinator.search(request);
    let answer = search.await.ok()?.finished().await.ok()?;
    let matches = blocking(move || answer.matches(0..answer.len()));
    matches.await.ok()
}

async fn files(call: &Call, scope: &Scope, typed: &str) -> Vec<Completion> {
    let paths = timeout(TIME_MAX, paths(call, scope, typed)).await;
    let paths = paths.ok().flatten().unwrap_or_default();
    named("=", paths.iter().map(String::as_str), CompletionKind::File)
}

async fn paths(call: &Call, scope: &Scope, typed: &str) -> Option<Vec<String>> {
    let typed = name_of(typed);
    if typed.chars().count() < PATH_LETTERS_MIN {
        return None;
    }
    let pattern = Pattern {
        text: typed.to_owned(),
        ignore_case: true,
        in_path: true,
        ..Pattern::default()
    };
    let query = Query::new(Expr::Pattern(pattern), 0).ok()?.of_names();
    let query = query
        .wanting(Want::Documents, COMPLETIONS_MAX as u64)
        .ok()?;
    let matches = best(call, scope, query).await?;
    let mut paths: Vec<String> = Vec::new();
    for found in matches {
        if let Ok(path) = String::from_utf8(found.document.path.clone())
            && !paths.contains(&path)
        {
            paths.push(path);
        }
    }
    Some(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_that_begin_with_what_is_typed_come_first() {
        let found = |typed| -> Vec<String> {
            languages(typed)
                .into_iter()
                .take(3)
                .map(|each| each.text)
                .collect()
        };
        assert_eq!(found("PYTH"), ["Python"]);
        assert_eq!(found("script")[0], "AppleScript");
        assert!(found("common l").contains(&"\"Common Lisp\"".to_owned()));
    }

    #[test]
    fn values_are_quoted_where_they_would_end() {
        assert_eq!(quoted("=", "a b"), "=\"a b\"");
        assert_eq!(quoted("=", "a\"(\\"), "=\"a\\\"(\\\\\"");
        assert_eq!(quoted("=", "src/x.c"), "=src/x.c");
    }
}
