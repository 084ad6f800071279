//! Compares searches for definitions, uses and classes with a naive pass over the files.
//!
//! The pass lexes each file with crate `language`, and looks at each match of a line.

use crate::corpus::{Build, Built, Corpus, builds};
use crate::found::{How, find};
use crate::naive::{self, Document};
use crate::oracle::find_alike;
use crate::wants;
use backend::CompiledQuery;
use index::ContentCodec;
use language::Language;
use language::symbols::{Class, DEFINITIONS_MAX, Definition, Kind, Parent, Symbols};
use proptest::prelude::*;
use regex::bytes::{Regex, RegexBuilder};
use schema::message::{Expr, Pattern, Place, Role, Syntax};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Extension, and lines that are put together at random.
const LINES: [(&str, &[&str]); 5] = [
    (
        "c",
        &[
            "int task(int ask) {\n",
            "    return ask(\"task // ask\"); /* task\n",
            " ask */ int tsk = task;\n",
            "}\n",
            "#define ASK(a) task\n",
            "struct task { int ask; };\n",
            "static int ask(void);\n",
            "// ask task \\\n",
            "char c = '\"'; task();\r\n",
        ],
    ),
    (
        "py",
        &[
            "def task(ask):\n",
            "    \"\"\"task\n",
            "ask\"\"\"\n",
            "class Ask:\n",
            "    def task(self):\n",
            "        return ask('task')  # ask task\n",
            "task = f'{ask} task'\n",
        ],
    ),
    (
        "rs",
        &[
            "impl Task for Ask {\n",
            "    fn task(&self) -> ask::Ask {\n",
            "        r#\"task\" ask\"#.task('a') // ask\n",
            "    }\n",
            "}\n",
            "/* task /* ask */ task */ const ASK: u8 = 1;\n",
        ],
    ),
    (
        "md",
        &["# Task\n", "ask `task` ask\n", "```c\n", "task\n", "```\n"],
    ),
    ("none", &["task ask\n", "ask\n"]),
];

const PATTERNS: [&str; 8] = [
    "task", "ask", "[ta]s?k", r"a\w*k", "t.*k", r"\bask\b", "^task", "k$",
];

const PARENTS: [&str; 3] = ["", "ask", "^Task$"];

#[derive(Clone, Debug)]
enum Shape {
    One(Pattern),
    All(Pattern, Pattern),
    But(Pattern, Pattern),
    OnLine(Pattern, Pattern),
}

fn corpora() -> impl Strategy<Value = Corpus> {
    let line = (any::<prop::sample::Index>(), 0..40_u8);
    let file = (0..LINES.len(), prop::collection::vec(line, 0..40));
    let package = prop::collection::vec(file, 1..6);
    prop::collection::vec(package, 1..4).prop_map(|packages| {
        let text = |(language, lines): (usize, Vec<(prop::sample::Index, u8)>)| {
            let (extension, known) = LINES[language];
            let line = |(index, odd): &(prop::sample::Index, u8)| match odd {
                0 => "\"task 'ask\n",
                1 => "}}}} task\n",
                _ => index.get(known),
            };
            (extension, lines.iter().map(line).collect::<String>())
        };
        let package = |files: Vec<_>| {
            let numbered = files.into_iter().map(text).enumerate();
            let named = numbered.map(|(number, (extension, text))| {
                let path = format!("src/{number}.{extension}");
                (path.into_bytes(), text.into_bytes())
            });
            named.collect()
        };
        packages.into_iter().map(package).collect()
    })
}

fn patterns() -> impl Strategy<Value = Pattern> {
    let role = prop_oneof![Just(Role::Any), Just(Role::Definition), Just(Role::Use)];
    let kinds = prop_oneof![
        2 => Just(0),
        1 => Just(1 << Kind::Function as u32 | 1 << Kind::Method as u32),
        1 => Just(Kind::bits_of("type").unwrap()),
    ];
    let place = (role, 0..16_u32, kinds, prop::sample::select(&PARENTS[..]));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let parts = (prop::sample::select(&PATTERNS[..]), place, flags);
    parts.prop_map(|(text, (role, classes, kinds, parent), flags)| {
        let (ignore_case, is_whole, is_literal) = flags;
        let is_definition = role == Role::Definition;
        let is_literal = is_literal && text.bytes().all(|byte| byte.is_ascii_alphabetic());
        Pattern {
            text: text.to_owned(),
            syntax: if is_literal {
                Syntax::Literal
            } else {
                Syntax::Regexp
            },
            ignore_case,
            word: is_definition && is_whole,
            in_path: false,
            place: Place {
                classes: if is_definition { 0 } else { classes },
                role,
                kinds: if is_definition { kinds } else { 0 },
                parent: if is_definition {
                    parent.to_owned()
                } else {
                    String::new()
                },
            },
        }
    })
}

fn shapes() -> impl Strategy<Value = Shape> {
    let two = || (patterns(), patterns());
    prop_oneof![
        3 => patterns().prop_map(Shape::One),
        1 => two().prop_map(|(a, b)| Shape::All(a, b)),
        1 => two().prop_map(|(a, b)| Shape::But(a, b)),
        1 => two().prop_map(|(a, b)| Shape::OnLine(a, b)),
    ]
}

proptest! {
    #![proptest_config(crate::cases(32))]

    #[test]
    fn finds_what_a_naive_pass_finds(
        corpus in corpora(),
        how in builds(),
        shapes in prop::collection::vec(shapes(), 8),
    ) {
        let built = Built::new(&corpus, how);
        let documents = naive::documents(&built.source());
        for shape in shapes {
            check(&built, &documents, &shape);
        }
    }
}

