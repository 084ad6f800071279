//! Estimated cost of compiling an expression, before anything is compiled.
//!
//! The unit is a byte of the automaton (NFA); a megabyte takes 15 to 20 ms. Estimates are within a
//! fifth of `regex-automata`, and nearly exact for repeated Unicode classes.
//!
//! **Invariant:** the cost depends on the expression alone, so all backends agree.

use super::pattern::{self, PATTERNS_BYTES_MAX, Recipe, Traits};
use index::filter::FILTER_BYTES_MAX;
use index::plan::BadPattern;
use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind};
use regex_syntax::utf8::Utf8Sequences;
use schema::message::{Expr, Filter, Pattern, Reading};

/// Compile time of a light search: 15 ms.
const LIGHT_TIME_MAX: u64 = 1 << 20;

/// Memory of a light search's patterns. Dozens run at once.
const LIGHT_MEMORY_MAX: u64 = 8 << 20;

/// Below this ripgrep's matcher tries a whole DFA.
const DETERMINIZED_BYTES_MAX: u64 = 150 << 10;

/// Bytes of an automaton with a negligible DFA.
const TINY_BYTES_MAX: u64 = 2 << 10;

/// Time of a whole DFA: `\w+` takes 4 ms, the worst 15.
const DFA_TIME: u64 = 256 << 10;

/// Maximum for such a DFA, both directions.
const DFA_MEMORY: u64 = 1 << 20;

/// Maximum of a one-pass DFA, for groups and Unicode word boundaries.
const ONE_PASS_MEMORY_MAX: u64 = 10 << 20;

/// Growth of a one-pass DFA over the automaton.
const ONE_PASS_GROWTH: u64 = 13;

/// Bytes of a one-pass DFA in the time of one of the automaton.
const ONE_PASS_SPEED: u64 = 10;

/// Automaton bytes per literal byte, ignoring case.
const LITERAL_BYTE: u64 = 80;

/// More large classes of an expression are only counted: each takes 0.3 ms to parse, which is not
/// admitted yet.
const LARGE_CLASSES_MAX: u64 = 8;

const LARGE_CLASS_BYTES: u64 = 50 << 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompileCost {
    time: u64,
    /// Bytes held until the search ends.
    pub(crate) memory: u64,
}

impl CompileCost {
    /// Cost of all patterns and filters, and of the patterns again: those that match in a document
    /// are joined.
    pub(crate) fn of(expr: &Expr) -> CompileCost {
        let patterns = expr.patterns();
        let filters = expr.atoms().into_iter().filter_map(|atom| match atom {
            Expr::Filter(filter) => Some(filter),
            _ => None,
        });
        let filters: Vec<_> = filters.collect();
        let texts = patterns.iter().map(|pattern| &pattern.text);
        let texts = texts.chain(filters.iter().map(|filter| &filter.text));
        let classes: u64 = texts.map(|text| Traits::of(text).large_classes).sum();
        let counts = classes > LARGE_CLASSES_MAX;
        let automata = patterns.into_iter().map(|it| Automaton::of(it, counts));
        let automata: Vec<_> = automata.collect();
        let together = (automata.len() > 1).then(|| Automaton::joined(&automata));
        let filters = filters.into_iter();
        let filters = filters.map(|it| Automaton::of_filter(it, counts));
        let all = automata.iter().copied().chain(together).chain(filters);
        let costs = all.map(Automaton::cost);
        costs.fold(CompileCost::default(), |sum, cost| CompileCost {
            time: sum.time.saturating_add(cost.time),
            memory: sum.memory.saturating_add(cost.memory),
        })
    }

    pub(crate) fn is_heavy(self) -> bool {
        self.time > LIGHT_TIME_MAX || self.memory > LIGHT_MEMORY_MAX
    }

    /// Time as candidate blocks; a light search reads `light_max`.
    pub(crate) fn blocks(self, light_max: u64) -> u64 {
        self.time.saturating_mul(light_max) / LIGHT_TIME_MAX
    }
}

#[derive(Clone, Copy, Debug)]
struct Automaton {
    bytes: u64,
    is_one_pass: bool,
}

