//! Best-first searches equal searches of all candidates.

use crate::cases;
use crate::corpus::{Build, Built, write_package};
use crate::found::{Found, How, find, find_best_first};
use crate::wants::{Match, matches};
use backend::CompiledQuery;
use index::ContentCodec;
use index::corpus::sources;
use index::directory::Index;
use index::document::Popularity;
use index::indexing::{BuildOptions, Progress, build};
use index::manifest::Options;
use proptest::collection::vec;
use proptest::prelude::*;
use schema::message::{Expr, Field, Filter, Pattern, Reading, Syntax, Want};

/// Lines of files, with `@` for a word.
const LINES: [&str; 30] = [
    "int @(int a)",
    "@(1);",
    "  @(2);",
    "def @(x):",
    "    fn @() {",
    "#define @ 1",
    "class EXPORT @ {",
    "struct @;",
    "  of the class @",
    "  API enum class @",
    "typedef struct x @;",
    "func (r *T) @() {",
    "} @;",
    "  @ = 1,",
    "@ = 2",
    "return @;",
    "return(@)",
    "xx@yy",
    "// @ @",
    "a::@::b",
    "@@",
    "",
    "int @(int a,",
    "static int @(int a,",
    "    int b)",
    "    int b);",
    "{",
    "int EXPORT(@)(int a)",
    "#define @ x@",
    "    static int @(int a)",
];

const WORDS: [&str; 11] = [
    "foo",
    "bar",
    "foobar",
    "e",
    "Foo",
    "parse",
    "return",
    "task",
    "ta\u{17f}k",
    "tas\u{212a}",
    "s",
];

const PATHS: [&str; 14] = [
    "foo.c",
    "src/foo.c",
    "src/foobar.rs",
    "parse/x.c",
    "e.py",
    "tests/foo.c",
    "vendor/foo/bar.c",
    "doc/foo.md",
    "README",
    "x/y/task.h",
    "lib/Parse.pm",
    "a.c",
    "debian/patches/foo",
    "lib/p/a_b.c",
];

/// Package names, without numbers.
const PACKAGES: [&str; 3] = ["foo", "p", "libtask"];

/// Patterns, and true for a regular expression.
const PATTERNS: [(&str, bool); 19] = [
    ("foo", false),
    ("bar", false),
    ("e", false),
    ("oo", false),
    ("foo(", false),
    ("(foo", false),
    ("foo (", false),
    ("foo bar", false),
    ("return", false),
    ("task", false),
    ("ask", false),
    ("as", false),
    ("s = 1", false),
    (";", false),
    ("ars", false),
    (r"[a-z]+o\s*\(", true),
    (".", true),
    (r"\bfoo\b", true),
    ("a::foo", false),
];

/// Path and lines of a file, each with a word.
type File = (usize, Vec<(usize, usize)>);

pub(crate) type NamedText = (Vec<u8>, Vec<u8>);

fn packages() -> impl Strategy<Value = Vec<(f32, Vec<File>)>> {
    let line = (0..LINES.len(), 0..WORDS.len());
    let file = (0..PATHS.len(), vec(line, 0..12));
    let popularity =
        prop_oneof![2 => Just(0.0_f32), 1 => Just(0.3), 1 => Just(0.31), 1 => 0.0..1.0_f32];
    vec((popularity, vec(file, 0..12)), 1..6)
}

fn text(lines: &[(usize, usize)]) -> Vec<u8> {
    let lines = lines.iter();
    let lines = lines.map(|&(line, word)| LINES[line].replace('@', WORDS[word]) + "\n");
    lines.collect::<String>().into_bytes()
}

fn package_name(number: usize) -> String {
    format!("{}{number}", PACKAGES[number % PACKAGES.len()])
}

