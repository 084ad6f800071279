//! Searches, and their files in batches, within the limits of a request.

use super::links::Links;
use super::request::SearchOptions;
use super::sets::Prepared;
use super::shape::{Bytes, FileMatch, SearchResult, Stats};
use super::writer::{LimitedFile, Writer};
use crate::compat::{Files, FoundFile};
use crate::http::rendering;
use crate::http::stream_body::Export;
use crate::problem::Problem;
use crate::search::run;
use crate::state::Call;
use crate::suggest::Corpus;
use frontend::query::zoekt::ZoektQuery;
use frontend::{Scope, SearchRequest};
use schema::message::{FileRange, FileRequest};
use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Lines of a batch, matches and context: about 6 MB of code.
const LINES_AT_ONCE: usize = 20_000;

/// Lines of an answer in one message.
const LINES_MAX: usize = 100_000;

/// Messages with more lines wait for a permit.
const SMALL_LINES: usize = 10_000;

static LARGE: Semaphore = Semaphore::const_new(4);

const WHOLE_BYTES_MAX: u64 = 32 << 20;

pub(super) struct Found {
    pub(super) call: Call,
    pub(super) scope: Scope,
    answer: Arc<frontend::SearchResult>,
    files: Files,
    limits: Limits,
    writer: Writer,
    result: SearchResult,
    links: Links,
    begun: Instant,
    is_late: bool,
    /// Backends and shards that are missing in a subquery.
    missing: u64,
    export: Option<Export>,
}

struct Limits {
    lines_of_match: usize,
    matches_left: usize,
    /// Limits of the display: files beyond are not skipped.
    are_of_display: bool,
    per_repository: Option<usize>,
    counts: HashMap<Vec<u8>, usize>,
    whole_left: Option<u64>,
    /// Files to list; `read` were read whole.
    wanted: u64,
    read: u64,
}

impl Limits {
    fn new(answer: &frontend::SearchResult, options: &SearchOptions, shards: u64) -> Limits {
        let shards = shards.max(1) as usize;
        let per_shard = options
            .per_shard_max
            .map(|most| most.saturating_mul(shards));
        let total = options.total_max.into_iter().chain(per_shard).min();
        let (total, shown) = (total.unwrap_or(usize::MAX), options.matches_max);
        Limits {
            lines_of_match: 1 + 2 * answer.query().context_lines as usize,
            matches_left: total.min(shown.unwrap_or(usize::MAX)),
            are_of_display: shown.is_some_and(|shown| shown <= total),
            per_repository: options.per_repository_max,
            counts: HashMap::new(),
            whole_left: options.whole.then_some(WHOLE_BYTES_MAX),
            wanted: (answer.documents()).min(options.files_max.unwrap_or(usize::MAX) as u64),
            read: 0,
        }
    }

    /// Bounds the lines of one message.
    async fn bound(&mut self, matches: usize) -> Option<SemaphorePermit<'static>> {
        let most = LINES_MAX / self.lines_of_match;
        self.are_of_display &= self.matches_left <= most;
        self.matches_left = self.matches_left.min(most);
        let lines = self.matches_left.min(matches) * self.lines_of_match;
        if lines <= SMALL_LINES {
            return None;
        }
        LARGE.acquire().await.ok()
    }

    fn at_once(&self) -> usize {
        self.matches_left.min(LINES_AT_ONCE / self.lines_of_match)
    }

    /// False once the repository has its matches.
    fn admit(&mut self, file: &FoundFile) -> bool {
        let matches = file.matches.len();
        if let Some(most) = self.per_repository {
            let package = file.matches[0].document.package.clone();
            let count = self.counts.entry(package).or_default();
            if *count >= most {
                return false;
            }
            *count += matches;
        }
        let is_whole = file.total.is_none_or(|total| total <= matches as u64);
        self.read += u64::from(is_whole);
        self.matches_left = self.matches_left.saturating_sub(matches);
        true
    }

    fn skipped(&self) -> u64 {
        if self.are_of_display && self.matches_left == 0 {
            0
        } else {
            self.wanted.saturating_sub(self.read)
        }
    }
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

/// Answer: its files, or only counts.
pub(super) enum Begun {
    Files(Box<Found>),
    Counts(Box<SearchResult>),
}

