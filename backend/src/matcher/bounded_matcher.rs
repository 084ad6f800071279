//! Finds a pattern in texts of any length, and can be stopped at any time.
//!
//! Plain text needs no regular expression ([`Literal`]), unless case does not matter and candidates
//! are many. ripgrep's matcher takes a short text in one call of up to 10 ms, a long one is matched
//! step by step ([`long_line`](super::long_line)). Short is up to 64 KiB, depending on the pattern.

use super::compiler::Compiler;
use super::literal::{Literal, RANGE_BYTES_MAX};
use super::long_line::{Answer, Buffers, Effort, GivenUp, LINE_STEPS_MAX, Program};
use super::pattern::{self, Recipe, SizeLimits, infallible};
use grep_matcher::{LineMatchKind, Matcher};
use grep_regex::RegexMatcher;
use index::plan::BadPattern;
use regex_automata::Input;
use schema::message::Pattern;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Whole lines searched in one call.
const PIECE_BYTES_MAX: usize = 64 << 10;

/// A whole text matched in one call.
const WHOLE_BYTES_MAX: usize = 1 << 20;

/// For patterns that are not light.
const CALL_STEPS_MAX: usize = 1 << 19;

/// Highest [weight](pattern::weight) of a light pattern: below a microsecond a byte, and nearly
/// always a nanosecond.
const LIGHT_WEIGHT_MAX: usize = 16;

/// Above 1 MiB of text without regard to case, ripgrep's matcher is worth its compilation.
const FEW_BLOCKS_MAX: u64 = 256;

/// Searched for a literal at a time. Unit tests have short texts.
const LITERAL_BYTES: usize = if cfg!(test) { 600 } else { 1 << 20 };

const LITERAL_BYTES_A_STEP: usize = 64;

pub(crate) struct BoundedMatcher {
    fast: Fast,
    piece_bytes: usize,
    /// For long texts; most searches meet none.
    long: Arc<LongProgram>,
    /// Used by one thread at a time.
    buffers: Mutex<Option<Box<Buffers>>>,
}

#[derive(Clone)]
enum Fast {
    Regex(RegexMatcher),
    /// Plain text; the regular expression is equivalent.
    Literal {
        literal: Arc<Literal>,
        is_brief: bool,
        limits: SizeLimits,
        regex: OncePerCopy<RegexMatcher>,
    },
}

/// Matcher made once on demand. Each copy has a clone with its own caches.
#[derive(Debug)]
pub(crate) struct OncePerCopy<T> {
    shared: Arc<OnceLock<T>>,
    own: OnceLock<T>,
}

impl<T: Clone> OncePerCopy<T> {
    pub(crate) fn get(&self, make: impl FnOnce() -> T) -> &T {
        self.own
            .get_or_init(|| self.shared.get_or_init(make).clone())
    }
}

impl<T> Default for OncePerCopy<T> {
    fn default() -> Self {
        OncePerCopy {
            shared: Arc::default(),
            own: OnceLock::new(),
        }
    }
}

impl<T> Clone for OncePerCopy<T> {
    fn clone(&self) -> Self {
        OncePerCopy {
            shared: Arc::clone(&self.shared),
            own: OnceLock::new(),
        }
    }
}

struct LongProgram {
    recipe: Recipe,
    program: OnceLock<Program>,
}

impl BoundedMatcher {
    /// Matches any of `patterns` in lines, or with `multiline` in whole texts.
    pub(crate) fn new(
        patterns: &[&Pattern],
        multiline: bool,
        compiler: &Compiler,
    ) -> Result<BoundedMatcher, BadPattern> {
        let recipe = Recipe::new(patterns, multiline);
        let limits = compiler.limits;
        let bytes_max = if multiline {
            WHOLE_BYTES_MAX
        } else {
            PIECE_BYTES_MAX
        };
        let (fast, weight) = match text_to_find(patterns, multiline) {
            Some((pattern, literal)) => (
                Fast::literal(literal, limits),
                pattern::literal_weight(&pattern.text, pattern.ignore_case),
            ),
            None => {
                let hir = recipe.hir();
                let fast = match Literal::of(&hir).filter(|_| !multiline) {
                    Some(literal) => Fast::literal(literal, limits),
                    None => Fast::Regex(compiler.compile(&recipe, patterns)?),
                };
                (fast, pattern::weight(&hir))
            }
        };
        let piece_bytes = match weight {
            0..=LIGHT_WEIGHT_MAX => bytes_max,
            weight => (CALL_STEPS_MAX / weight).min(bytes_max),
        };
        Ok(BoundedMatcher {
            fast,
            piece_bytes,
            long: Arc::new(LongProgram {
                recipe,
                program: OnceLock::new(),
            }),
            buffers: Mutex::new(None),
        })
    }

