//! Page of an answer with the state of its search. An export in the order of finding ends with the
//! same state.

use super::bytes::hex;
use super::matches::Results;
use frontend::{Scope, SearchResult};
use std::borrow::Cow;
use std::time::{Duration, UNIX_EPOCH};

shapes! {
    /// Page of an answer or of a running search.
    #[derive(Default)]
    struct Page<'a> {
        /// Id of the search, or the cursor or link of the request.
        id: Cow<'a, str>,
        /// Identifies the searched documents.
        generation: Cow<'a, str>,
        /// Name of the answer for callers with the same access, on every frontend with the same
        /// secrets. It replaces an id while these documents are served. Null while the search runs.
        #[serde(default)]
        #[schema(required)]
        link: Option<String>,
        /// Cursor of the next page; null on the last page, or while the search runs.
        next: Option<String>,
        /// Interpreted query, in the query language.
        interpreted_as: String,
        notices: Vec<Notice>,
        state: SearchState,
        /// True if every shard was searched to its end.
        complete: bool,
        /// Number of known changed files that are not indexed yet.
        #[serde(default)]
        #[schema(required)]
        pending: u64,
        /// Parts that were not searched, with reasons.
        missing: Vec<Missing>,
        skipped: Skipped,
        /// Packages on several backends, if any.
        overlaps?: Overlaps,
        /// Null while the search runs.
        searched: Option<Searched>,
        /// Present if the answer is incomplete.
        reached?: Reached,
        /// Number of matches, also beyond `limit`; null while the search runs.
        found: Option<u64>,
        /// Relation of `found` to the number of all matches.
        #[serde(default)]
        #[schema(required)]
        total_relation: TotalRelation,
        /// Number of matches; with `copies=all`, on all pages.
        total: u64,
        /// Number without copies; with `copies=folded`, on all pages. Null while the search runs,
        /// with a limit, or without requested matches.
        #[serde(default)]
        #[schema(required)]
        unique: Option<u64>,
        /// Documents with a match.
        documents: u64,
        /// Packages with a match.
        packages: usize,
        /// Page number, from 0.
        page: usize,
        per_page: usize,
        /// Number of pages.
        pages: usize,
        #[serde(flatten)]
        results: Results<'a>,
        /// Null on a page by `cursor` or link, which is the same on every frontend.
        timings: Option<Timings>,
        #[serde(skip_serializing_if = "Option::is_none")]
        progress: Option<Progress>,
        #[serde(skip_serializing_if = "Option::is_none")]
        explain: Option<IndexUse>,
    }

    /// Part of a query that may have another meaning.
    struct Notice {
        /// Position in the query, in bytes.
        at: Option<usize>,
        /// Chosen meaning.
        reason: String,
        /// Text for the other meaning.
        hint: Option<String>,
    }

    /// Known documents that were searched to the end.
    #[derive(Copy, Default)]
    struct Searched {
        documents: u64,
        of: u64,
    }

    /// Progress of an incomplete search.
    #[derive(Copy)]
    struct Reached {
        /// Searched candidate blocks.
        blocks_done: u64,
        /// Candidate blocks, on the backends that had counted theirs.
        blocks_total: u64,
        /// Documents that were searched, at least in part.
        documents: u64,
    }

    #[derive(Default)]
    #[schema(as = State)]
    enum SearchState {
        #[default]
        Running,
        Done,
    }

    /// Relation of a number of matches to all matches.
    #[derive(Default)]
    enum TotalRelation {
        /// It is exact.
        #[default]
        Eq,
        /// It is a lower bound.
        Gte,
    }

    /// Backend with shards that were not searched to the end.
    struct Missing {
        backend: String,
        reason: String,
        shards: Vec<String>,
        /// Seconds since 1970.
        since: u64,
    }

    /// Packages on several backends; only the newest build of each was searched and counted.
    #[derive(Default)]
    struct Overlaps {
        count: u64,
        /// First of these packages.
        packages: Vec<OverlappingPackage>,
    }

    /// Package on several backends.
    struct OverlappingPackage {
        package / package_base64: String,
        /// Backend with the newest build.
        searched: String,
        /// Backends with the other builds, one for each.
        superseded: Vec<String>,
    }

    /// Documents that could not be searched, with reasons.
    #[derive(Default)]
    struct Skipped {
        count: u64,
        /// First of these documents.
        documents: Vec<SkippedDocument>,
    }

    /// Document that could not be searched.
    struct SkippedDocument {
        package / package_base64: String,
        path / path_base64: String,
        reason: String,
    }

    /// Duration of each phase of a search.
    #[derive(Copy)]
    struct Timings {
        queue_ms: f64,
        /// This and the next two are parts of `stream_ms`, each of its slowest backend.
        plan_ms: f64,
        candidates_ms: f64,
        verify_ms: f64,
        stream_ms: f64,
        rank_ms: f64,
        render_ms: f64,
    }

    /// Progress of a running search.
    struct Progress {
        blocks_done: u64,
        blocks_total: u64,
        documents: u64,
        matches: u64,
        /// No later match has a higher rank; null if unknown.
        bound: Option<f32>,
        elapsed_ms: u64,
        /// Estimate; null without one.
        eta_ms: Option<u64>,
        backends: Vec<BackendProgress>,
    }

    /// Progress of a backend.
    struct BackendProgress {
        name: String,
        blocks_done: u64,
        blocks_total: u64,
        documents: u64,
        matches: u64,
        bound: Option<f32>,
    }

    /// Use of the index by a search.
    #[derive(Default)]
    #[schema(as = Explain)]
    struct IndexUse {
        plan: String,
        shards: u64,
        blocks: u64,
        candidates: u64,
        matched_blocks: u64,
        documents: u64,
        verified_bytes: u64,
    }

    /// Last line of `format=jsonl` with `order=found`: the end of the search.
    struct ExportEnd {
        done: ExportDone,
    }

    /// Last line of `format=jsonl` for a reader that has lost access; the transfer then breaks off.
    struct BrokenOff {
        problem: super::ProblemDocument,
    }

    /// State of a finished search.
    struct ExportDone {
        /// Id of the search.
        id: String,
        /// Identifies the searched documents.
        generation: String,
        /// True if every shard was searched to its end.
        complete: bool,
        /// Number of known changed files that are not indexed yet.
        #[serde(default)]
        #[schema(required)]
        pending: u64,
        /// Parts that were not searched, with reasons.
        missing: Vec<Missing>,
        skipped: Skipped,
        /// Packages on several backends, if any.
        overlaps?: Overlaps,
        searched: Searched,
        /// Present if the answer is incomplete.
        reached?: Reached,
        /// Number of matches, also beyond `limit`.
        found: u64,
        /// Matches written above; lines of text.
        total: u64,
        /// Documents with a match.
        documents: u64,
        /// Packages with a match.
        packages: usize,
        explain: IndexUse,
        /// Remarks about the query; absent without any.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<Notice>,
    }
}

