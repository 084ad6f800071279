//! What must hold for the best files of an execution, which a page shows while it runs.
//!
//! They are compared with a naive ranking: go through all matches in their order, and take each file when its first
//! match comes. Like the page, this tells files apart by the hash of their name alone.

use super::corpus::{self, CONTEXT_LINES};
use super::model::Model;
use super::stream::Ground;
use crate::execution::stream_stats::BestDocuments;
use crate::order::{BEST_LINES_MAX, BEST_MAX};
use crate::results::{self, Match};
use schema::order::RankKey;
use std::collections::BTreeSet;

/// Score and name of a file's best match.
type Place = (u16, u64);

/// The best files so far, as a client sees them.
#[derive(Debug)]
pub(super) struct BestFiles {
    /// Sorted as a page shows them.
    pub(super) places: Vec<Place>,
    /// Whether no match still to come can change them.
    pub(super) is_final: bool,
}

/// The first page and the best files, as they were when they were first reported as final.
#[derive(Default)]
pub(super) struct First {
    pub(super) page: Option<Vec<Match>>,
    pub(super) files: Option<BestFiles>,
}

impl BestFiles {
    /// Reads the best files so far. Asserts that each is shown once, with lines that it has, in order.
    pub(super) fn read(ground: Ground<'_>, model: &Model, limit: u64) -> BestFiles {
        let best = BestDocuments::new(ground.stats.iter(), limit);
        let shown = results::read(ground.spool, &best.documents.concat(), CONTEXT_LINES);
        let shown = shown.expect("what is shown is written");
        model.check(&shown);
        let mut shown = &shown[..];
        let mut places = Vec::new();
        for pointers in &best.documents {
            let (lines, rest) = shown.split_at(pointers.len());
            shown = rest;
            places.push(place_of(lines));
        }
        assert!(places.len() <= BEST_MAX);
        let names: BTreeSet<u64> = places.iter().map(|(_, name)| *name).collect();
        assert_eq!(names.len(), places.len(), "a file is shown twice");
        BestFiles {
            places,
            is_final: best.is_final,
        }
    }
}

/// Returns the place of a file with these lines. Asserts that they are of one file, the best first.
fn place_of(lines: &[Match]) -> Place {
    assert!((1..=BEST_LINES_MAX).contains(&lines.len()));
    let places = corpus::places(lines);
    assert!(places.iter().all(|(_, name)| *name == places[0].1));
    let key = |each: &Match| (RankKey::of(each.rank), each.line);
    assert!(lines.is_sorted_by(|a, b| key(a) <= key(b)));
    places[0]
}

/// The best files of all matches, which are in order. With a limit they are those of the best matches.
pub(super) fn naive(matches: &[Match], limit: u64) -> Vec<Place> {
    let looked_at = if limit == 0 { matches.len() } else { BEST_MAX };
    let mut places: Vec<Place> = Vec::new();
    for place in corpus::places(&matches[..looked_at.min(matches.len())]) {
        if places.len() < BEST_MAX && places.iter().all(|(_, name)| *name != place.1) {
            places.push(place);
        }
    }
    places
}