    pub(crate) fn for_blocks(&self, blocks: u64) -> BoundedMatcher {
        let mut copy = self.clone();
        if let Fast::Literal { is_brief, .. } = &mut copy.fast {
            *is_brief = blocks <= FEW_BLOCKS_MAX;
        }
        copy
    }

    /// True if one long line may take a second or more.
    pub(crate) fn is_slow(&self, blocks: u64) -> bool {
        let is_regex = match &self.fast {
            Fast::Regex(_) => true,
            Fast::Literal { literal, .. } => literal.is_slow() && blocks > FEW_BLOCKS_MAX,
        };
        is_regex && self.piece_bytes < PIECE_BYTES_MAX
    }

    pub(crate) fn piece_bytes(&self) -> usize {
        // A literal takes less than a nanosecond a byte.
        match self.literal() {
            Some(_) => PIECE_BYTES_MAX,
            None => self.piece_bytes,
        }
    }

    pub(crate) fn literal(&self) -> Option<&Literal> {
        match &self.fast {
            Fast::Literal {
                literal, is_brief, ..
            } => Some(&**literal).filter(|it| *is_brief || !it.is_slow()),
            Fast::Regex(_) => None,
        }
    }

    fn regex(&self) -> &RegexMatcher {
        match &self.fast {
            Fast::Regex(regex) => regex,
            Fast::Literal { limits, regex, .. } => regex.get(|| {
                let regex = self.long.recipe.build(&[], *limits);
                regex.expect("a short text is within the limits")
            }),
        }
    }

    /// False for `\A` or `\z`, which match at the ends of each line.
    pub(crate) fn searches_several_lines(&self) -> bool {
        self.literal().is_some() || self.regex().line_terminator().is_some()
    }

    /// Offset in the next possible line of a short text.
    pub(crate) fn find_candidate_line(&self, text: &[u8]) -> Option<LineMatchKind> {
        match self.literal() {
            Some(literal) => {
                let found = literal.find(text, 0)?;
                Some(LineMatchKind::Confirmed(found.start))
            }
            None => infallible(self.regex().find_candidate_line(text)),
        }
    }

    pub(crate) fn is_match_in_short(&self, text: &[u8]) -> bool {
        match self.literal() {
            Some(literal) => literal.find(text, 0).is_some(),
            None => pattern::is_match(self.regex(), text),
        }
    }

    pub(crate) fn is_match(&self, text: &[u8], effort: &mut Effort<'_>) -> Result<bool, GivenUp> {
        if text.len() <= self.piece_bytes() {
            return Ok(self.is_match_in_short(text));
        }
        effort.left = LINE_STEPS_MAX;
        if let Some(literal) = self.literal() {
            return Ok(find_in_pieces(literal, text, 0, effort)?.is_some());
        }
        let input = Input::new(text).earliest(true);
        Ok(self.find_long(input, true, effort)?.is_some())
    }

    /// Leftmost match from `at` on. The first search of a text is `first`.
    pub(crate) fn find(
        &self,
        text: &[u8],
        at: usize,
        first: bool,
        effort: &mut Effort<'_>,
    ) -> Answer {
        if at > text.len() {
            return Ok(None);
        }
        if let Some(literal) = self.literal() {
            return find_in_pieces(literal, text, at, effort);
        }
        if text.len() <= self.piece_bytes() {
            let found = infallible(self.regex().find_at(text, at));
            return Ok(found.map(|found| found.start()..found.end()));
        }
        self.find_long(Input::new(text).range(at..), first, effort)
    }

    fn find_long(&self, input: Input<'_>, first: bool, effort: &mut Effort<'_>) -> Answer {
        let program = self.long.program();
        let Some(at) = program.first_prefix(input.haystack(), input.start(), effort)? else {
            return Ok(None);
        };
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let buffers = buffers.get_or_insert_with(|| Box::new(program.buffers()));
        if first {
            buffers.begin(program);
        }
        program.find(buffers, &input.range(at..), effort)
    }
}