impl TotalRelation {
    pub(crate) fn of(answer: &SearchResult) -> TotalRelation {
        if answer.is_counted() && answer.is_complete() {
            TotalRelation::Eq
        } else {
            TotalRelation::Gte
        }
    }
}

impl IndexUse {
    /// With a limit, work depends on the division into shards: only callers who see all packages
    /// learn it.
    pub(crate) fn of(answer: &SearchResult) -> IndexUse {
        let explain = answer.explain();
        let sum = &explain.sum;
        let is_told = answer.query().limit == 0 || answer.scope == Scope::everything().hash();
        let told = |count: u64| if is_told { count } else { 0 };
        IndexUse {
            plan: explain.plan.clone(),
            shards: explain.shards,
            blocks: sum.blocks,
            candidates: told(sum.candidates),
            matched_blocks: told(sum.matched_blocks),
            documents: told(sum.documents),
            verified_bytes: told(sum.verified_bytes),
        }
    }
}

copied! {
    notice: frontend::query::Notice => Notice { at, reason, hint }
    reached: frontend::Reached => Reached { blocks_done, blocks_total, documents }
    found: frontend::OverlappingPackage => OverlappingPackage {
        searched, superseded; package / package_base64
    }
    document: frontend::SkippedDocument => SkippedDocument {
        reason; package / package_base64, path / path_base64
    }
    skipped: frontend::Skipped => Skipped {
        count, documents: skipped.documents.iter().map(Into::into).collect()
    }
    answer: SearchResult => Searched {
        documents: answer.explain().shard_documents,
        of: answer.known.documents
    }
    missing: frontend::Missing => Missing {
        backend,
        reason,
        shards: missing.shards.iter().map(|id| hex(id)).collect(),
        since: missing.since.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
    }
    backend: frontend::BackendProgress => BackendProgress {
        name,
        blocks_done,
        blocks_total,
        documents,
        matches,
        bound: Some(backend.bound).filter(|bound| bound.is_finite())
    }
}

