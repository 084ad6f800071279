//! The end of an export whose matches are written as they are found.

use super::page::{IndexUse, Missing, Searched, Skipped};
use frontend::SearchResult;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The last line of `format=jsonl` with `order=found`: how the search ended.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExportEnd {
    pub done: ExportDone,
}

/// What a page says about the answer.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExportDone {
    /// Names the search.
    pub id: String,
    /// Names the documents that were searched.
    pub generation: String,
    /// Whether every shard was searched to its end.
    pub complete: bool,
    /// What was not searched, and why.
    pub missing: Vec<Missing>,
    pub skipped: Skipped,
    pub searched: Searched,
    /// How many matches there are, also beyond `limit`.
    pub found: u64,
    /// How many matches were written above.
    pub total: u64,
    /// Documents with a match.
    pub documents: u64,
    /// Packages with a match.
    pub packages: usize,
    pub explain: IndexUse,
}

impl ExportEnd {
    /// The end of an export of `written` matches.
    pub(crate) fn new(answer: &SearchResult, written: u64) -> ExportEnd {
        ExportEnd {
            done: ExportDone {
                id: answer.id().to_owned(),
                generation: answer.generation().to_owned(),
                complete: answer.is_complete(),
                missing: Missing::of(answer),
                skipped: answer.skipped().into(),
                searched: answer.into(),
                found: answer.found(),
                total: written,
                documents: answer.documents(),
                packages: answer.packages(),
                explain: answer.explain().into(),
            },
        }
    }
}
