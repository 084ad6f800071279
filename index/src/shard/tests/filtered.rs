//! Candidates with filters and dead packages.

use super::*;
use crate::filter::DocumentFacts;
use crate::plan::{DocumentQuery, plan_name};

#[test]
fn dead_packages_are_neither_counted_nor_found() {
    let bytes = shard_bytes(&FIXTURE, 16);
    let whole = open(&bytes).unwrap();
    let without = |dead: &[u32]| whole.with_dead(dead.to_vec()).unwrap();
    let live = |shard: &Shard| {
        shard
            .live_blocks()
            .iter()
            .cloned()
            .flatten()
            .collect::<Vec<_>>()
    };
    assert_eq!(live(&whole), [0, 1, 2, 3, 4, 5]);
    assert_eq!(without(&[]).id(), whole.id());
    let shard = without(&[0]);
    let id = blake3::hash(&[&whole.id()[..], &[0; 4]].concat());
    assert_eq!((shard.id(), shard.file_id()), (*id.as_bytes(), whole.id()));
    let counts = Counts {
        packages: 2,
        parts: 2,
        documents: 4,
        blocks: 2,
        text_bytes: 22,
        unique_bytes: 11,
    };
    assert_eq!(shard.live_counts(), counts);
    assert_eq!(live(&shard), [4, 5]);
    assert!(shard.skipped().unwrap().is_empty());
    assert_eq!(shard.find(b"alpha_1", b"src/main.c").unwrap(), None);
    assert_eq!(shard.find(b"beta-2", b"README").unwrap(), Some(DocId(6)));
    assert_eq!(shard.find(b"beta-2", b"main.c").unwrap(), Some(DocId(4)));
    let blocks = |shard: &Shard, pattern| candidates(shard, pattern).unwrap();
    assert_eq!(blocks(&shard, "main"), Candidates::Blocks(vec![4]));
    let range = std::iter::once(4..6).collect();
    assert_eq!(blocks(&shard, "ve|main"), Candidates::Ranges(range));
    let shard = without(&[1]);
    assert_eq!(blocks(&shard, "main"), Candidates::Blocks(vec![0, 2, 4]));
    assert_eq!(live(&shard), [0, 1, 2, 3, 4, 5], "the last package has it");
    assert_eq!(live(&without(&[1, 2])), [0, 1, 2, 3, 4]);
    let none = without(&[0, 1, 2]);
    assert_eq!(
        (none.live_blocks(), none.live_counts()),
        (&[][..], Counts::default())
    );
    assert_ne!(none.id(), shard.id());
}

#[test]
fn dead_packages_must_exist_and_ascend() {
    let bytes = shard_bytes(&FIXTURE, 16);
    let shard = open(&bytes).unwrap();
    for dead in [&[3][..], &[0, 3], &[1, 0], &[0, 0], &[u32::MAX]] {
        let error = shard.with_dead(dead.to_vec()).err();
        assert!(
            matches!(error, Some(ShardError::Corrupt { .. })),
            "{dead:?}"
        );
    }
}

/// Adjacent and separate blocks, multi-block documents, copies.
const FILTERED: [File<'_>; 10] = [
    (
        "alpha_1",
        "src/main.c",
        b"int main;\nint a;\nint b;\nint main;\n",
    ),
    (
        "alpha_1",
        "src/main.py",
        b"main\nint\nmain int int int\nmain\n",
    ),
    ("alpha_1", "vendor/a.c", b"int main;\n"),
    ("beta_2", "main.c", b"int main;\nint main;\n"),
    ("beta_2", "empty.c", b""),
    ("gamma-3", "src/main.c", b"nothing here\nint main;\n"),
    ("gamma-3", "README", b"main\n"),
    ("gamma-3", "copy.c", b"int main;\nint main;\n"),
    (
        "gamma-3",
        "src/copy.py",
        b"int main;\nint a;\nint b;\nint main;\n",
    ),
    ("beta_2", "src/x.c", b"int main;\n"),
];

fn blocks_of(candidates: Candidates) -> Vec<u32> {
    match candidates {
        Candidates::Ranges(ranges) => ranges.into_iter().flatten().collect(),
        Candidates::Blocks(blocks) => blocks,
    }
}

/// Combinations of filters, negated or not; empty for none.
fn all_filters(packages: &[&str], paths: &[&str], languages: &[&str]) -> Vec<Filters> {
    let mut all = Vec::new();
    for (package, path) in packages
        .iter()
        .flat_map(|a| paths.iter().map(move |b| (a, b)))
    {
        for (language, negated) in languages.iter().flat_map(|a| (0..8).map(move |b| (a, b))) {
            let mut filters = Filters::default();
            if !package.is_empty() {
                let value = NamePattern::Regexp(package);
                add(
                    &mut filters,
                    Predicate::package(value).unwrap(),
                    negated & 1 != 0,
                );
            }
            if !path.is_empty() {
                let value = NamePattern::Regexp(path);
                add(
                    &mut filters,
                    Predicate::path(value).unwrap(),
                    negated & 2 != 0,
                );
            }
            if !language.is_empty() {
                add(
                    &mut filters,
                    Predicate::language(language).unwrap(),
                    negated & 4 != 0,
                );
            }
            all.push(filters);
        }
    }
    all
}

#[test]
fn filtered_candidates_equal_candidates_in_accepted_documents() {
    let whole = open(&shard_bytes(&FILTERED, 16)).unwrap();
    let all = all_filters(
        &["", "a", "^beta$", "nowhere"],
        &["", r"\.c$", "^src/", "nowhere"],
        &["", "C", "Python"],
    );
    for dead in [vec![], vec![0], vec![1], vec![0, 2], vec![0, 1]] {
        let shard = whole.with_dead(dead).unwrap();
        all.iter()
            .for_each(|filters| check_filtered(&shard, filters));
        all.iter()
            .for_each(|filters| check_documents(&shard, filters));
    }
}