fn index(packages: &[(f32, Vec<File>)], how: Build) -> (tempfile::TempDir, Index) {
    let packages = packages.iter().map(|(inst, files)| {
        let files = files.iter();
        let files = files.map(|(path, lines)| (PATHS[*path].as_bytes().to_vec(), text(lines)));
        (*inst, files.collect())
    });
    build_index(&packages.collect::<Vec<_>>(), how)
}

/// Builds an index of packages with popularity, paths and texts. The directory has them below
/// `source`.
pub(crate) fn build_index(
    packages: &[(f32, Vec<NamedText>)],
    how: Build,
) -> (tempfile::TempDir, Index) {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("source");
    for (number, (_, files)) in packages.iter().enumerate() {
        write_package(&source.join(package_name(number) + "_1"), files);
    }
    let popularity = packages.iter().enumerate().map(|(number, (inst, _))| {
        let popularity = Popularity {
            inst: *inst,
            rdep: 0.0,
        };
        (package_name(number).into_bytes(), popularity)
    });
    let options = BuildOptions {
        options: Options {
            block_bytes: how.block_bytes,
            no_ignore: true,
        },
        shard_bytes: how.shard_bytes,
        content: Some(how.content),
        jobs: 1,
        popularity: popularity.collect(),
        ..BuildOptions::default()
    };
    let out = directory.path().join("out");
    build(
        sources(&[source], true).unwrap(),
        &out,
        &options,
        &Progress::default(),
    )
    .unwrap();
    let index = Index::open(&out).unwrap();
    (directory, index)
}

pub(crate) fn best(found: &Found) -> Vec<Match> {
    let mut all = matches(found);
    all.sort_by(Match::order);
    all
}

pub(crate) fn by_document(found: &Found) -> Vec<Vec<Match>> {
    let mut all: Vec<Vec<Match>> = Vec::new();
    for one in best(found) {
        match all
            .iter_mut()
            .find(|of_one| of_one[0].document() == one.document())
        {
            Some(of_one) => of_one.push(one),
            None => all.push(vec![one]),
        }
    }
    all
}

fn expr(number: usize, other: Option<usize>, ignore_case: bool, filter: Option<&str>) -> Expr {
    let pattern = |number: usize| {
        let (text, is_regexp) = PATTERNS[number];
        Expr::Pattern(Pattern {
            text: text.to_owned(),
            syntax: if is_regexp {
                Syntax::Regexp
            } else {
                Syntax::Literal
            },
            ignore_case,
            ..Pattern::default()
        })
    };
    let any = Expr::any([Some(number), other].into_iter().flatten().map(pattern));
    let filter = filter.map(|text| {
        Expr::Filter(Filter {
            field: Field::Path,
            reading: Reading::Regexp,
            text: text.to_owned(),
        })
    });
    Expr::all([Some(any), filter].into_iter().flatten())
}

/// Files with a match of `frob`, best first, in blocks of one line.
fn ranked(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.as_bytes().to_vec(), text.as_bytes().to_vec()))
        .collect();
    let build = Build {
        block_bytes: 16,
        shard_bytes: u64::MAX,
        content: ContentCodec::Raw,
    };
    let built = Built::new(&vec![files], build);
    let pattern = Pattern {
        text: "frob".to_owned(),
        ..Pattern::default()
    };
    let query = CompiledQuery::new(&Expr::Pattern(pattern), false).unwrap();
    let all = best(&find(&built.index.shards, &query, How::all(1)));
    let paths = all
        .iter()
        .map(|each| String::from_utf8(each.named().1).unwrap());
    paths.collect()
}

