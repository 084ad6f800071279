//! Random queries: literals from the corpus, changed ones, and regular expressions.
//!
//! Each has a pattern for the backend and one for the naive scan. No class of the backend matches
//! `\r` or `\n`, as in ripgrep, so the naive pattern says so: `[^a]` becomes `[^a\r\n]`, and `\s`
//! becomes `[\s--[\r\n]]`. Tested code makes neither from the other.

use crate::naive::Document;
use proptest::prelude::*;
use proptest::sample::Index;
use schema::message::{Pattern, Syntax};

/// For the backend and for the naive scan.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) pattern: Pattern,
    pub(crate) naive: String,
}

/// Query that depends on the corpus.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    /// Bytes of a document, changed.
    Cut {
        document: Index,
        start: Index,
        bytes: usize,
        change: Change,
    },
    Expression(Both),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    None,
    SwapCase,
    Prefix(char),
    Suffix(char),
}

/// For the backend and for the naive scan.
type Both = (String, String);

/// Recipes, and true for ignored case.
pub(crate) fn recipes() -> impl Strategy<Value = (Recipe, bool)> {
    let change = prop_oneof![
        4 => Just(Change::None),
        1 => Just(Change::SwapCase),
        1 => prop::sample::select(vec!['a', 'k', ' ']).prop_map(Change::Prefix),
        1 => prop::sample::select(vec!['s', 'ſ', ';']).prop_map(Change::Suffix),
    ];
    let cut = (any::<Index>(), any::<Index>(), 1..12_usize, change);
    let cut = cut.prop_map(|(document, start, bytes, change)| Recipe::Cut {
        document,
        start,
        bytes,
        change,
    });
    let recipe = prop_oneof![2 => cut, 3 => expressions().prop_map(Recipe::Expression)];
    (recipe, any::<bool>())
}

impl Recipe {
    pub(crate) fn query(&self, documents: &[Document], ignore_case: bool) -> Query {
        let (text, syntax, naive) = match self {
            Recipe::Expression((text, naive)) => (text.clone(), Syntax::Regexp, naive.clone()),
            Recipe::Cut {
                document,
                start,
                bytes,
                change,
            } => {
                let text = if documents.is_empty() {
                    b""
                } else {
                    document.get(documents).text.as_slice()
                };
                literal(change.apply(cut(text, start, *bytes)))
            }
        };
        let pattern = Pattern {
            text,
            syntax,
            ignore_case,
            ..Pattern::default()
        };
        Query { pattern, naive }
    }
}

/// Up to `bytes` bytes of a line, at least one.
fn cut(text: &[u8], start: &Index, bytes: usize) -> Vec<u8> {
    let start = if text.is_empty() {
        0
    } else {
        start.index(text.len())
    };
    let is_end = |byte: &u8| *byte == b'\r' || *byte == b'\n';
    let line = text[start..].split(is_end).find(|line| !line.is_empty());
    line.map_or(b"a".to_vec(), |line| line[..line.len().min(bytes)].to_vec())
}

impl Change {
    fn apply(self, mut literal: Vec<u8>) -> Vec<u8> {
        match self {
            Change::None => {}
            Change::SwapCase => literal.iter_mut().for_each(|byte| {
                if byte.is_ascii_alphabetic() {
                    *byte ^= 0x20;
                }
            }),
            Change::Prefix(more) => literal.splice(..0, more.to_string().bytes()).for_each(drop),
            Change::Suffix(more) => literal.extend(more.to_string().bytes()),
        }
        literal
    }
}

/// Literal for UTF-8, else an expression with escapes.
fn literal(bytes: Vec<u8>) -> (String, Syntax, String) {
    if let Ok(text) = str::from_utf8(&bytes) {
        return (text.to_owned(), Syntax::Literal, regex::escape(text));
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(&regex::escape(chunk.valid()));
        let invalid = chunk.invalid().iter();
        text.extend(invalid.map(|byte| format!(r"(?-u:\x{byte:02x})")));
    }
    (text.clone(), Syntax::Regexp, text)
}

/// Expressions that match no line end, for both.
const SAME: [&str; 31] = [
    "ſ",
    "\u{212a}",
    "é",
    "ß",
    r"\t",
    " ",
    ";",
    "_",
    "[abc]",
    "[a-k]",
    "[sſ]",
    "[k-t]{2}",
    r"\w",
    r"\S",
    r"\d",
    r"\pL",
    r"[[:upper:]]",
    ".",
    "(?-u:.)",
    r"(?-u:\xff)",
    r"(?-u:\xe9)",
    r"(?-u:[\x80-\xff])",
    r"(?-u:\w)",
    r"\x00",
    "^",
    "$",
    r"\b",
    r"\B",
    r"(?-u:\b)",
    r"\b{start}",
    r"\A",
];

/// Expressions that would match a line end, and without.
const DIFFERENT: [(&str, &str); 9] = [
    ("[^a]", r"[^a\r\n]"),
    ("[^abkst ]", r"[^abkst \r\n]"),
    (r"\W", r"[\W--[\r\n]]"),
    (r"\s", r"[\s--[\r\n]]"),
    (r"\D", r"[\D--[\r\n]]"),
    (r"\PL", r"[\PL--[\r\n]]"),
    ("(?-u:[^a])", r"(?-u:[^a\r\n])"),
    (r"[\t-\r ]", r"[\t\x0b\x0c ]"),
    // End of the line, for the naive scan of the text.
    (r"\z", r"\z"),
];

fn expressions() -> impl Strategy<Value = Both> {
    let same = |text: String| (text.clone(), text);
    let leaf = prop_oneof![
        4 => "[abkstABKST]{1,4}".prop_map(same),
        1 => Just(same("task".to_owned())),
        4 => prop::sample::select(&SAME[..]).prop_map(move |text| same(text.to_owned())),
        2 => prop::sample::select(&DIFFERENT[..]).prop_map(|(a, b)| (a.to_owned(), b.to_owned())),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        let parts = prop::collection::vec(inner.clone(), 1..5);
        let times = prop::sample::select(vec!["*", "+", "?", "{2}", "{1,3}", "{3,}", "{0}", "*?"]);
        prop_oneof![
            3 => parts.clone().prop_map(|parts| join(&parts, "", "", "")),
            2 => parts.prop_map(|parts| join(&parts, "(", "|", ")")),
            2 => (inner.clone(), times)
                .prop_map(|(inner, times)| join(&[inner], "(?:", "", &format!("){times}"))),
            1 => inner.prop_map(|inner| join(&[inner], "(?i:", "", ")")),
        ]
    })
}

fn join(parts: &[Both], before: &str, between: &str, behind: &str) -> Both {
    let join = |parts: Vec<&str>| format!("{before}{}{behind}", parts.join(between));
    (
        join(parts.iter().map(|part| &part.0[..]).collect()),
        join(parts.iter().map(|part| &part.1[..]).collect()),
    )
}
