//! Checks the best files of an execution, which a page shows while it runs, against the finished
//! search: a naive ranking takes each file that is no copy at its first match.

use super::corpus::{self, CONTEXT_LINES};
use super::model::Model;
use super::scenario::Scenario;
use super::stream::Ground;
use crate::execution::stream_stats::{BestDocuments, TopCopies};
use results::Match;
use results::order::{BEST_LINES_MAX, BEST_MAX};
use schema::order::RankKey;
use std::collections::BTreeSet;

/// Score and name hash of a file's best match.
type Place = (u16, u64);

#[derive(Debug)]
pub(super) struct BestFiles {
    pub(super) places: Vec<Place>,
    pub(super) is_final: bool,
}

#[derive(Default)]
pub(super) struct First {
    pub(super) page: Option<Vec<Match>>,
    pub(super) files: Option<BestFiles>,
}

impl BestFiles {
    /// Asserts that each is shown once, with lines that it has, in order.
    pub(super) fn read(ground: Ground<'_>, model: &Model, scenario: &Scenario) -> BestFiles {
        let best = BestDocuments::new(ground.stats.iter(), scenario.limit, scenario.copies);
        let shown = results::read(ground.spool, &best.documents.concat(), CONTEXT_LINES);
        let shown = shown.expect("what is shown is written");
        model.check(&shown);
        let mut shown = &shown[..];
        let (mut places, mut names) = (Vec::new(), BTreeSet::new());
        for pointers in &best.documents {
            let (lines, rest) = shown.split_at(pointers.len());
            shown = rest;
            places.push(place_of(lines));
            assert!(names.insert(name_of(&lines[0])), "a file is shown twice");
        }
        assert!(places.len() <= BEST_MAX);
        BestFiles {
            places,
            is_final: best.is_final,
        }
    }
}

/// Asserts that the lines are of one file, best first.
fn place_of(lines: &[Match]) -> Place {
    assert!((1..=BEST_LINES_MAX).contains(&lines.len()));
    let places = corpus::places(lines);
    assert!(lines.iter().all(|each| name_of(each) == name_of(&lines[0])));
    let key = |each: &Match| (RankKey::of(each.rank), each.line);
    assert!(lines.is_sorted_by(|a, b| key(a) <= key(b)));
    places[0]
}

fn name_of(each: &Match) -> (Vec<u8>, Vec<u8>) {
    (each.document.package.clone(), each.document.path.clone())
}

/// Files on the page of all ordered matches. With a limit, copies are unknown.
pub(super) fn of_page(matches: &[Match], limit: u64) -> Vec<Place> {
    let copies = corpus::copies(matches);
    let (mut places, mut names) = (Vec::new(), BTreeSet::new());
    for (each, place) in matches.iter().zip(corpus::places(matches)) {
        let is_folded = copies[&(&each.document.package[..], &each.document.path[..])].is_folded;
        if (limit > 0 || !is_folded) && names.insert(name_of(each)) && places.len() < BEST_MAX {
            places.push(place);
        }
    }
    places
}

/// Compares with the page, except for ties of score and hash, and places
/// that copies may have taken. At a limit, any match of a colliding document may be the last.
pub(super) fn agree(found: &BestFiles, page: &[Place], scenario: &Scenario) -> bool {
    let is_tie = |a: &Place, b: &Place| a == b || (scenario.limit > 0 && a.1 == b.1);
    let has_ties = |places: &[Place]| {
        let mut others = places.iter().enumerate();
        others.any(|(at, place)| places[..at].iter().any(|before| is_tie(before, place)))
    };
    has_ties(page)
        || has_ties(&found.places)
        || scenario.copies == TopCopies::Unsure
        || page.starts_with(&found.places)
}
