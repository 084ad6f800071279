//! Time to decide one long line: `cargo bench -p backend --bench long_line`.
//!
//! Patterns are ordinary, then the worst known for each kind of matching. Under `cargo test` lines
//! are short.

use backend::CompiledQuery;
use backend::compiled_query::Strategy;
use backend::line_matcher::LineSearch;
use backend::long_line::{Effort, LINE_STEPS_MAX};
use backend::place::Haystack;
use schema::message::{Expr, Pattern, Syntax};
use std::time::Instant;

const PATTERNS: &[&str] = &[
    "zzE",
    "z+E",
    "z{90000,}E",
    "(?:z|zz|zzz){3000}E",
    "[zy]*y[zy]{500}E",
    r"\bzé+.{50}E",
    r"(?i)\w{200}E",
];

fn main() {
    let is_test = !std::env::args().any(|argument| argument == "--bench");
    let sizes: &[usize] = if is_test {
        &[1000]
    } else {
        &[100_000, 10_000_000]
    };
    println!("     bytes    line   seconds     result  pattern");
    for &bytes in sizes {
        for (kind, line) in [("z", vec![b'z'; bytes]), ("mixed", mixed(bytes))] {
            for pattern in PATTERNS {
                let (seconds, result) = measure(pattern, &line);
                println!("{bytes:>10}  {kind:>6}  {seconds:>8.3}  {result:>9}  {pattern}");
            }
        }
    }
    println!("at most {LINE_STEPS_MAX} steps a line");
}

/// A line of `y` and `z`, with a non-ASCII character in 1000.
fn mixed(bytes: usize) -> Vec<u8> {
    let (mut text, mut seed) = (Vec::new(), 1_u64);
    while text.len() < bytes {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        match seed >> 54 {
            0 => text.extend("é".bytes()),
            top => text.push(if top % 64 == 1 { b'y' } else { b'z' }),
        }
    }
    text
}

fn measure(pattern: &str, line: &[u8]) -> (f64, &'static str) {
    let expr = Expr::Pattern(Pattern {
        text: pattern.to_owned(),
        syntax: Syntax::Regexp,
        ..Pattern::default()
    });
    let query = CompiledQuery::new(&expr, false).expect("the pattern is well formed");
    let Strategy::Lines { matcher, .. } = &query.strategy else {
        unreachable!("the pattern has no line end");
    };
    let started = Instant::now();
    let mut effort = Effort::new(&|| false);
    let found = LineSearch::new(matcher, Haystack::plain(line), 0).next(&mut effort);
    let result = match found {
        Some(_) => "matches",
        None if effort.has_given_up => "given up",
        None => "no match",
    };
    (started.elapsed().as_secs_f64(), result)
}
