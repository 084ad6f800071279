//! Bounds for any text of any language.

use super::{SIGNS, syntaxes};
use crate::Language;
use crate::lexer::{Colour, ColouredParts, LineState, Syntax};
use crate::symbols::{Class, Run, Symbols};
use proptest::prelude::*;

/// Bytes of a state; a text may have many.
const STATE_BYTES_MAX: usize = 40;

fn pieces(syntax: &Syntax) -> Vec<&'static str> {
    let family = syntax.family;
    let quotes = family.quotes.iter();
    let signs = quotes.flat_map(|quote| [quote.open, quote.close]);
    let holes = family.quotes.iter().flat_map(|quote| quote.holes);
    let words = family.words.iter();
    let words = words.flat_map(|(_, words)| words.split(' ').take(8));
    let more = [
        "\n", "\r\n", "f\"", "s{", "m/", "y", "<<~A", "<<'A'", "<?", "?>", "((", "))", "$(", "%r{",
        "__END__", "a", "1.5e3",
    ];
    let all = signs.chain(holes.map(|hole| hole.open)).chain(words);
    let all = all.chain(SIGNS.iter().copied()).chain(more);
    all.collect()
}

/// Runs of a text, each line lexed from a kept state.
fn restarted(syntax: &Syntax, text: &[u8]) -> Vec<Run> {
    let (mut state, mut start) = (syntax.begin_of(text), 0);
    let mut states = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        states.push((start, content, state));
        state = syntax.line(content, state, &mut ColouredParts::new());
        start += line.len();
    }
    let mut runs: Vec<Run> = Vec::new();
    for (start, content, state) in states.into_iter().rev() {
        let mut parts = ColouredParts::new();
        syntax.line(content, state, &mut parts);
        for (part, colour) in parts.into_iter().rev() {
            let class = match colour {
                Colour::Comment => Class::Comment,
                Colour::String if syntax.class() == Class::Code => Class::String,
                _ => continue,
            };
            let range = (start + part.start) as u32..(start + part.end) as u32;
            let is_blank = |end: u32, start: u32| {
                let between = &text[end as usize..start as usize];
                between.iter().all(u8::is_ascii_whitespace)
            };
            match runs.last_mut() {
                Some(next) if next.class == class && is_blank(range.end, next.range.start) => {
                    next.range.start = range.start;
                }
                _ => runs.push(Run { range, class }),
            }
        }
    }
    runs.reverse();
    runs
}

fn check(name: &str, text: &[u8]) {
    let (language, syntax) = (Language::named(name), Syntax::of(name));
    let symbols = Symbols::of(language, text);
    let mut end = 0;
    for run in &symbols.runs {
        assert!(
            end <= run.range.start && run.range.start < run.range.end,
            "{name}"
        );
        end = run.range.end;
    }
    assert!(end as usize <= text.len(), "{name}");
    for it in &symbols.definitions {
        assert!(
            it.name.start < it.name.end && it.name.end <= it.end,
            "{name}"
        );
        assert!(it.end as usize <= text.len(), "{name}");
    }
    if let Some(syntax) = syntax {
        assert_eq!(symbols.runs, restarted(syntax, text), "{name}");
    }
}

#[test]
fn states_are_small() {
    assert!(size_of::<LineState>() <= STATE_BYTES_MAX);
}

proptest! {
    #[test]
    fn any_bytes_of_any_language_have_runs_inside(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for (name, _) in syntaxes() {
            check(name, &bytes);
        }
    }

    #[test]
    fn any_signs_of_a_language_have_runs_inside(
        chosen in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
    ) {
        for (name, syntax) in syntaxes() {
            let pieces = pieces(syntax);
            let text: String = chosen.iter().map(|index| *index.get(&pieces)).collect();
            check(name, text.as_bytes());
        }
    }
}