#[test]
fn a_body_comes_before_declarations_macros_and_patches() {
    let found = ranked(&[
        ("a.h", "int frob(int a,\n         int b);\n"),
        (
            "b.h",
            "extern int frob (int a)\n     __attribute__ ((pure));\n",
        ),
        ("z.c", "int\nfrob(int a,\n     int b)\n{\n"),
        ("c.c", "#define frob other_frob\n"),
        ("tests/d.c", "int frob(int a)\n{\n"),
        ("e.patch", "int frob(int a,\n    int b)\n{\n"),
        ("debian/patches/f", "int frob(int a)\n{\n"),
    ]);
    assert_eq!(found[0], "z.c", "{found:?}");
    let place = |path| found.iter().position(|found| found == path).unwrap();
    for declares in ["a.h", "b.h", "c.c"] {
        for patch in ["e.patch", "debian/patches/f"] {
            assert!(place(declares) < place(patch), "{found:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(100))]

    /// Lines behind a definition are read from any block.
    #[test]
    fn ranks_do_not_depend_on_blocks(
        packages in packages(),
        patterns in vec((0..PATTERNS.len(), any::<bool>()), 10),
    ) {
        let builds = [(16, 1, ContentCodec::Raw), (4096, u64::MAX, ContentCodec::Zstd)];
        let indexes = builds.map(|(block_bytes, shard_bytes, content)| {
            index(&packages, Build { block_bytes, shard_bytes, content })
        });
        for (pattern, ignore_case) in patterns {
            let query = CompiledQuery::new(&expr(pattern, None, ignore_case, None), false).unwrap();
            let [small, large] = indexes.each_ref().map(|(_, index)| {
                let all = best(&find(&index.shards, &query, How::all(1)));
                all.iter().map(|each| each.named()).collect::<Vec<_>>()
            });
            prop_assert_eq!(small, large);
        }
    }

    #[test]
    fn the_best_matches_are_those_of_a_search_of_everything(
        packages in packages(),
        block_bytes in prop::sample::select(vec![16, 256, 4096]),
        shard_bytes in prop_oneof![3 => Just(u64::MAX), 1 => Just(1)],
        content in prop::sample::select(vec![ContentCodec::Raw, ContentCodec::Zstd]),
        queries in vec((
            0..PATTERNS.len(),
            prop::option::weighted(0.2, 0..PATTERNS.len()),
            any::<bool>(),
            prop::option::weighted(0.2, prop::sample::select(vec!["foo", "src/", r"\.c$"])),
        ), 20),
    ) {
        let (_directory, index) = index(&packages, Build { block_bytes, shard_bytes, content });
        for (pattern, other, ignore_case, filter) in queries {
            let query = CompiledQuery::new(&expr(pattern, other, ignore_case, filter), false).unwrap();
            for want in [Want::Matches, Want::Documents] {
                let how = How { want, ..How::all(1) };
                let expected = best(&find(&index.shards, &query, how));
                for limit in [1, 10, 100] {
                    let how = How { limit, ..how };
                    let found = find_best_first(&index.shards, &query, how, 0);
                    let found = found.expect("few blocks are searched best first");
                    let there = expected.len().min(limit as usize);
                    let reported: u64 = found.ends.iter().map(|end| end.found).sum();
                    prop_assert!(reported >= there as u64);
                    prop_assert!(reported <= expected.len() as u64);
                    prop_assert_eq!(
                        &best(&found)[..],
                        &expected[..there],
                        "{:?} {:?} {:?}", PATTERNS[pattern], other, ignore_case
                    );
                }
            }
            let all = by_document(&find(&index.shards, &query, How::all(1)));
            for (limit, matches) in [(1, 1), (3, 2), (10, 3)] {
                let how = How { limit, ..How::all(1) };
                let found = find_best_first(&index.shards, &query, how, matches as u32);
                let found = by_document(&found.expect("few blocks are searched best first"));
                prop_assert_eq!(found.len(), all.len().min(limit as usize));
                for (found, all) in found.iter().zip(&all) {
                    prop_assert_eq!(found[0].score(), all[0].score());
                    prop_assert_eq!(found[0].document(), all[0].document());
                    prop_assert!(found.len() <= matches);
                    prop_assert!(found.iter().all(|each| all.contains(each)));
                }
            }
        }
    }
}