#[test]
fn searches_of_places_name_texts_with_gaps_in_their_symbols() {
    let keys = format!("{}zeta=\n", "a=\n".repeat(DEFINITIONS_MAX));
    let file = |path: &str, text: String| (path.into(), text.into_bytes());
    let files = vec![file("a.c", "int beta;\n".into()), file("many.ini", keys)];
    let how = Build {
        block_bytes: 4096,
        shard_bytes: u64::MAX,
        content: ContentCodec::Raw,
    };
    let built = Built::new(&vec![files], how);
    let found = |text: &str, role| {
        let pattern = Pattern {
            text: text.to_owned(),
            word: true,
            place: Place {
                role,
                ..Place::default()
            },
            ..Pattern::default()
        };
        let compiled = CompiledQuery::new(&Expr::Pattern(pattern), false).unwrap();
        let found = find(&built.index.shards, &compiled, How::all(0));
        (found.ends[0].found, found.ends[0].skipped)
    };
    assert_eq!(found("zeta", Role::Definition), (0, 1));
    assert_eq!(found("zeta", Role::Use), (1, 1));
    assert_eq!(found("zeta", Role::Any), (1, 0));
    assert_eq!(found("beta", Role::Definition), (1, 0));
}

impl Shape {
    fn expr(&self) -> Expr {
        let pattern = |it: &Pattern| Expr::Pattern(it.clone());
        match self {
            Shape::One(one) => pattern(one),
            Shape::All(a, b) => Expr::all([pattern(a), pattern(b)]),
            Shape::But(a, b) => Expr::all([pattern(a), pattern(b).negated()]),
            Shape::OnLine(a, b) => Expr::Line(Box::new(Expr::all([pattern(a), pattern(b)]))),
        }
    }

    /// Numbers of matching lines, from 1.
    fn lines(&self, document: &Document) -> BTreeSet<u32> {
        let symbols = Symbols::of(Language::of(&document.path, &document.text), &document.text);
        let lines = |pattern: &Pattern| -> BTreeSet<u32> {
            let numbered = (1..).zip(document.lines());
            let matching =
                numbered.filter(|(_, line)| matches(pattern, line, &document.text, &symbols));
            matching.map(|(number, _)| number).collect()
        };
        match self {
            Shape::One(one) => lines(one),
            Shape::OnLine(a, b) => &lines(a) & &lines(b),
            Shape::But(a, b) if lines(b).is_empty() => lines(a),
            Shape::All(a, b) if !lines(a).is_empty() && !lines(b).is_empty() => {
                &lines(a) | &lines(b)
            }
            Shape::But(..) | Shape::All(..) => BTreeSet::new(),
        }
    }
}

fn regex(text: &str, ignore_case: bool) -> Regex {
    let mut builder = RegexBuilder::new(text);
    builder.case_insensitive(ignore_case).build().unwrap()
}

fn matches(pattern: &Pattern, line: &naive::Line<'_>, text: &[u8], symbols: &Symbols) -> bool {
    let (start, end) = (line.offset, line.offset + line.body.len());
    let place = &pattern.place;
    let names = |it: &Definition| it.name.start as usize..it.name.end as usize;
    if place.role == Role::Definition {
        let expression = match pattern.word {
            true => format!("^(?:{})$", pattern.text),
            false => pattern.text.clone(),
        };
        let name = regex(&expression, pattern.ignore_case);
        let mut definitions = symbols.definitions.iter();
        return definitions.any(|it| {
            let is_here = (start..end).contains(&names(it).start);
            let is_of_kind = place.kinds == 0 || place.kinds >> it.kind as u32 & 1 == 1;
            let parent = match &it.parent {
                Parent::None => None,
                Parent::Name(name) => Some(name.start as usize..name.end as usize),
                Parent::Definition(index) => Some(names(&symbols.definitions[*index as usize])),
            };
            let has_parent = place.parent.is_empty()
                || parent.is_some_and(|name| regex(&place.parent, true).is_match(&text[name]));
            is_here && is_of_kind && has_parent && name.is_match(&text[names(it)])
        });
    }
    let found = regex(&pattern.text, pattern.ignore_case);
    let mut found = found.find_iter(line.body);
    found.any(|found| {
        let range = start + found.start()..start + found.end();
        let has_class = place.classes == 0
            || range
                .clone()
                .all(|at| place.classes >> class_of(symbols, at) as u32 & 1 == 1);
        let is_name =
            |it: &Definition| names(it).start <= range.start && range.end <= names(it).end;
        has_class && (place.role != Role::Use || !symbols.definitions.iter().any(is_name))
    })
}

fn class_of(symbols: &Symbols, at: usize) -> Class {
    let is_in = |range: &Range<u32>| range.contains(&(at as u32));
    let run = symbols.runs.iter().find(|run| is_in(&run.range));
    run.map_or(symbols.class, |run| run.class)
}

fn check(built: &Built, documents: &[Document], shape: &Shape) {
    let expr = shape.expr();
    let compiled = CompiledQuery::new(&expr, false).unwrap_or_else(|bad| panic!("{expr:?}: {bad}"));
    let how = How::all(1);
    let all = find_alike(built, &compiled, how);
    let mut found: BTreeMap<_, BTreeSet<u32>> = BTreeMap::new();
    for batch in all.batches() {
        let numbers = batch.matches().map(|line| line.number);
        found.entry(batch.name()).or_default().extend(numbers);
    }
    for document in documents {
        let (ours, theirs) = (
            found.remove(&document.name()).unwrap_or_default(),
            shape.lines(document),
        );
        assert!(
            ours == theirs,
            "{shape:?} in {}:\n{}found {ours:?}, expected {theirs:?}",
            document.path.escape_ascii(),
            String::from_utf8_lossy(&document.text),
        );
    }
    wants::check(&all, |want, limit| {
        find_alike(built, &compiled, How { want, limit, ..how })
    });
}
