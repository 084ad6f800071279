//! Checks of every result.
//!
//! Each shown match is in the corpus, shown once, in order, with its text. A shard is missing or
//! has all its matches. A complete result has all matches.

use super::best_files::{self, BestFiles, First};
use super::corpus::{self, CONTEXT_LINES, Document};
use super::driver::Driver;
use super::model::{Model, documents, key};
use super::random::Random;
use super::scenario::{Scenario, name};
use super::script::{Fault, Script};
use crate::execution::collector::Collector;
use crate::execution::finalize::finalize;
use query::Query;
use results::order::BEST_MAX;
use results::spool::{ResultFiles, SpoolError};
use results::{CorpusSize, Match, SPOOL, SearchResult, ShardId, SkippedDocument};
use schema::message::{Expr, Facet, FailureKind, Pattern, Want};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) struct Ended<'a> {
    pub(super) driver: Driver<'a>,
    pub(super) first: First,
    pub(super) best_files: BestFiles,
    pub(super) collectors: Vec<Collector>,
    pub(super) run: Arc<ResultFiles>,
}

pub(super) fn check<'a>(
    random: &mut Random,
    scenario: &Scenario,
    model: &Model,
    mut ended: Ended<'a>,
) -> (bool, Driver<'a>) {
    let halted = ended.driver.is_halted();
    let answer = answer(random, scenario, &mut ended);
    let shown = answer.matches(0..answer.len()).unwrap();
    let places = model.check(&shown);
    assert!(shown.is_sorted_by(|a, b| corpus::order(a, b).is_lt()));
    assert_eq!(sum(packages(&answer)), shown.len() as u64);
    if scenario.limit == 0 {
        let facets = answer.facets().unwrap().expect("there is no limit");
        assert_eq!(sum(facets.languages), shown.len() as u64);
        assert_eq!(sum(facets.directories), shown.len() as u64);
        assert_eq!(facets.kinds.iter().sum::<u64>(), shown.len() as u64);
    } else {
        assert!(shown.len() as u64 <= scenario.limit);
    }
    check_missing(scenario, model, &answer, &places);
    check_folded(random, scenario, &answer, &shown);
    if answer.is_complete() {
        check_complete(scenario, model, &answer, &shown);
        let page = best_files::of_page(&shown, scenario.limit);
        let found = &ended.best_files;
        assert!(
            best_files::agree(found, &page, scenario),
            "{found:?} {page:?}"
        );
        let is_ordered = |script: &Script| script.fault != Fault::Swap;
        if scenario.scripts.iter().all(is_ordered) {
            check_first(&ended.first, &shown, &page);
            if ended.first.files.is_some() || found.is_final {
                assert!(!found.is_final || found.places == page);
                let is_unique = answer.unique() == Some(answer.len());
                let seen = if is_unique {
                    "final"
                } else {
                    "final_with_copies"
                };
                ended.driver.seen.push(seen);
            }
        }
    }
    let is_smooth = !halted && scenario.has_room() && scenario.scripts.iter().all(Script::survives);
    assert!(
        answer.is_complete() || !is_smooth,
        "nothing is wrong, and yet: {:?}",
        answer.missing()
    );
    (answer.is_complete(), ended.driver)
}

/// Checks that results reported as final come first in the complete result.
fn check_first(first: &First, shown: &[Match], best_files: &[(u16, u64)]) {
    if let Some(page) = &first.page {
        let last = &shown[..shown.len().min(BEST_MAX)];
        assert_eq!(corpus::places(page), corpus::places(last));
    }
    if let Some(files) = &first.files {
        assert_eq!(
            files.places, best_files,
            "final files are those of the page"
        );
    }
}

fn answer(random: &mut Random, scenario: &Scenario, ended: &mut Ended<'_>) -> SearchResult {
    let collectors = &mut ended.collectors;
    let counts = finalize(&ended.run, collectors, scenario.limit);
    if let Err(error) = &counts {
        let is_disk = matches!(error, SpoolError::Io { .. } | SpoolError::Full { .. });
        assert!(is_disk && !scenario.has_room(), "{error}");
    }
    let failure = counts.as_ref().err().map(ToString::to_string);
    let outcome = ended.driver.finish(random, failure);
    let pattern = Pattern {
        text: "needle".to_owned(),
        ..Pattern::default()
    };
    let query = Query::new(Expr::Pattern(pattern), CONTEXT_LINES);
    let query = query.and_then(|query| query.wanting(Want::Matches, scenario.limit));
    let collectors = ended.collectors.iter();
    SearchResult {
        identity: "0123456789abcdef".to_owned(),
        generation: String::new(),
        scope: [0; 16],
        query: query.unwrap(),
        known: CorpusSize::default(),
        documents: collectors
            .clone()
            .map(|collector| collector.documents)
            .sum(),
        found: collectors.map(|collector| collector.found).sum(),
        counts: counts.unwrap_or_default(),
        outcome,
        spool: Arc::clone(&ended.run),
        damaged: Default::default(),
    }
}

