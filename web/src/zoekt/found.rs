//! Searches, and files with their matches within the limits of a request.

use super::links::Links;
use super::request::SearchOptions;
use super::sets::Prepared;
use super::shape::{Bytes, FileMatch, SearchResult, Stats};
use super::writer::Writer;
use crate::compat::{self, FoundFile};
use crate::http::rendering;
use crate::problem::Problem;
use crate::search::run;
use crate::state::Call;
use crate::suggest::Corpus;
use frontend::query::zoekt::ZoektQuery;
use frontend::{Scope, SearchRequest};
use schema::message::{FileRange, FileRequest};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Bound of the lines of an answer, matches and context: about 30 MB of code.
const LINES_MAX: usize = 100_000;

/// Answers with more lines wait for a permit.
const SMALL_LINES: usize = 10_000;

static LARGE: Semaphore = Semaphore::const_new(4);

/// Files that are read at first if matches of a repository are limited. Then twice as many.
const FILES_AT_ONCE: usize = 256;

/// Whole files of an answer.
const WHOLE_BYTES_MAX: u64 = 32 << 20;

pub(super) struct FoundFiles {
    pub(super) answer: Arc<frontend::SearchResult>,
    pub(super) files: Vec<FoundFile>,
    /// Files that lack matches because of a limit of the execution.
    files_skipped: u64,
    _permit: Option<SemaphorePermit<'static>>,
}

/// Searches, and waits for the end.
pub(super) async fn search(
    call: &Call,
    scope: &Scope,
    zoekt: &ZoektQuery,
    options: &SearchOptions,
) -> Result<Arc<frontend::SearchResult>, Problem> {
    let timeout_max = call.coordinator.config().timeout_max;
    let request = SearchRequest {
        client: call.params.client.into(),
        timeout: options.timeout.map(|timeout| timeout.min(timeout_max)),
        ..SearchRequest::new(scope, zoekt.parsed.query.clone())
    };
    let search = call.coordinator.search(request).await;
    let search = search.map_err(|error| run::located(error, Some(&zoekt.parsed)))?;
    let answer = run::finished(&search, Some(&zoekt.parsed)).await?;
    if answer.is_unavailable() {
        return Err(Problem::unavailable("no backend can be reached"));
    }
    Ok(answer)
}

impl FoundFiles {
    pub(super) async fn read(
        call: &Call,
        scope: &Scope,
        answer: Arc<frontend::SearchResult>,
        options: &SearchOptions,
    ) -> Result<FoundFiles, Problem> {
        let lines_of_match = 1 + 2 * answer.query().context_lines as usize;
        let shards = call.coordinator.served(scope).shards.max(1) as usize;
        let per_shard = options
            .per_shard_max
            .map(|most| most.saturating_mul(shards));
        let total = options.total_max.into_iter().chain(per_shard).min();
        let total = total.unwrap_or(usize::MAX).min(LINES_MAX / lines_of_match);
        let shown = options.matches_max.unwrap_or(usize::MAX);
        let lines = total.min(shown).min(answer.len()) * lines_of_match;
        let permit = if lines > SMALL_LINES {
            LARGE.acquire().await.ok()
        } else {
            None
        };
        let files_max = options.files_max.unwrap_or(usize::MAX);
        let files = match options.per_repository_max {
            None => compat::files(&answer, 0..files_max, total.min(shown)).await?,
            Some(most) => files_by_repository(&answer, files_max, total.min(shown), most).await?,
        };
        let wanted = answer.documents().min(files_max as u64);
        let is_cut =
            |file: &&FoundFile| file.total.is_some_and(|it| it > file.matches.len() as u64);
        let cut = files.iter().filter(is_cut).count() as u64;
        let skipped = wanted.saturating_sub(files.len() as u64) + cut;
        Ok(FoundFiles {
            answer,
            files_skipped: if shown <= total { 0 } else { skipped },
            files,
            _permit: permit,
        })
    }
}