/// Document candidates are accepted documents of candidate texts, with their blocks.
fn check_documents(shard: &Shard, filters: &Filters) {
    for pattern in [".", "main", "nothing|int b"] {
        let query = DocumentQuery::Block(plan(pattern, true).unwrap());
        let found = documents(shard, &query, filters);
        let blocks = blocks_of(candidates(shard, pattern).unwrap());
        let is_left = |id: &u32| {
            let document = shard.document(DocId(*id)).unwrap();
            let mut blocks = blocks.iter();
            shard.is_accepted(filters, document.id).unwrap()
                && (pattern == "." || blocks.any(|block| document.blocks.contains(block)))
        };
        let expected: Vec<u32> = (0..shard.document_count()).filter(is_left).collect();
        assert_eq!(found, expected, "{pattern} {filters:?}");
    }
}

fn documents(shard: &Shard, query: &DocumentQuery, filters: &Filters) -> Vec<u32> {
    let found = shard.document_candidates(query, &[], filters, &|| false);
    let found = found.unwrap().unwrap();
    found.documents.into_iter().flatten().collect()
}

#[test]
fn path_queries_select_documents_in_scope() {
    let whole = open(&shard_bytes(&FILTERED, 16)).unwrap();
    let path = |path| DocumentQuery::Path(plan_name(path, true).unwrap());
    for dead in [vec![], vec![1], vec![0, 2]] {
        let shard = whole.with_dead(dead).unwrap();
        for filters in all_filters(&["", "a"], &["", "^src/"], &[""]) {
            let all = documents(&shard, &DocumentQuery::ALL, &filters);
            let has_main = |id: &u32| {
                let document = shard.document(DocId(*id)).unwrap();
                document.path.windows(3).any(|three| three == b"mai")
            };
            // Copies of a text come with it.
            let found = documents(&shard, &path("MAI"), &filters);
            assert!(
                all.iter()
                    .filter(|id| has_main(id))
                    .all(|id| found.contains(id))
            );
            assert!(
                found.len() < all.len() || all.iter().all(has_main),
                "{found:?}"
            );
            assert_eq!(documents(&shard, &path("m.*"), &filters), all);
            assert_eq!(documents(&shard, &path("absent"), &filters), []);
            let int = DocumentQuery::Block(plan("int b", false).unwrap());
            let expected = documents(&shard, &int, &filters);
            let either = DocumentQuery::Or(vec![path("absent"), int.clone()]);
            assert_eq!(documents(&shard, &either, &filters), expected);
            let both = DocumentQuery::And(vec![path("main"), int]);
            let found = documents(&shard, &both, &filters);
            let mut main = expected.iter().filter(|id| has_main(id));
            assert!(main.all(|id| found.contains(id)), "{found:?} {expected:?}");
        }
    }
}

fn check_filtered(shard: &Shard, filters: &Filters) {
    let is_left = |block: &u32| {
        let text = shard.text_with(BlockId(*block)).unwrap();
        text.documents.map(DocId).any(|id| {
            let document = shard.document(id).unwrap();
            let Package {
                directory, name, ..
            } = shard.package(document.package).unwrap();
            let is_accepted = shard.is_live(document.package)
                && filters.accepts_package(directory, name)
                && filters.accepts_document(&DocumentFacts {
                    directory,
                    name,
                    path: document.path,
                    language: shard.language(&document).unwrap(),
                    ..DocumentFacts::default()
                });
            assert_eq!(shard.is_accepted(filters, id).unwrap(), is_accepted);
            is_accepted
        })
    };
    for pattern in [
        ".",
        "main",
        "int main",
        "main|nothing",
        "(int|not)[a-z ]*(mai|her)",
        "absent",
    ] {
        let mut expected = blocks_of(candidates(shard, pattern).unwrap());
        expected.retain(is_left);
        let found = filtered(shard, pattern, filters).unwrap();
        if let Candidates::Ranges(ranges) = &found {
            assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
            assert!(ranges.iter().all(|range| !range.is_empty()));
        }
        assert_eq!(blocks_of(found), expected, "{pattern} {filters:?}");
    }
}

#[test]
fn filtering_stops_when_asked() {
    let shard = open(&shard_bytes(&FILTERED, 16)).unwrap();
    let mut filters = Filters::default();
    add(
        &mut filters,
        Predicate::path(NamePattern::Regexp("a")).unwrap(),
        false,
    );
    add(
        &mut filters,
        Predicate::package(NamePattern::Regexp(".")).unwrap(),
        false,
    );
    for pattern in [".", "main", "main|int", "main.*int"] {
        let query = plan(pattern, false).unwrap();
        let asked = std::cell::Cell::new(0);
        let all = shard.filtered_candidates(&query, &filters, &|| {
            asked.set(asked.get() + 1);
            false
        });
        assert!(all.unwrap().is_some());
        let times = asked.get();
        assert!(times > 3, "of packages, lists and documents: {times}");
        for at in 0..times {
            asked.set(0);
            let stop = || asked.replace(asked.get() + 1) >= at;
            let candidates = shard.filtered_candidates(&query, &filters, &stop);
            assert_eq!(candidates.unwrap(), None, "the {at}th time");
            assert!(asked.get() <= at + 3, "it goes on for {}", asked.get() - at);
        }
    }
}