fn find_in_pieces(
    literal: &Literal,
    text: &[u8],
    mut at: usize,
    effort: &mut Effort<'_>,
) -> Answer {
    while text.len().saturating_sub(at) > LITERAL_BYTES + RANGE_BYTES_MAX {
        effort.spend((LITERAL_BYTES / LITERAL_BYTES_A_STEP) as u64)?;
        if effort.is_stopped() {
            return Err(GivenUp);
        }
        let next = at + LITERAL_BYTES;
        // A range of this piece ends before the last byte, so its next byte is known.
        match literal.find(&text[..next + RANGE_BYTES_MAX], at) {
            Some(found) if found.start < next => return Ok(Some(found)),
            _ => at = next,
        }
    }
    Ok(literal.find(text, at))
}

fn text_to_find<'p>(patterns: &[&'p Pattern], multiline: bool) -> Option<(&'p Pattern, Literal)> {
    let [pattern] = *patterns else {
        return None;
    };
    let text = pattern::literal(pattern).filter(|_| !multiline && !pattern.word)?;
    Some((pattern, Literal::new(text, pattern.ignore_case)?))
}

impl Fast {
    fn literal(literal: Literal, limits: SizeLimits) -> Fast {
        Fast::Literal {
            literal: Arc::new(literal),
            is_brief: false,
            limits,
            regex: OncePerCopy::default(),
        }
    }
}

impl LongProgram {
    fn program(&self) -> &Program {
        let compile = || Program::new(&self.recipe.hir());
        self.program.get_or_init(compile)
    }
}

impl Clone for BoundedMatcher {
    fn clone(&self) -> Self {
        BoundedMatcher {
            fast: self.fast.clone(),
            piece_bytes: self.piece_bytes,
            long: self.long.clone(),
            buffers: Mutex::new(None),
        }
    }
}