impl Automaton {
    /// `counts` large classes instead of parsing them.
    fn of(pattern: &Pattern, counts: bool) -> Automaton {
        if pattern::literal(pattern).is_some() {
            let bytes = LITERAL_BYTE * pattern.text.len() as u64;
            return Automaton::small(bytes);
        }
        if let Some(counted) = counted(&pattern.text, counts) {
            return Automaton::small(counted.min(2 * PATTERNS_BYTES_MAX as u64));
        }
        let recipe = Recipe::new(&[pattern], pattern::is_multiline(pattern));
        Automaton::of_hir(&recipe.hir())
    }

    fn of_hir(hir: &Hir) -> Automaton {
        let properties = hir.properties();
        Automaton {
            // Larger ones are refused while built.
            bytes: nfa_bytes(hir).min(2 * PATTERNS_BYTES_MAX as u64),
            is_one_pass: properties.explicit_captures_len() > 0
                || properties.look_set().contains_word_unicode(),
        }
    }

    fn of_filter(filter: &Filter, counts: bool) -> Automaton {
        let max = FILTER_BYTES_MAX as u64;
        match filter.reading {
            Reading::Exact => Automaton::small(0),
            Reading::Glob => {
                // Compiled twice. A `?` is a Unicode class.
                let bytes = 2 * filter.text.len() as u64 * (1 << 10);
                Automaton::small(bytes.min(2 * max))
            }
            Reading::Regexp | Reading::RegexpIgnoringCase => {
                let bytes = counted(&filter.text, counts).unwrap_or_else(|| {
                    let mut parser = regex_syntax::ParserBuilder::new();
                    parser.case_insensitive(filter.reading == Reading::RegexpIgnoringCase);
                    let hir = parser.build().parse(&filter.text);
                    nfa_bytes(&hir.unwrap_or_else(|_| Hir::fail()))
                });
                Automaton::small(bytes.min(max))
            }
        }
    }

    fn joined(all: &[Automaton]) -> Automaton {
        Automaton {
            bytes: all.iter().map(|it| it.bytes).sum(),
            is_one_pass: all.iter().any(|it| it.is_one_pass),
        }
    }

    fn small(bytes: u64) -> Automaton {
        Automaton {
            bytes,
            is_one_pass: false,
        }
    }

    fn cost(self) -> CompileCost {
        // Forwards and backwards.
        let nfa_memory = self.bytes * 5 / 4;
        let (dfa_time, dfa_memory) = match self.bytes {
            TINY_BYTES_MAX..DETERMINIZED_BYTES_MAX => (DFA_TIME, DFA_MEMORY),
            _ => (0, 0),
        };
        let one_pass = if self.is_one_pass {
            (self.bytes * ONE_PASS_GROWTH).min(ONE_PASS_MEMORY_MAX)
        } else {
            0
        };
        CompileCost {
            time: self.bytes + dfa_time + one_pass / ONE_PASS_SPEED,
            memory: nfa_memory + dfa_memory + one_pass,
        }
    }
}

/// Bytes of large classes, if there are some and only they are counted.
fn counted(text: &str, counts: bool) -> Option<u64> {
    let copies = counts.then(|| Traits::of(text).class_copies);
    let bytes = copies.map(|copies| copies.saturating_mul(LARGE_CLASS_BYTES));
    bytes.filter(|&bytes| bytes > 0)
}

pub(crate) fn check_total_size(patterns: &[&Pattern]) -> Result<(), BadPattern> {
    if patterns.len() < 2 {
        return Ok(());
    }
    // Alternatives share common beginnings.
    let hir = Recipe::new(patterns, true).hir();
    if nfa_bytes(&hir) <= PATTERNS_BYTES_MAX as u64 {
        return Ok(());
    }
    Err(pattern::too_large_together())
}

pub(crate) fn memory_bytes(hir: &Hir) -> u64 {
    Automaton::of_hir(hir).cost().memory
}

/// Bytes of the automaton while built, in the larger direction.
pub(crate) fn nfa_bytes(hir: &Hir) -> u64 {
    let sum = |parts: &[Hir]| parts.iter().map(nfa_bytes).fold(0, u64::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 48,
        HirKind::Literal(literal) => 40 * literal.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) if !class.is_ascii() => unicode_class_bytes(class),
        HirKind::Class(_) => 80,
        HirKind::Capture(capture) => nfa_bytes(&capture.sub) + 64,
        HirKind::Concat(parts) => sum(parts),
        HirKind::Alternation(parts) => sum(parts) + 64 + 16 * parts.len() as u64,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            let copy = nfa_bytes(&repetition.sub) + 8;
            copy.saturating_mul(times.into())
        }
    }
}

