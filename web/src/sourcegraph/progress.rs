//! Progress, reasons for missing matches, filters and alerts of an answer.

use super::matches::text;
use super::query::COUNT_DEFAULT;
use crate::problem::Problem;
use crate::search::run;
use crate::suggest::Corpus;
use frontend::query::sourcegraph::Search;
use frontend::{Listing, SearchResult, SpoolError};
use schema::message::{Expr, Pattern};
use serde_json::{Value, json};

const FILTERS_MAX: usize = 32;

const WORDS_MAX: usize = 2;

pub(super) fn words(problem: &Problem) -> String {
    match &problem.hint {
        Some(hint) => format!("{}; {hint}", problem.detail),
        None => problem.detail.clone(),
    }
}

fn skip(reason: &str, title: &str, message: &str, severity: &str) -> Value {
    json!({ "reason": reason, "title": title, "message": message, "severity": severity })
}

pub(super) fn skipped(answer: &SearchResult, pending: u64) -> Vec<Value> {
    let mut skipped: Vec<Value> = (answer.missing().iter())
        .map(|missing| {
            let count = missing.shards.len();
            let title = format!("{count} shards not searched");
            let message = format!("{}: {}", missing.backend, missing.reason);
            skip("shard-timeout", &title, &message, "warn")
        })
        .collect();
    let documents = answer.skipped();
    if let Some(first) = documents.documents.first() {
        let title = format!("{} files not searched", documents.count);
        let name = [&first.package[..], b"/", &first.path].concat();
        let message = format!("{}: {}", text(&name), first.reason);
        skipped.push(skip("error", &title, &message, "warn"));
    }
    if pending > 0 {
        let title = format!("{pending} changes not indexed yet");
        let message = "changed files are found a little later";
        skipped.push(skip("repository-cloning", &title, message, "info"));
    }
    skipped
}

pub(super) fn sent_max(search: &Search, display: u64) -> u64 {
    match search.count.unwrap_or(COUNT_DEFAULT) {
        0 => display,
        count => count.min(display),
    }
}

pub(super) fn limit(search: &Search, sent: u64, found: u64, display: u64) -> Value {
    let message = format!("{sent} of {found} matches are shown, the best");
    if sent < sent_max(search, display) {
        let title = "files with very many matches";
        return skip("document-match-limit", title, &message, "info");
    }
    if sent_max(search, u64::MAX) > display {
        return skip("display", "display limit hit", &message, "info");
    }
    let mut value = skip("shard-match-limit", "result limit hit", &message, "info");
    value["suggested"] = json!({ "title": "show all", "queryExpression": "count:all" });
    value
}

pub(super) fn of_listing(list: &Listing) -> Vec<Value> {
    let mut skipped: Vec<Value> = (list.unreachable.iter())
        .map(|(backend, reason)| {
            let message = format!("{backend}: {reason}");
            skip(
                "shard-timeout",
                "a backend did not answer",
                &message,
                "warn",
            )
        })
        .collect();
    if list.more {
        let message = "not all repositories were compared";
        skipped.push(skip(
            "repository-limit",
            "too many repositories",
            message,
            "info",
        ));
    }
    skipped
}

pub(super) fn progress(matches: u64, repositories: usize, elapsed_ms: u64) -> Value {
    json!({
        "done": false,
        "matchCount": matches,
        "repositoriesCount": repositories,
        "durationMs": elapsed_ms,
        "skipped": [],
    })
}

/// Terms that narrow the query, with counts. Reads from disk.
pub(super) fn filters(answer: &SearchResult) -> Result<Vec<Value>, SpoolError> {
    let Some(facets) = run::facets(answer)? else {
        return Ok(Vec::new());
    };
    let filter = |kind: &str, value: String, name: &[u8], count: u64| {
        let label = text(name);
        json!({ "value": value, "label": label, "count": count, "limitHit": false, "kind": kind })
    };
    let packages = facets.packages.iter().take(FILTERS_MAX);
    let packages = packages.map(|(name, count)| {
        let value = format!("repo:^{}$", regex_escaped(&text(name)));
        filter("repo", value, name, *count)
    });
    let languages = facets.others.languages.iter();
    let languages = languages
        .filter(|(name, _)| !name.is_empty())
        .take(FILTERS_MAX);
    let languages = languages.map(|(name, count)| {
        let language = text(name);
        let quotes = if language.contains(' ') { "\"" } else { "" };
        filter(
            "lang",
            format!("lang:{quotes}{language}{quotes}"),
            name,
            *count,
        )
    });
    Ok(packages.chain(languages).collect())
}

fn regex_escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_ascii_punctuation() && !"-_/@:~".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

pub(super) fn refused(problem: &Problem) -> Value {
    let description = match problem.at {
        Some(at) => format!("{} (at byte {at})", words(problem)),
        None => words(problem),
    };
    json!({
        "title": "Unable to process the query",
        "description": description,
        "proposedQueries": [],
    })
}

pub(super) async fn alert(
    corpus: Corpus<'_>,
    client: u64,
    search: &Search,
    found: u64,
) -> Option<Value> {
    let query = &search.parsed.query;
    let mut notices = search.parsed.notices.clone();
    notices.extend(corpus.coordinator.notice_of_revisions(corpus.scope, query));
    let told = notices.iter().map(|notice| match &notice.hint {
        Some(hint) => format!("{}; {hint}", notice.reason),
        None => notice.reason.clone(),
    });
    let mut told: Vec<String> = told.collect();
    if found > 0 {
        told.truncate(search.parsed.notices.len());
        return (!told.is_empty()).then(|| shown("Note", told, Vec::new()));
    }
    let near = match search.names {
        Some(_) => Vec::new(),
        None => spellings(corpus, client, &query.expr).await,
    };
    told.insert(0, format!("searched for {}", query.interpreted_as()));
    Some(shown("No results", told, near))
}

fn shown(title: &str, told: Vec<String>, near: Vec<String>) -> Value {
    let proposed = near
        .into_iter()
        .map(|word| json!({ "description": "a similar word", "query": word }));
    json!({
        "title": title,
        "description": told.join(". "),
        "proposedQueries": proposed.collect::<Vec<_>>(),
    })
}

async fn spellings(corpus: Corpus<'_>, client: u64, expr: &Expr) -> Vec<String> {
    let mut near = Vec::new();
    let patterns = expr.patterns().into_iter().take(WORDS_MAX);
    for pattern in patterns.cloned().collect::<Vec<Pattern>>() {
        let coordinator = corpus.coordinator;
        near.extend(coordinator.near_words(corpus.scope, client, &pattern).await);
    }
    near
}
