//! Server-sent events of a search, with their JSON.

use super::matches::Match;
use super::page::{Missing, Overlaps, Progress, Timings};
use crate::problem::ProblemDocument;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Event of a running search.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Event {
    pub event: EventName,
    /// JSON. `notice`: a `Notice`. `facets`: `Facets`. `progress`: a `Progress` with the search's
    /// `id`. `matches`: the best ten so far, also as `html`; `final` if they cannot change any
    /// more. `done`: the fields of a `Page` about the answer, or of a `Problem` after a failure,
    /// with its `detail` in `error`. `reconnect`: the server is about to stop; repeat the request
    /// after `retry_ms` for another server. For a search by id, `at` is a position in
    /// `interpreted_as`.
    pub data: String,
}

shapes! {
    enum EventName {
        Notice,
        Progress,
        Matches,
        Facets,
        Reconnect,
        Done,
    }
}

/// Data of `progress`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchProgress {
    pub id: String,
    #[serde(flatten)]
    pub progress: Progress,
}

/// Data of `matches`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BestMatches<'a> {
    /// True if they cannot change any more.
    pub r#final: bool,
    pub matches: Vec<Match<'a>>,
    /// The matches as a part of an HTML page.
    pub html: String,
}

/// Data of `reconnect`: the server is about to stop, and another one continues the search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reconnect {
    pub id: String,
    /// Value of `generation` to follow the same search.
    pub generation: String,
    pub interpreted_as: String,
    /// Delay before the next request.
    pub retry_ms: u64,
}

/// Data of `done`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SearchEnd {
    pub id: String,
    pub interpreted_as: String,
    pub found: u64,
    pub total: u64,
    pub complete: bool,
    #[serde(default)]
    pub pending: u64,
    pub missing: Vec<Missing>,
    /// Packages on several backends, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlaps: Option<Overlaps>,
    pub documents: u64,
    pub packages: usize,
    pub timings: Option<Timings>,
    /// Detail of the problem if the search failed.
    pub error: Option<String>,
    #[serde(flatten)]
    pub problem: Option<ProblemDocument>,
}
