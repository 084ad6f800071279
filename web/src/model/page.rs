//! Page of an answer with the state of its search. An export in the order of finding ends with the
//! same state.

use super::bytes::{hex, readable_owned};
use super::matches::Results;
use frontend::{Explain, SearchResult};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::{Duration, UNIX_EPOCH};
use utoipa::ToSchema;

/// Page of an answer or of a running search.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Page<'a> {
    /// Id of the search, or the cursor or link of the request.
    pub id: Cow<'a, str>,
    /// Identifies the searched documents.
    pub generation: Cow<'a, str>,
    /// Name of the answer for callers with the same access, on every frontend with the same
    /// secrets. It replaces an id while these documents are served. Null while the search runs.
    #[serde(default)]
    #[schema(required)]
    pub link: Option<String>,
    /// Cursor of the next page; null on the last page, or while the search runs.
    pub next: Option<String>,
    /// Interpreted query, in the query language.
    pub interpreted_as: String,
    pub notices: Vec<Notice>,
    pub state: SearchState,
    /// True if every shard was searched to its end.
    pub complete: bool,
    /// Number of known changed files that are not indexed yet.
    #[serde(default)]
    #[schema(required)]
    pub pending: u64,
    /// Parts that were not searched, with reasons.
    pub missing: Vec<Missing>,
    pub skipped: Skipped,
    /// Packages on several backends, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub overlaps: Option<Overlaps>,
    /// Null while the search runs.
    pub searched: Option<Searched>,
    /// Present if the answer is incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reached: Option<Reached>,
    /// Number of matches, also beyond `limit`; null while the search runs.
    pub found: Option<u64>,
    /// Relation of `found` to the number of all matches.
    #[serde(default)]
    #[schema(required)]
    pub total_relation: TotalRelation,
    /// Number of matches; with `copies=all`, on all pages.
    pub total: u64,
    /// Number without copies; with `copies=folded`, on all pages. Null while the search runs, with
    /// a limit, or without requested matches.
    #[serde(default)]
    #[schema(required)]
    pub unique: Option<u64>,
    /// Documents with a match.
    pub documents: u64,
    /// Packages with a match.
    pub packages: usize,
    /// Page number, from 0.
    pub page: usize,
    pub per_page: usize,
    /// Number of pages.
    pub pages: usize,
    #[serde(flatten)]
    pub results: Results<'a>,
    /// Null on a page by `cursor` or link, which is the same on every frontend.
    pub timings: Option<Timings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<IndexUse>,
}

/// Part of a query that may have another meaning.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Notice {
    /// Position in the query, in bytes.
    pub at: Option<usize>,
    /// Chosen meaning.
    pub reason: String,
    /// Text for the other meaning.
    pub hint: Option<String>,
}

/// Known documents that were searched to the end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct Searched {
    pub documents: u64,
    pub of: u64,
}

/// Progress of an incomplete search.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct Reached {
    /// Searched candidate blocks.
    pub blocks_done: u64,
    /// Candidate blocks, on the backends that had counted theirs.
    pub blocks_total: u64,
    /// Documents that were searched, at least in part.
    pub documents: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = State)]
pub enum SearchState {
    Running,
    Done,
}

/// Relation of a number of matches to all matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TotalRelation {
    /// It is exact.
    #[default]
    Eq,
    /// It is a lower bound.
    Gte,
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

/// Backend with shards that were not searched to the end.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Missing {
    pub backend: String,
    pub reason: String,
    pub shards: Vec<String>,
    /// Seconds since 1970.
    pub since: u64,
}

/// Packages on several backends; only the newest build of each was searched and counted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Overlaps {
    pub count: u64,
    /// First of these packages.
    pub packages: Vec<OverlappingPackage>,
}

/// Package on several backends.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct OverlappingPackage {
    pub package: String,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    /// Backend with the newest build.
    pub searched: String,
    /// Backends with the other builds, one for each.
    pub superseded: Vec<String>,
}

/// Documents that could not be searched, with reasons.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Skipped {
    pub count: u64,
    /// First of these documents.
    pub documents: Vec<SkippedDocument>,
}

/// Document that could not be searched.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SkippedDocument {
    pub package: String,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    pub path: String,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
    pub reason: String,
}

/// Duration of each phase of a search.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct Timings {
    pub queue_ms: f64,
    /// This and the next two are parts of `stream_ms`, each of its slowest backend.
    pub plan_ms: f64,
    pub candidates_ms: f64,
    pub verify_ms: f64,
    pub stream_ms: f64,
    pub rank_ms: f64,
    pub render_ms: f64,
}

/// Progress of a running search.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    pub blocks_done: u64,
    pub blocks_total: u64,
    pub documents: u64,
    pub matches: u64,
    /// No later match has a higher rank; null if unknown.
    pub bound: Option<f32>,
    pub elapsed_ms: u64,
    /// Estimate; null without one.
    pub eta_ms: Option<u64>,
    pub backends: Vec<BackendProgress>,
}

/// Progress of a backend.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BackendProgress {
    pub name: String,
    pub blocks_done: u64,
    pub blocks_total: u64,
    pub documents: u64,
    pub matches: u64,
    pub bound: Option<f32>,
}

/// Use of the index by a search.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = Explain)]
pub struct IndexUse {
    pub plan: String,
    pub shards: u64,
    pub blocks: u64,
    pub candidates: u64,
    pub matched_blocks: u64,
    pub documents: u64,
    pub verified_bytes: u64,
}