pub(super) async fn begin(
    call: &Call,
    links: Links,
    prepared: Prepared,
    options: &SearchOptions,
) -> Result<Begun, Problem> {
    let begun = Instant::now();
    let (scope, mut counts) = (prepared.scope, Box::<SearchResult>::default());
    let served = call.coordinator.served(&scope);
    let Some(zoekt) = prepared.query else {
        return Ok(Begun::Counts(counts));
    };
    if options.estimates {
        counts.stats.shard_files_considered = served.documents;
        return Ok(Begun::Counts(counts));
    }
    let answer = search(call, &scope, &zoekt, options).await?;
    let timeout = options.timeout.unwrap_or(call.coordinator.config().timeout);
    Ok(Begun::Files(Box::new(Found {
        files: Files::new(&answer, 0..options.files_max.unwrap_or(usize::MAX)),
        limits: Limits::new(&answer, options, served.shards),
        writer: Writer::new(&zoekt, options),
        result: SearchResult::default(),
        is_late: begun.elapsed() >= timeout,
        missing: prepared.missing,
        export: None,
        call: call.clone(),
        scope,
        answer,
        links,
        begun,
    })))
}

/// Answer in one message, with at most [`LINES_MAX`] lines.
pub(super) async fn whole(
    call: &Call,
    links: Links,
    prepared: Prepared,
    options: &SearchOptions,
) -> Result<SearchResult, Problem> {
    let mut found = match begin(call, links, prepared, options).await? {
        Begun::Files(found) => found,
        Begun::Counts(counts) => return Ok(*counts),
    };
    let _permit = found.limits.bound(found.answer.len()).await;
    let mut files = Vec::new();
    while let Some(batch) = found.next().await? {
        let write = || batch.into_iter().map(LimitedFile::write).collect();
        files.append(&mut rendering(&found.answer, write).await);
    }
    let end = found.end();
    Ok(SearchResult { files, ..end })
}

impl Found {
    pub(super) fn is_at_end(&self) -> bool {
        self.limits.matches_left == 0 || self.files.is_at_end()
    }

    pub(super) async fn first(&mut self) -> Result<Vec<LimitedFile>, Problem> {
        let files = self.next().await?;
        if !self.is_at_end() {
            self.export = Some(self.call.exports.begin()?);
        }
        Ok(files.unwrap_or_default())
    }

    /// Next batch; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<LimitedFile>>, Problem> {
        if self.limits.matches_left == 0 {
            return Ok(None);
        }
        let Some(mut found) = self.files.next(self.limits.at_once()).await? else {
            return Ok(None);
        };
        found.retain(|file| self.limits.admit(file));
        let files = found.into_iter().filter_map(|file| self.writer.file(file));
        let mut files: Vec<_> = files.collect();
        if let Some(left) = &mut self.limits.whole_left {
            let missing = add_contents(self.call.corpus(&self.scope), &mut files, left).await;
            self.limits.read = self.limits.read.saturating_sub(missing);
        }
        let SearchResult {
            urls,
            line_fragments,
            ..
        } = &mut self.result;
        for file in &files {
            self.links.add(&file.head.repository, urls, line_fragments);
        }
        Ok(Some(files))
    }

    /// Counts and links, without files.
    pub(super) fn end(&mut self) -> SearchResult {
        let stats = self.stats();
        SearchResult {
            stats,
            ..mem::take(&mut self.result)
        }
    }

    fn stats(&self) -> Stats {
        let answer = &self.answer;
        let missing = answer.missing().iter();
        let missing: u64 = missing.map(|it| it.shards.len().max(1) as u64).sum();
        let (crashes, shards_skipped) = if self.is_late || answer.was_stopped() {
            (0, missing)
        } else {
            (missing, 0)
        };
        let (files, writer) = (answer.documents(), &self.writer);
        let matches = if writer.names_only {
            files
        } else {
            answer.found()
        };
        let explain = answer.explain();
        Stats {
            crashes: crashes + self.missing,
            shards_skipped,
            file_count: files,
            // Matches in files that are not written count by line.
            match_count: matches.saturating_sub(writer.lines) + writer.ranges,
            files_skipped: self.limits.skipped() + answer.skipped().count,
            files_considered: explain.shard_documents,
            files_loaded: explain.sum.documents,
            shard_files_considered: explain.shard_documents,
            shards_scanned: explain.shards.saturating_sub(missing),
            content_bytes_loaded: explain.sum.verified_bytes,
            duration: self.begun.elapsed().as_nanos() as u64,
            ..Stats::default()
        }
    }
}

/// Those that cannot be read, or exceed the limit, are left out and counted.
async fn add_contents(corpus: Corpus<'_>, files: &mut Vec<LimitedFile>, left: &mut u64) -> u64 {
    let count = files.len();
    for mut file in mem::take(files) {
        if let Some(text) = content(corpus, &file.head, *left).await {
            *left -= text.len() as u64;
            file.head.content = Bytes(text);
            files.push(file);
        }
    }
    (count - files.len()) as u64
}

async fn content(corpus: Corpus<'_>, file: &FileMatch, bytes_max: u64) -> Option<Vec<u8>> {
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