/// 14.5 bytes for each byte of the class's UTF-8 sequences (50 kB for `\w`).
fn unicode_class_bytes(class: &ClassUnicode) -> u64 {
    let ranges = class.iter();
    let sequences = ranges.flat_map(|range| Utf8Sequences::new(range.start(), range.end()));
    600 + sequences.map(|each| each.len() as u64).sum::<u64>() * 29 / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::pattern::SizeLimits;
    use schema::message::{Field, Syntax};

    fn pattern(text: &str) -> Pattern {
        Pattern {
            text: text.to_owned(),
            syntax: Syntax::Regexp,
            ..Pattern::default()
        }
    }

    fn cost(text: &str) -> CompileCost {
        CompileCost::of(&Expr::Pattern(pattern(text)))
    }

    /// The estimate replaces a limit of the compiler, so it must be near it.
    #[test]
    fn the_estimate_is_near_what_the_compiler_counts() {
        for text in [
            r"\w{20}",
            r"(?i)\w{30}z12q4\pL{28}",
            r"[\w+]{18}|x",
            r"\d{50}",
            r"[^a]{100}",
            r".{200}",
            r"\p{Han}{100}",
            r"(\w|\d|\s){40}",
            r"(?i)z{9000}",
            r"(ab|cd){1000}",
            r"(a{1,50}){1,50}",
        ] {
            let pattern = pattern(text);
            let recipe = Recipe::new(&[&pattern], false);
            let estimate = nfa_bytes(&recipe.hir());
            let fits = |bytes: u64| {
                let limits = SizeLimits {
                    bytes: bytes as usize,
                    ..SizeLimits::FOR_ALL
                };
                recipe.build(&[&pattern], limits).is_ok()
            };
            assert!(fits(estimate * 8 / 5), "{text}: {estimate}");
            assert!(!fits(estimate / 2), "{text}: {estimate}");
        }
    }

    #[test]
    fn what_people_search_for_is_light() {
        for text in [
            "TCP_NODELAY",
            r"\bfoo\b",
            r"^\s*#\s*include",
            r"foo\w+\(",
            r"(?i)static\s+(int|char)\s+\w+",
            "(get|set)[A-Z][a-z]+",
            "[^,]*, [^,]*",
            r"(\w+) = (\w+)",
            ".{80}",
        ] {
            assert!(!cost(text).is_heavy(), "{text}: {:?}", cost(text));
        }
    }

    #[test]
    fn what_takes_long_to_compile_is_heavy() {
        for text in [r"\w{200}", r"(?i)\w{30}z1234q4\pL{28}", r"(\w{100})"] {
            assert!(cost(text).is_heavy(), "{text}: {:?}", cost(text));
        }
        let many =
            Expr::all((0..20).map(|number| Expr::Pattern(pattern(&format!(r"\w+{number}")))));
        assert!(CompileCost::of(&many).is_heavy());
        let filter = |number| {
            Expr::Filter(Filter {
                field: Field::Path,
                reading: Reading::Regexp,
                text: format!(r"\w{{15}}{number}"),
            })
        };
        assert!(CompileCost::of(&Expr::all((0..20).map(filter))).is_heavy());
        // Counted: classes are not parsed.
        let of_many = |times| {
            let pattern = |number| pattern(&format!(r"(?i)(\w{{{times}}}z{number}){{2}}"));
            let patterns = (0..12).map(|number| Expr::Pattern(pattern(number)));
            CompileCost::of(&Expr::all(patterns)).memory
        };
        assert_eq!(of_many(100), 10 * of_many(10));
        for class in [r"\pL", r"[\w-]", r"\w"] {
            let text = format!("(?i){}", class.repeat(600));
            assert!(cost(&text).is_heavy(), "{text}");
        }
        let blocks = cost(r"\w{200}").blocks(8192);
        assert!(blocks > 8192, "{blocks}");
    }
}