impl From<&frontend::query::Notice> for Notice {
    fn from(notice: &frontend::query::Notice) -> Self {
        Notice {
            at: notice.at,
            reason: notice.reason.clone(),
            hint: notice.hint.clone(),
        }
    }
}

pub(crate) fn notices(notices: &[frontend::query::Notice]) -> Vec<Notice> {
    notices.iter().map(Notice::from).collect()
}

impl From<&SearchResult> for Searched {
    fn from(answer: &SearchResult) -> Self {
        Searched {
            documents: answer.explain().shard_documents,
            of: answer.search.known.documents,
        }
    }
}

impl Reached {
    /// `None` for a complete answer.
    pub(crate) fn of(answer: &SearchResult) -> Option<Reached> {
        let reached = answer.search.outcome.reached;
        (!answer.is_complete()).then_some(Reached {
            blocks_done: reached.blocks_done,
            blocks_total: reached.blocks_total,
            documents: reached.documents,
        })
    }
}

impl Missing {
    pub(crate) fn of(answer: &SearchResult) -> Vec<Missing> {
        let missing = |missing: &frontend::Missing| Missing {
            backend: missing.backend.clone(),
            reason: missing.reason.clone(),
            shards: missing.shards.iter().map(|id| hex(id)).collect(),
            since: missing
                .since
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default()
                .as_secs(),
        };
        answer.missing().iter().map(missing).collect()
    }
}

impl Overlaps {
    /// `None` without overlaps.
    pub(crate) fn of(overlaps: &frontend::Overlaps) -> Option<Overlaps> {
        let describe = |overlap: &frontend::OverlappingPackage| {
            let (package, package_base64) = readable_owned(&overlap.package);
            OverlappingPackage {
                package,
                package_base64,
                searched: overlap.searched.clone(),
                superseded: overlap.superseded.clone(),
            }
        };
        (!overlaps.packages.is_empty()).then(|| Overlaps {
            count: overlaps.packages.len() as u64,
            packages: overlaps.listed().iter().map(describe).collect(),
        })
    }
}

impl From<&frontend::Skipped> for Skipped {
    fn from(skipped: &frontend::Skipped) -> Self {
        let document = |document: &frontend::SkippedDocument| {
            let (package, package_base64) = readable_owned(&document.package);
            let (path, path_base64) = readable_owned(&document.path);
            SkippedDocument {
                package,
                package_base64,
                path,
                path_base64,
                reason: document.reason.clone(),
            }
        };
        Skipped {
            count: skipped.count,
            documents: skipped.documents.iter().map(document).collect(),
        }
    }
}

impl Timings {
    /// Timings of an answer, and of the page `rendered` from it.
    pub(crate) fn new(answer: &SearchResult, rendered: Duration) -> Self {
        let milliseconds = |time: Duration| time.as_micros() as f64 / 1000.0;
        let timings = answer.search.timings;
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
        let backend = |backend: frontend::BackendProgress| BackendProgress {
            name: backend.name,
            blocks_done: backend.blocks_done,
            blocks_total: backend.blocks_total,
            documents: backend.documents,
            matches: backend.matches,
            bound: Some(backend.bound).filter(|bound| bound.is_finite()),
        };
        Progress {
            blocks_done: progress.blocks_done,
            blocks_total: progress.blocks_total,
            documents: progress.documents,
            matches: progress.matches,
            bound: progress.bound(),
            elapsed_ms: progress.elapsed.as_millis() as u64,
            eta_ms: eta.map(|eta| eta.as_millis() as u64),
            backends: progress.backends.into_iter().map(backend).collect(),
        }
    }
}

impl From<&Explain> for IndexUse {
    fn from(explain: &Explain) -> Self {
        IndexUse {
            plan: explain.plan.clone(),
            shards: explain.shards,
            blocks: explain.sum.blocks,
            candidates: explain.sum.candidates,
            matched_blocks: explain.sum.matched_blocks,
            documents: explain.sum.documents,
            verified_bytes: explain.sum.verified_bytes,
        }
    }
}

/// Last line of `format=jsonl` with `order=found`: the end of the search.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExportEnd {
    pub done: ExportDone,
}

/// Last line of `format=jsonl` for a reader that has lost access; the transfer then breaks off.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BrokenOff {
    pub problem: super::ProblemDocument,
}

/// State of a finished search.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExportDone {
    /// Id of the search.
    pub id: String,
    /// Identifies the searched documents.
    pub generation: String,
    /// True if every shard was searched to its end.
    pub complete: bool,
    /// Number of known changed files that are not indexed yet.
    #[serde(default)]
    #[schema(required)]
    pub pending: u64,
    /// Parts that were not searched, with reasons.
    pub missing: Vec<Missing>,
    pub skipped: Skipped,
    /// Packages on several backends, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub overlaps: Option<Overlaps>,
    pub searched: Searched,
    /// Present if the answer is incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reached: Option<Reached>,
    /// Number of matches, also beyond `limit`.
    pub found: u64,
    /// Matches written above; lines of text.
    pub total: u64,
    /// Documents with a match.
    pub documents: u64,
    /// Packages with a match.
    pub packages: usize,
    pub explain: IndexUse,
    /// Remarks about the query; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

impl ExportEnd {
    /// `written` counts matches, and `pending` changed files.
    pub(crate) fn new(
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
                overlaps: Overlaps::of(&answer.search.outcome.overlaps),
                searched: answer.into(),
                reached: Reached::of(answer),
                found: answer.found(),
                total: written,
                documents: answer.documents(),
                packages: answer.packages(),
                explain: answer.explain().into(),
                notices: self::notices(notices),
            },
        }
    }
}
