//! All matches of the corpus in total order.

use super::corpus::{self, Document};
use super::script::Script;
use results::Match;
use std::collections::{BTreeMap, BTreeSet};

pub(super) type Key = (Vec<u8>, Vec<u8>, u32);

pub(super) fn key(shown: &Match) -> Key {
    let document = &shown.document;
    (document.package.clone(), document.path.clone(), shown.line)
}

pub(super) struct Model {
    pub(super) matches: Vec<Match>,
    pub(super) places: BTreeMap<Key, usize>,
}

impl Model {
    pub(super) fn new(scripts: &[Script]) -> Model {
        let mut matches: Vec<Match> = documents(scripts).flat_map(Document::shown).collect();
        matches.sort_by(corpus::order);
        let places = matches.iter().enumerate();
        let places = places.map(|(place, each)| (key(each), place)).collect();
        Model { matches, places }
    }

    /// Asserts distinct matches of the corpus. Returns their positions.
    pub(super) fn check(&self, shown: &[Match]) -> BTreeSet<usize> {
        let mut places = BTreeSet::new();
        for each in shown {
            let place = *self.places.get(&key(each)).expect("there is such a match");
            assert_eq!(*each, self.matches[place]);
            assert!(places.insert(place), "twice: {each:?}");
        }
        places
    }
}

pub(super) fn documents(scripts: &[Script]) -> impl Iterator<Item = &Document> {
    let shards = scripts.iter().flat_map(|script| &script.shards);
    shards.flat_map(|shard| &shard.documents)
}