impl fmt::Debug for BoundedMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.long.recipe.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use schema::message::Syntax;

    fn matcher(text: &str, ignore_case: bool, word: bool, multiline: bool) -> BoundedMatcher {
        let pattern = Pattern {
            text: text.to_owned(),
            syntax: Syntax::Regexp,
            ignore_case,
            word,
            ..Pattern::default()
        };
        BoundedMatcher::new(&[&pattern], multiline, &Compiler::default()).unwrap()
    }

    const PATTERNS: &[&str] = &[
        "",
        "a",
        "ab|a|b",
        "a*",
        "a+?b",
        "(a|ab)(c|bcd)?",
        "^a|b$",
        r"\Aa|b\z",
        r"\ba",
        r"a\b",
        r"\Ba",
        r"(?-u)\xc3",
        r"(?-u:\b)a",
        r"\w+",
        r"[^a]",
        r"[^ab]{2,3}$",
        ".",
        "a.{2}b",
        "(?i)é|b{2,}",
        "[ab]*a[ab]{4}",
        r"\b{start}a|b\b{end}",
        "x^",
        "ab c|b",
        r"\bab|cd\w",
        "(?i)ab c",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Lazy DFA and NFA agree with ripgrep's matcher, and no match begins before the first
        /// literal.
        #[test]
        fn long_texts_match_as_short_ones(
            number in 0..PATTERNS.len(),
            pieces in prop::collection::vec(
                prop::sample::select(vec!["a", "b", "ab", "c", " ", "\r", "é", "É", "_", "\n", "d"]),
                0..24,
            ),
            broken in prop::collection::vec((0..40usize, any::<u8>()), 0..2),
            (ignore_case, word, multiline) in any::<(bool, bool, bool)>(),
        ) {
            let mut text = pieces.concat().into_bytes();
            for (at, byte) in broken {
                text.insert(at.min(text.len()), byte);
            }
            if !multiline {
                text.retain(|&byte| byte != b'\n');
            }
            let text = text.as_slice();
            let matcher = matcher(PATTERNS[number], ignore_case, word, multiline);
            let (program, effort) = (matcher.long.program(), &mut Effort::new(&|| false));
            let mut buffers = program.buffers();
            for use_dfa in [true, false] {
                for at in 0..=text.len() {
                    let fast = infallible(matcher.regex().find_at(text, at));
                    let fast = fast.map(|found| found.start()..found.end());
                    if use_dfa {
                        buffers.begin(program);
                    }
                    let input = Input::new(text).range(at..);
                    let found = program.find(&mut buffers, &input, effort).unwrap();
                    prop_assert_eq!(&found, &fast, "at {} with DFA: {}", at, use_dfa);
                    let prefix = program.first_prefix(text, at, effort).unwrap();
                    if let Some(fast) = &fast {
                        prop_assert!(prefix.is_some_and(|first| first <= fast.start), "at {}", at);
                    }
                    let any = program.find(&mut buffers, &input.earliest(true), effort).unwrap();
                    prop_assert_eq!(any.is_some(), fast.is_some(), "{} {}", at, use_dfa);
                }
                // The DFA leaves texts it has not begun.
                buffers = program.buffers();
            }
        }
    }

    #[test]
    fn a_literal_is_found_wherever_pieces_end() {
        let literals = [
            ("Word", Syntax::Literal, false),
            ("kskswordks", Syntax::Literal, true),
            (";$", Syntax::Regexp, false),
            ("w", Syntax::Literal, true),
        ];
        for (text, syntax, ignore_case) in literals {
            let pattern = Pattern {
                text: text.to_owned(),
                syntax,
                ignore_case,
                ..Pattern::default()
            };
            let matcher = BoundedMatcher::new(&[&pattern], false, &Compiler::default());
            // Other letters are searched in few blocks only.
            let matcher = matcher.unwrap().for_blocks(1);
            let literal = matcher.literal().expect("needs no regular expression");
            for at in (0..3 * LITERAL_BYTES).step_by(7) {
                let mut line = vec![b'-'; at];
                // Longest range: letters with cases of three bytes.
                line.extend("Word KſKſWORDKſ;".replace('K', "\u{212a}").bytes());
                line.resize(line.len() + at % 5 * RANGE_BYTES_MAX, b'.');
                let mut effort = Effort::new(&|| false);
                let mut from = 0;
                while let Some(expected) = literal.find(&line, from) {
                    let found = matcher.find(&line, from, true, &mut effort);
                    assert_eq!(found, Ok(Some(expected.clone())), "{text} at {at}");
                    from = expected.end;
                }
                assert_eq!(matcher.find(&line, from, true, &mut effort), Ok(None));
                assert_eq!(matcher.is_match(&line, &mut effort), Ok(from > 0));
            }
        }
    }

    #[test]
    fn a_match_inside_one_long_line_stops_at_once() {
        let matcher = matcher("z{90000,}E", false, false, false);
        let line = b"z".repeat(100_000);
        let looks = std::cell::Cell::new(0);
        let stop = || {
            looks.set(looks.get() + 1);
            looks.get() == 3
        };
        let mut effort = Effort::new(&stop);
        assert_eq!(matcher.is_match(&line, &mut effort), Err(GivenUp));
        assert_eq!(looks.get(), 3, "it is looked at, and obeyed");
        assert!(effort.is_stopped() && !effort.has_given_up);
    }

    #[test]
    fn a_line_that_needs_too_many_steps_is_undecided_every_time() {
        let matcher = matcher("z{20000,}E", false, false, false);
        let line = b"z".repeat(30_000);
        let mut effort = Effort::new(&|| false);
        let mut left = Vec::new();
        for _ in 0..2 {
            assert_eq!(matcher.is_match(&line, &mut effort), Err(GivenUp));
            left.push(effort.left);
            let short = b"a".repeat(30_000);
            assert_eq!(matcher.is_match(&short, &mut effort), Ok(false));
        }
        assert_eq!(
            left[0], left[1],
            "steps do not depend on what was searched before"
        );
    }

    #[test]
    fn most_patterns_are_light() {
        let is_light = |text| matcher(text, false, false, false).piece_bytes == PIECE_BYTES_MAX;
        for text in [
            "TCP_NODELAY",
            r"foo\w+\s*\(",
            "a|b|c",
            ".*x.*",
            r"\d{1,3}\.\d{1,3}",
        ] {
            assert!(is_light(text), "{text}");
        }
        assert!(!is_light("z{90000,}E"));
    }
}
