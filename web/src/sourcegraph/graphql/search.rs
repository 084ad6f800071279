//! `search`: files with their lines or symbols, and repositories.

use super::super::matches::{LineMatch as Line, Symbol as Found, line_matches, symbols_of};
use super::super::progress;
use super::super::query;
use super::objects::{Commit, File, Repository};
use super::shared::{Html, Range};
use crate::compat::{Files, FoundFile};
use crate::problem::{BAD_QUERY, Problem};
use crate::state::Call;
use crate::suggest::Corpus;
use crate::symbols::Enclosing;
use async_graphql::{Context, SimpleObject, Union};
use frontend::SearchResult;
use frontend::query::sourcegraph::{self, Search as Parsed, Show};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// Matches without `count:`.
const COUNT_DEFAULT: u64 = 500;
const COUNT_MAX: u64 = 20_000;

const TEXT_BYTES_MAX: usize = 8 << 20;

#[derive(Default, SimpleObject)]
pub(super) struct Search {
    results: SearchResults,
}

#[derive(Default, SimpleObject)]
struct SearchResults {
    results: Vec<Item>,
    match_count: u64,
    result_count: u64,
    approximate_result_count: String,
    limit_hit: bool,
    elapsed_milliseconds: u64,
    index_unavailable: bool,
    cloning: Vec<Missing>,
    missing: Vec<Missing>,
    /// Backends without an answer.
    timedout: Vec<Missing>,
    alert: Option<Alert>,
}

#[derive(SimpleObject)]
struct Missing {
    name: String,
}

#[derive(SimpleObject)]
#[graphql(name = "SearchAlert")]
struct Alert {
    title: String,
    description: String,
    proposed_queries: Vec<ProposedQuery>,
}

#[derive(SimpleObject)]
#[graphql(name = "SearchQueryDescription")]
struct ProposedQuery {
    description: String,
    query: String,
}

#[derive(Union)]
#[graphql(name = "SearchResult")]
#[expect(clippy::large_enum_variant, reason = "most are files")]
enum Item {
    File(FileMatch),
    Repository(Repository),
    Commit(CommitSearchResult),
}

#[derive(SimpleObject)]
struct FileMatch {
    repository: Repository,
    file: File,
    line_matches: Vec<LineMatch>,
    symbols: Vec<Symbol>,
    limit_hit: bool,
}

#[derive(SimpleObject)]
struct LineMatch {
    preview: String,
    line_number: u32,
    offset_and_lengths: Vec<[usize; 2]>,
    limit_hit: bool,
}

#[derive(SimpleObject)]
struct Symbol {
    name: String,
    kind: String,
    container_name: Option<String>,
    url: String,
    location: SymbolLocation,
}

#[derive(SimpleObject)]
#[graphql(name = "Location")]
struct SymbolLocation {
    resource: File,
    range: Range,
    url: String,
}

/// Never found, but clients name its fields.
#[derive(SimpleObject)]
struct CommitSearchResult {
    commit: Commit,
    url: String,
    label: Html,
    message_preview: Option<Highlighted>,
    diff_preview: Option<Highlighted>,
    matches: Vec<CommitMatch>,
}

#[derive(SimpleObject)]
#[graphql(name = "HighlightedString")]
struct Highlighted {
    value: String,
    highlights: Vec<Highlight>,
}

#[derive(SimpleObject)]
struct Highlight {
    line: u32,
    character: u32,
    length: u32,
}

#[derive(SimpleObject)]
#[graphql(name = "SearchResultMatch")]
struct CommitMatch {
    url: String,
    body: Html,
    highlights: Vec<Highlight>,
}

impl Search {
    /// A malformed query is an alert, or an error if the client reads no alerts.
    pub(super) async fn run(
        ctx: &Context<'_>,
        query: &str,
        pattern_type: sourcegraph::PatternType,
    ) -> Result<Search, Problem> {
        let reads_alerts = ctx.look_ahead().field("results").field("alert").exists();
        let found = Search::find(ctx.data_unchecked(), query, pattern_type).await;
        let results = match found {
            Err(problem) if problem.is(&BAD_QUERY) && reads_alerts => SearchResults {
                alert: Some(alert(&progress::refused(&problem))),
                ..SearchResults::default()
            },
            found => found?,
        };
        Ok(Search { results })
    }