/// Leaves out files of a repository once it has `most` matches.
async fn files_by_repository(
    answer: &Arc<frontend::SearchResult>,
    files_max: usize,
    mut matches_left: usize,
    most: usize,
) -> Result<Vec<FoundFile>, Problem> {
    let (mut files, mut counts) = (Vec::new(), HashMap::<Vec<u8>, usize>::new());
    let (mut at, mut step) = (0, FILES_AT_ONCE);
    while matches_left > 0 && files.len() < files_max {
        let read = compat::files(answer, at..at + step, matches_left).await?;
        for file in read {
            let matches = file.matches.len();
            let count = counts.entry(file.matches[0].document.package.clone());
            let count = count.or_default();
            if *count < most && files.len() < files_max && matches_left > 0 {
                *count += matches;
                matches_left = matches_left.saturating_sub(matches);
                files.push(file);
            }
        }
        (at, step) = (at + step, step * 2);
        if at as u64 >= answer.documents() {
            break;
        }
    }
    Ok(files)
}

/// Files of a query, with the addresses of their repositories.
pub(super) async fn answer(
    call: &Call,
    links: &Links,
    prepared: &Prepared,
    options: &SearchOptions,
) -> Result<SearchResult, Problem> {
    let begun = Instant::now();
    let Prepared {
        scope,
        query: Some(zoekt),
        ..
    } = prepared
    else {
        return Ok(SearchResult::default());
    };
    if options.estimates {
        let stats = Stats {
            shard_files_considered: call.coordinator.served(scope).documents,
            ..Stats::default()
        };
        return Ok(SearchResult {
            stats,
            ..SearchResult::default()
        });
    }
    let found = search(call, scope, zoekt, options).await?;
    let timeout = options.timeout.unwrap_or(call.coordinator.config().timeout);
    let is_late = begun.elapsed() >= timeout;
    let mut found = FoundFiles::read(call, scope, found, options).await?;
    let corpus = call.corpus(scope);
    let mut result = SearchResult::default();
    let mut writer = Writer::new(zoekt, options);
    let files = std::mem::take(&mut found.files).into_iter();
    let write = move || {
        let files = files.filter_map(|file| writer.file(file)).collect();
        (files, writer)
    };
    let (files, writer) = rendering(&found.answer, write).await;
    result.files = files;
    if options.whole {
        found.files_skipped += add_contents(corpus, &mut result.files).await;
    }
    for file in &result.files {
        links.add(
            &file.repository,
            &mut result.urls,
            &mut result.line_fragments,
        );
    }
    result.stats = found.stats(&writer, is_late);
    result.stats.crashes += prepared.missing;
    result.stats.duration = begun.elapsed().as_nanos() as u64;
    Ok(result)
}

impl FoundFiles {
    fn stats(&self, writer: &Writer, is_late: bool) -> Stats {
        let answer = &self.answer;
        let missing: u64 = answer
            .missing()
            .iter()
            .map(|it| it.shards.len().max(1) as u64)
            .sum();
        let (crashes, shards_skipped) = if is_late || answer.was_stopped() {
            (0, missing)
        } else {
            (missing, 0)
        };
        let files = answer.documents();
        let matches = if writer.names_only {
            files
        } else {
            answer.found()
        };
        let explain = answer.explain();
        Stats {
            crashes,
            shards_skipped,
            file_count: files,
            // Matches in files that are not written count by line.
            match_count: matches.saturating_sub(writer.lines) + writer.ranges,
            files_skipped: self.files_skipped + answer.skipped().count,
            files_considered: explain.shard_documents,
            files_loaded: explain.sum.documents,
            shard_files_considered: explain.shard_documents,
            shards_scanned: explain.shards.saturating_sub(missing),
            content_bytes_loaded: explain.sum.verified_bytes,
            ..Stats::default()
        }
    }
}

/// Reads whole files. Those that cannot be read, or exceed the limit, are left out and counted.
async fn add_contents(corpus: Corpus<'_>, files: &mut Vec<FileMatch>) -> u64 {
    let (mut left, count) = (WHOLE_BYTES_MAX, files.len());
    for mut file in std::mem::take(files) {
        if let Some(text) = whole(corpus, &file, left).await {
            left -= text.len() as u64;
            file.content = Bytes(text);
            files.push(file);
        }
    }
    (count - files.len()) as u64
}

async fn whole(corpus: Corpus<'_>, file: &FileMatch, bytes_max: u64) -> Option<Vec<u8>> {
    let range = FileRange::Bytes {
        offset: 0,
        count: bytes_max,
    };
    let (package, path) = &file.source;
    let request = FileRequest::new(package, path, &file.version, range);
    let mut reply = corpus.fetch_file(request.clone()).await.ok()?.reply;
    let is_whole = reply.total_bytes <= bytes_max
        && corpus.read_on(request, &mut reply, bytes_max).await.ok()?;
    is_whole.then_some(reply.text)
}