pub(crate) fn notices(notices: &[frontend::query::Notice]) -> Vec<Notice> {
    notices.iter().map(Notice::from).collect()
}

impl Reached {
    /// `None` for a complete answer.
    pub(crate) fn of(answer: &SearchResult) -> Option<Reached> {
        (!answer.is_complete()).then(|| Reached::from(&answer.outcome.reached))
    }
}

impl Missing {
    pub(crate) fn of(answer: &SearchResult) -> Vec<Missing> {
        answer.missing().iter().map(Into::into).collect()
    }
}

impl Overlaps {
    /// `None` without overlaps.
    pub(crate) fn of(overlaps: &frontend::Overlaps) -> Option<Overlaps> {
        (!overlaps.packages.is_empty()).then(|| Overlaps {
            count: overlaps.packages.len() as u64,
            packages: overlaps.listed().iter().map(Into::into).collect(),
        })
    }
}

impl Timings {
    /// Timings of an answer, and of the page `rendered` from it.
    pub(crate) fn new(answer: &SearchResult, rendered: Duration) -> Self {
        let milliseconds = |time: Duration| time.as_micros() as f64 / 1000.0;
        let timings = answer.outcome.timings;
        let phases = timings.phases;
        Timings {
            queue_ms: milliseconds(timings.queue),
            plan_ms: phases.plan_us as f64 / 1000.0,
            candidates_ms: phases.candidates_us as f64 / 1000.0,
            verify_ms: phases.verify_us as f64 / 1000.0,
            stream_ms: milliseconds(timings.stream),
            rank_ms: milliseconds(timings.rank),
            render_ms: milliseconds(rendered),
        }
    }

    /// Names and milliseconds of the phases, in order; rendering comes last.
    pub(crate) fn each(&self) -> [(&'static str, f64); 7] {
        [
            ("queue", self.queue_ms),
            ("plan", self.plan_ms),
            ("candidates", self.candidates_ms),
            ("verify", self.verify_ms),
            ("stream", self.stream_ms),
            ("rank", self.rank_ms),
            ("render", self.render_ms),
        ]
    }
}

impl Progress {
    pub(crate) fn new(progress: frontend::Progress, eta: Option<Duration>) -> Self {
        Progress {
            blocks_done: progress.blocks_done,
            blocks_total: progress.blocks_total,
            documents: progress.documents,
            matches: progress.matches,
            bound: progress.bound(),
            elapsed_ms: progress.elapsed.as_millis() as u64,
            eta_ms: eta.map(|eta| eta.as_millis() as u64),
            backends: progress.backends.iter().map(Into::into).collect(),
        }
    }
}

impl ExportEnd {
    /// `written` counts matches, and `pending` changed files.
    pub fn new(
        answer: &SearchResult,
        (id, pending): (&str, u64),
        written: u64,
        notices: &[frontend::query::Notice],
    ) -> ExportEnd {
        ExportEnd {
            done: ExportDone {
                id: id.to_owned(),
                generation: answer.generation().to_owned(),
                complete: answer.is_complete(),
                pending,
                missing: Missing::of(answer),
                skipped: answer.skipped().into(),
                overlaps: Overlaps::of(&answer.outcome.overlaps),
                searched: answer.into(),
                reached: Reached::of(answer),
                found: answer.found(),
                total: written,
                documents: answer.documents(),
                packages: answer.packages(),
                explain: IndexUse::of(answer),
                notices: self::notices(notices),
            },
        }
    }
}