fn check_folded(random: &mut Random, scenario: &Scenario, answer: &SearchResult, shown: &[Match]) {
    let Some(unique) = answer.unique() else {
        assert!(scenario.limit > 0);
        return;
    };
    let positions = answer.unique_positions(0..unique).unwrap();
    assert!(positions.is_sorted_by(|a, b| a < b));
    let start = random.below(unique + 1);
    let end = start + random.below(unique - start + 1);
    let part = answer.unique_positions(start..end).unwrap();
    assert_eq!(part, positions[start..end]);
    if !answer.is_complete() {
        // Documents of a lost stream may have more matches.
        return;
    }
    let texts = corpus::copies(shown);
    let is_shown = |each: &&Match| !texts[&key_of_document(each)].is_folded;
    let expected: Vec<&Match> = shown.iter().filter(is_shown).collect();
    let at = |position: &u64| &shown[*position as usize];
    assert!(positions.iter().map(at).eq(expected));
    for (position, each) in (0..).zip(shown) {
        let text = &texts[&key_of_document(each)];
        assert_eq!(answer.copies(&[position]).unwrap(), [text.copies]);
        let (first, count) = answer.documents_with_text(position, 0..1).unwrap();
        assert_eq!((first.len(), count), (1, text.copies + 1));
        let (all, _) = answer.documents_with_text(position, 0..99).unwrap();
        let names: BTreeSet<_> = all
            .iter()
            .map(|it| (&it.package[..], &it.path[..]))
            .collect();
        assert_eq!(names.len() as u64, text.copies + 1);
        assert!(names.contains(&key_of_document(each)));
    }
}

fn key_of_document(shown: &Match) -> (&[u8], &[u8]) {
    (&shown.document.package, &shown.document.path)
}

fn check_missing(
    scenario: &Scenario,
    model: &Model,
    answer: &SearchResult,
    places: &BTreeSet<usize>,
) {
    let mut missing = BTreeSet::new();
    for each in answer.missing() {
        for shard in &each.shards {
            let is_new = missing.insert((each.backend.clone(), *shard));
            assert!(is_new, "missing twice: {each:?}");
        }
    }
    for (stream, script) in scenario.scripts.iter().enumerate() {
        let has_refused = script.fault == Fault::Failure(FailureKind::BadQuery)
            && answer.outcome.refused.is_some();
        let is_missing = |from: &str, id| missing.contains(&(from.to_owned(), id));
        let is_there = |id: ShardId| !is_missing(&name(stream), id) && !is_missing(SPOOL, id);
        for shard in script.shards.iter().filter(|shard| is_there(shard.id)) {
            let mut shown = shard.documents.iter().flat_map(Document::shown);
            let all = shown.all(|each| places.contains(&model.places[&key(&each)]));
            let is_cut = scenario.limit > 0 || has_refused;
            assert!(all || is_cut, "matches of {} are lost", name(stream));
        }
    }
}

fn check_complete(scenario: &Scenario, model: &Model, answer: &SearchResult, shown: &[Match]) {
    let total = model.matches.len();
    let wanted = match scenario.limit {
        0 => total,
        limit => total.min(limit as usize),
    };
    assert_eq!(shown, &model.matches[..wanted]);
    assert_eq!(answer.found(), total as u64);
    assert_eq!(
        answer.documents(),
        documents(&scenario.scripts).count() as u64
    );
    let skipped = scenario.scripts.iter().flat_map(|script| &script.skipped);
    let skipped: BTreeSet<SkippedDocument> = skipped.cloned().collect();
    assert_eq!(answer.skipped().count, skipped.len() as u64);
    assert_eq!(answer.skipped().documents, skipped);
    let (mut counted, mut languages) = (BTreeMap::new(), BTreeMap::new());
    for each in shown {
        *counted.entry(each.document.package.clone()).or_default() += 1;
        let language = each.document.language.clone().into_bytes();
        *languages.entry(language).or_default() += 1;
    }
    assert_eq!(
        packages(answer).into_iter().collect::<BTreeMap<_, u64>>(),
        counted
    );
    if let Some(facets) = answer.facets().unwrap() {
        let facets: BTreeMap<Vec<u8>, u64> = facets.languages.into_iter().collect();
        assert_eq!(facets, languages);
    }
}

fn packages(answer: &SearchResult) -> Vec<Facet> {
    let packages = answer.package_list(0..answer.packages()).unwrap();
    let facet = |package: crate::PackageGroup| (package.name, package.total);
    packages.into_iter().map(facet).collect()
}

fn sum(facets: Vec<Facet>) -> u64 {
    facets.into_iter().map(|(_, count)| count).sum()
}
