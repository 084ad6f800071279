//! Random queries: literals cut out of the corpus, changed ones, and regular expressions.
//!
//! Every query has two patterns, one for the backend and one for the naive scan. They differ in one
//! point: no class of the backend matches `\r` or `\n`, as in ripgrep, and `regex` has no such
//! option. So the naive pattern says it explicitly: `[^a]` becomes `[^a\r\n]`, and `\s` becomes
//! `[\s--[\r\n]]`. No tested code makes one from the other.

use crate::naive::Document;
use proptest::prelude::*;
use proptest::sample::Index;
use schema::message::{Pattern, Syntax};

/// A query, for the backend and for the naive scan.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) pattern: Pattern,
    pub(crate) naive: String,
}

/// A query that depends on the corpus.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    /// Bytes of a document: which, from where, how many, and how they are changed.
    Cut {
        document: Index,
        start: Index,
        bytes: usize,
        change: Change,
    },
    /// A regular expression.
    Expression(Both),
}

/// How a literal is changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    None,
    SwapCase,
    /// Adds a character in front.
    Prefix(char),
    /// Adds a character at the end.
    Suffix(char),
}

/// A regular expression, for the backend and for the naive scan.
type Both = (String, String);

/// Generates recipes, and whether case is ignored.
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
    /// Returns the query for a corpus of `documents`.
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

/// Returns up to `bytes` bytes of a line of `text`, at least one.
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

/// Returns a query for these bytes: a literal if they are UTF-8, else an expression with escapes.
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

/// Expressions that match no line end anyway; they are the same for both.
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

/// Expressions that would match a line end, and the same without.
const DIFFERENT: [(&str, &str); 9] = [
    ("[^a]", r"[^a\r\n]"),
    ("[^abkst ]", r"[^abkst \r\n]"),
    (r"\W", r"[\W--[\r\n]]"),
    (r"\s", r"[\s--[\r\n]]"),
    (r"\D", r"[\D--[\r\n]]"),
    (r"\PL", r"[\PL--[\r\n]]"),
    ("(?-u:[^a])", r"(?-u:[^a\r\n])"),
    (r"[\t-\r ]", r"[\t\x0b\x0c ]"),
    // Not a class: the end of the line, which is the end of the text for the naive scan.
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
