//! How a search went, apart from its matches: what it says on standard error, and its exit status.

use super::INCOMPLETE;
use crate::{size, terminal};
use std::process::ExitCode;

/// How a search went.
#[derive(Default)]
pub(super) struct Summary {
    /// Found, printed or not.
    pub(super) found: u64,
    /// Documents that were searched.
    pub(super) documents: u64,
    /// Backend and reason of what was not searched; empty: the answer is complete.
    pub(super) missing: Vec<(String, String)>,
    /// Documents that were given up.
    pub(super) skipped: u64,
    pub(super) explain: Explain,
}

/// How the index was used.
#[derive(Clone, Debug, Default, serde::Deserialize)]
pub(super) struct Explain {
    pub(super) plan: String,
    pub(super) blocks: u64,
    pub(super) candidates: u64,
    pub(super) matched_blocks: u64,
    pub(super) verified_bytes: u64,
}

impl Summary {
    /// Says what was missing, and how the index was used when that is asked.
    pub(super) fn report(&self, explain: bool) -> ExitCode {
        for (backend, reason) in &self.missing {
            let (backend, reason) = (
                terminal::harmless(backend.as_bytes()),
                terminal::harmless(reason.as_bytes()),
            );
            eprintln!("trawl: incomplete: {backend}: {reason}");
        }
        if self.skipped > 0 {
            let documents = terminal::plural(self.skipped, "document");
            eprintln!("trawl: incomplete: {documents} given up");
        }
        if explain {
            eprintln!("{}", self.explanation());
        }
        let is_incomplete = !self.missing.is_empty() || self.skipped > 0;
        match self.found {
            _ if is_incomplete => ExitCode::from(INCOMPLETE),
            0 => ExitCode::from(crate::NONE),
            _ => ExitCode::SUCCESS,
        }
    }

    fn explanation(&self) -> String {
        let Explain {
            plan,
            blocks,
            candidates,
            matched_blocks,
            verified_bytes,
        } = &self.explain;
        format!(
            "{}\nblocks verified: {}, {}; {} of them match\nmatches: {}",
            // Without a trigram the candidates are all that the filters leave.
            plan_in_words(plan, *candidates),
            terminal::share(*candidates, *blocks),
            size::show(*verified_bytes),
            size::count(*matched_blocks),
            size::count(self.found),
        )
    }
}

/// How a plan uses an index, of which so many blocks are searched. `all` and `none` are words of `index::plan`.
pub(crate) fn plan_in_words(plan: &str, blocks: u64) -> String {
    match plan {
        "all" => format!(
            "plan: no trigram: all {} are scanned (what every match has in common is shorter than \
             three bytes)",
            terminal::plural(blocks, "block"),
        ),
        "none" => "plan: none: no line can match".to_owned(),
        trigrams => format!("plan: {}", terminal::harmless(trigrams.as_bytes())),
    }
}