    async fn find(
        call: &Call,
        query: &str,
        pattern_type: sourcegraph::PatternType,
    ) -> Result<SearchResults, Problem> {
        let parsed = sourcegraph::parse(query, pattern_type)?;
        let scope = call.viewer.scope().await?;
        let parsed = query::narrowed(call, &scope, parsed).await?;
        let corpus = call.corpus(&scope);
        let mut results = match &parsed.names {
            Some(names) => {
                let list = query::repositories(corpus, Some(names)).await?;
                let skipped = progress::of_listing(&list);
                let repositories = list.entries.iter();
                let items = repositories.map(|it| Item::Repository(Repository::of(it, Vec::new())));
                let items: Vec<Item> = items.collect();
                let found = items.len() as u64;
                SearchResults::new(items, found, limit(&parsed)).lacking(&skipped)
            }
            None => {
                let handle = query::start(call, &scope, &parsed, 0).await?;
                let answer = query::finished(&handle, &parsed).await?;
                let skipped = progress::skipped(&answer, handle.pending());
                let mut results = of_answer(corpus, &answer, &parsed).await?.lacking(&skipped);
                let elapsed = answer.outcome.timings.total();
                results.elapsed_milliseconds = elapsed.as_millis() as u64;
                results.index_unavailable = answer.is_unavailable();
                results
            }
        };
        let found = results.match_count;
        let told = progress::alert(corpus, call.params.client, &parsed, found).await;
        results.alert = told.as_ref().map(alert);
        Ok(results)
    }
}

fn limit(parsed: &Parsed) -> u64 {
    match parsed.count.unwrap_or(COUNT_DEFAULT) {
        0 => COUNT_MAX,
        count => count.min(COUNT_MAX),
    }
}

async fn of_answer(
    corpus: Corpus<'_>,
    answer: &Arc<SearchResult>,
    parsed: &Parsed,
) -> Result<SearchResults, Problem> {
    let limit = limit(parsed);
    let files = Files::new(answer, 0..limit as usize);
    let files = files.all(limit as usize).await?;
    let around = query::containers(corpus, &files, parsed.show).await;
    let (mut items, mut bytes, mut known) = (Vec::new(), 0, HashSet::new());
    let mut shown = 0;
    for file in files {
        let repository = &file.matches[0].document.package;
        if parsed.show == Show::Repositories {
            if known.insert(repository.clone()) {
                items.push(Item::Repository(Repository::named(repository)));
            }
            continue;
        }
        bytes += file.matches.iter().map(|it| it.text.len()).sum::<usize>();
        if bytes > TEXT_BYTES_MAX {
            break;
        }
        shown += file.matches.len() as u64;
        items.push(Item::File(FileMatch::of(&file, parsed.show, &around)));
    }
    let mut results = SearchResults::new(items, answer.found(), limit);
    results.result_count = shown.max(results.results.len() as u64);
    results.limit_hit |= parsed.show != Show::Repositories && shown < answer.found();
    Ok(results)
}

impl SearchResults {
    fn new(mut results: Vec<Item>, found: u64, limit: u64) -> SearchResults {
        results.truncate(limit as usize);
        let limit_hit = found > limit;
        SearchResults {
            match_count: found,
            result_count: results.len() as u64,
            approximate_result_count: found.to_string(),
            limit_hit,
            results,
            ..SearchResults::default()
        }
    }

    fn lacking(mut self, skipped: &[Value]) -> SearchResults {
        let named = skipped.iter().filter_map(|it| {
            let list = it["reason"].as_str()?;
            let name = it["message"].as_str().unwrap_or_default().to_owned();
            Some((list, Missing { name }))
        });
        for (reason, missing) in named {
            match reason {
                "shard-timeout" => self.timedout.push(missing),
                "repository-cloning" => self.cloning.push(missing),
                "repository-limit" => self.limit_hit = true,
                _ => self.missing.push(missing),
            }
        }
        self
    }
}

impl FileMatch {
    fn of(found: &FoundFile, show: Show, around: &Enclosing) -> FileMatch {
        let document = &found.matches[0].document;
        let wanted = !matches!(show, Show::Files | Show::Directories);
        let lines = found.matches.iter().filter(|it| wanted && !it.is_name());
        let symbols = lines.clone().filter(|_| show == Show::Symbols);
        let symbol = |it: Found| Symbol {
            name: it.name,
            kind: it.kind,
            container_name: Some(it.container).filter(|name| !name.is_empty()),
            location: SymbolLocation {
                resource: File::of(document),
                range: Range::on_line(it.line, it.columns),
                url: it.url.clone(),
            },
            url: it.url,
        };
        let line = |it: Line| LineMatch {
            preview: it.preview,
            line_number: it.number,
            offset_and_lengths: it.ranges,
            limit_hit: false,
        };
        let shown = found.matches.len() as u64;
        FileMatch {
            repository: Repository::named(&document.package),
            file: File::of(document),
            line_matches: lines.flat_map(line_matches).map(line).collect(),
            symbols: symbols
                .flat_map(|it| symbols_of(it, around))
                .map(symbol)
                .collect(),
            limit_hit: found.total.is_some_and(|total| total > shown),
        }
    }
}

fn alert(told: &Value) -> Alert {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let proposed = told["proposedQueries"].as_array();
    let proposed = proposed.into_iter().flatten();
    Alert {
        title: text(&told["title"]),
        description: text(&told["description"]),
        proposed_queries: proposed
            .map(|it| ProposedQuery {
                description: text(&it["description"]),
                query: text(&it["query"]),
            })
            .collect(),
    }
}
