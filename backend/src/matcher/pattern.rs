//! Compiles patterns to matchers of a line or of a text.
//!
//! The matcher is ripgrep's, as in `rg -a --crlf`: Unicode, `^` and `$` at lines, `\r\n` ends a
//! line, and no match contains a line end. Patterns with line ends ([`is_multiline`]) are like
//! those of `rg -aU --crlf`.

use super::bad_expr::BadExpr;
use grep_matcher::{Matcher, NoError};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use index::plan::{BadPattern, TrigramQuery};
use regex_syntax::ast::{self, Ast, ClassSetItem, Visitor};
use regex_syntax::hir::literal::{Extractor, Literal};
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
    Repetition,
};
use schema::message::{Expr, Pattern, Role, Syntax};
use std::convert::Infallible;

/// `(?i)\w{200}` would take 13 MB.
pub const PATTERN_BYTES_MAX: usize = 16 << 20;

/// All patterns of a query together.
pub const PATTERNS_BYTES_MAX: usize = 32 << 20;

/// Bytes of lazy DFA states per query and thread.
const DFA_BYTES_MAX: usize = 16 << 20;

const DFA_BYTES_MIN: usize = 1 << 20;

/// Nesting accepted by frontends.
const NESTING_MAX: u32 = 250;

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub(crate) struct SizeLimits {
    pub(crate) bytes: usize,
    pub(crate) dfa_bytes: usize,
}

impl SizeLimits {
    pub(crate) fn for_one_of(patterns: usize) -> SizeLimits {
        SizeLimits {
            bytes: PATTERN_BYTES_MAX,
            dfa_bytes: (DFA_BYTES_MAX / patterns.max(1)).max(DFA_BYTES_MIN),
        }
    }

    /// Limits of a joined matcher. The estimate of
    /// [`check_total_size`](super::compile_cost::check_total_size) may be three times too small.
    pub(crate) const FOR_ALL: SizeLimits = SizeLimits {
        bytes: 4 * PATTERNS_BYTES_MAX,
        dfa_bytes: DFA_BYTES_MAX,
    };
}

impl Default for SizeLimits {
    fn default() -> SizeLimits {
        SizeLimits::for_one_of(1)
    }
}

pub(crate) fn expression(pattern: &Pattern) -> String {
    match pattern.syntax {
        Syntax::Literal => regex_syntax::escape(&pattern.text),
        Syntax::Regexp => pattern.text.clone(),
    }
}

pub(crate) fn literal(pattern: &Pattern) -> Option<&str> {
    let is_literal = pattern.syntax == Syntax::Literal
        || !pattern.text.chars().any(regex_syntax::is_meta_character);
    is_literal.then_some(&pattern.text)
}

/// Literals of a pattern with few: all matches of it.
const EXACT_MAX: usize = 64;

/// Two texts of three forms, with a sign.
const FORMS_MAX: usize = 18;

/// Literals of a pattern with few, such as the normal forms of a text.
pub(crate) fn forms(pattern: &Pattern) -> Vec<String> {
    if let Some(text) = literal(pattern) {
        return vec![text.to_owned()];
    }
    if pattern.text.is_ascii() {
        return Vec::new();
    }
    let texts = exact_literals(pattern, FORMS_MAX).unwrap_or_default();
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

/// All texts that match, if they are few.
fn exact_literals(pattern: &Pattern, most: usize) -> Option<Vec<String>> {
    let mut parser = regex_syntax::ParserBuilder::new();
    let parser = parser.case_insensitive(pattern.ignore_case);
    let hir = parser.build().parse(&pattern.text).ok()?;
    let all = Extractor::new().limit_total(most).extract(&hir);
    let texts = all.literals().filter(|_| all.is_exact())?.iter();
    let text = |literal: &Literal| String::from_utf8(literal.as_bytes().to_vec()).ok();
    texts.map(text).collect()
}

/// Words, at least one defined by any definition of a match.
#[derive(Debug)]
pub struct DefinedWords {
    /// ASCII letters, digits and `_`; case does not matter.
    pub words: Vec<Vec<u8>>,
    /// Blocks with matches in other letters: `ſ` for `s`, the Kelvin sign for `k`.
    pub other_cases: TrigramQuery,
}

impl DefinedWords {
    /// `None` if a match may have other or several words.
    pub(crate) fn of(patterns: &[&Pattern]) -> Option<DefinedWords> {
        let all: Option<Vec<_>> = patterns.iter().map(|pattern| words(pattern)).collect();
        let (words, other_cases): (Vec<_>, Vec<_>) = all?.into_iter().unzip();
        Some(DefinedWords {
            words: words.into_iter().flatten().collect(),
            other_cases: TrigramQuery::or(other_cases),
        })
    }
}

fn words(pattern: &Pattern) -> Option<(Vec<Vec<u8>>, TrigramQuery)> {
    if pattern.place.role == Role::Definition && !pattern.word {
        // A part of a name.
        return None;
    }
    if let (Syntax::Regexp, Some(text)) = (pattern.syntax, pattern.text.strip_prefix("(?i)")) {
        return words(&Pattern {
            text: text.to_owned(),
            ignore_case: true,
            ..pattern.clone()
        });
    }
    let Some(text) = literal(pattern) else {
        let texts = exact_literals(pattern, EXACT_MAX)?;
        let is_ascii = texts.iter().all(|text| text.is_ascii());
        let words: Option<Vec<_>> = texts.iter().map(|text| only_word(text)).collect();
        let mut words: Vec<_> = words.filter(|_| is_ascii)?.into_iter().flatten().collect();
        words.sort_unstable();
        words.dedup();
        return Some((words, TrigramQuery::None));
    };
    let other_cases = if pattern.ignore_case {
        index::plan::plan_other_cases(text)?
    } else {
        TrigramQuery::None
    };
    Some((only_word(text)?.into_iter().collect(), other_cases))
}

/// Lower-case word of a text, if any; `None` if it has several.
fn only_word(text: &str) -> Option<Option<Vec<u8>>> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let words = text.as_bytes().split(|byte| !is_word(byte));
    let mut words = words.filter(|word| !word.is_empty());
    let word = words.next().map(<[u8]>::to_ascii_lowercase);
    words.next().is_none().then_some(word)
}

/// Compiles one of `patterns` patterns: for a line, or for a text if it [is
/// multi-line](is_multiline).
pub fn compile(pattern: &Pattern, patterns: usize) -> Result<RegexMatcher, BadPattern> {
    let limits = SizeLimits::for_one_of(patterns);
    Recipe::new(&[pattern], is_multiline(pattern)).build(&[pattern], limits)
}

/// `NoError` has a value, but is never created.
pub(crate) fn infallible<T>(result: Result<T, NoError>) -> T {
    result.unwrap_or_else(|error| unreachable!("{error}"))
}

/// Calls `compile` with each pattern, in order. An error has its number.
pub(crate) fn each<T>(
    expr: &Expr,
    compile: impl Fn(&Pattern) -> Result<T, BadPattern>,
) -> Result<impl Iterator<Item = T>, BadExpr> {
    let patterns = expr.patterns().into_iter().enumerate();
    let compiled =
        patterns.map(|(number, pattern)| compile(pattern).map_err(|bad| BadExpr::new(number, bad)));
    Ok(compiled.collect::<Result<Vec<_>, _>>()?.into_iter())
}

pub(crate) fn is_match(matcher: &RegexMatcher, text: &[u8]) -> bool {
    infallible(matcher.is_match(text))
}

#[derive(Clone, Debug, Hash, PartialEq, Eq)]
pub(crate) struct Recipe {
    /// Alternatives.
    expressions: Vec<String>,
    ignore_case: bool,
    word: bool,
    multiline: bool,
}

impl Recipe {
    pub(crate) fn new(patterns: &[&Pattern], multiline: bool) -> Recipe {
        let all = |is: fn(&Pattern) -> bool| patterns.iter().all(|pattern| is(pattern));
        let (ignore_case, word) = (all(|it| it.ignore_case), all(|it| it.word));
        let alike = ignore_case == patterns.iter().any(|it| it.ignore_case)
            && word == patterns.iter().any(|it| it.word);
        let render: fn(&Pattern) -> String = if alike { expression } else { with_options };
        Recipe {
            expressions: patterns.iter().map(|pattern| render(pattern)).collect(),
            ignore_case: alike && ignore_case,
            word: alike && word && !patterns.is_empty(),
            multiline,
        }
    }

    pub(crate) fn build(
        &self,
        patterns: &[&Pattern],
        limits: SizeLimits,
    ) -> Result<RegexMatcher, BadPattern> {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .crlf(true)
            .multi_line(true)
            .case_insensitive(self.ignore_case)
            .word(self.word)
            .size_limit(limits.bytes)
            .dfa_size_limit(limits.dfa_bytes);
        if self.multiline {
            builder.line_terminator(None);
        }
        let built = match &self.expressions[..] {
            [] => builder.build(""),
            // Built alone, so that errors refer to it.
            [one] => builder.build(one),
            many => builder.build_many(many).or_else(|error| {
                // A `(?x)` comment may hide the next pattern, or group names may collide.
                let rendered = without_names(many).ok_or(error)?;
                builder.build_many(&rendered)
            }),
        };
        built.map_err(|error| explain(patterns, limits, &error))
    }

    /// Matches nothing if a pattern is malformed.
    pub(crate) fn hir(&self) -> Hir {
        let mut parser = regex_syntax::ParserBuilder::new();
        parser
            .utf8(false)
            .multi_line(true)
            .crlf(true)
            .case_insensitive(self.ignore_case);
        let parse = |text: &String| parser.build().parse(text).unwrap_or_else(|_| Hir::fail());
        let mut hir = match &self.expressions[..] {
            [] => Hir::empty(),
            many => Hir::alternation(many.iter().map(parse).collect()),
        };
        if !self.multiline {
            hir = without_line_ends(&hir);
        }
        if self.word {
            let [start, end] = [Look::WordStartHalfUnicode, Look::WordEndHalfUnicode];
            hir = Hir::concat(vec![Hir::look(start), hir, Hir::look(end)]);
        }
        hir
    }
}

fn without_line_ends(hir: &Hir) -> Hir {
    map_leaves(hir, &|leaf| match leaf.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            let ends = ['\r', '\n'].map(|end| ClassUnicodeRange::new(end, end));
            class.difference(&ClassUnicode::new(ends));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut class = class.clone();
            let ends = [b'\r', b'\n'].map(|end| ClassBytesRange::new(end, end));
            class.difference(&ClassBytes::new(ends));
            Hir::class(Class::Bytes(class))
        }
        _ => leaf.clone(),
    })
}

/// Estimates states active at once: parts count as often as they repeat. A DFA needs few states for
/// a literal.
pub(crate) fn weight(hir: &Hir) -> usize {
    let sum = |parts: &[Hir]| parts.iter().map(weight).fold(0, usize::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => 1 + literal.0.len() / 8,
        HirKind::Class(_) => 2,
        HirKind::Capture(capture) => weight(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1) as usize;
            weight(&repetition.sub).saturating_mul(times)
        }
    }
}

pub(crate) fn literal_weight(text: &str, ignore_case: bool) -> usize {
    if ignore_case {
        // Each letter is a class. The characters between them weigh less.
        2 * text.len()
    } else {
        1 + text.len() / 8
    }
}

/// Removes comments and group names; `None` if malformed.
fn without_names(expressions: &[String]) -> Option<Vec<String>> {
    let mut parser = regex_syntax::ParserBuilder::new();
    parser.utf8(false).multi_line(true).crlf(true);
    let render = |text: &String| {
        let hir = parser.build().parse(text).ok()?;
        Some(map_leaves(&hir, &Hir::clone).to_string())
    };
    expressions.iter().map(render).collect()
}

/// Changes literals, classes and assertions, and removes groups.
fn map_leaves(hir: &Hir, change: &dyn Fn(&Hir) -> Hir) -> Hir {
    let each = |parts: &[Hir]| parts.iter().map(|part| map_leaves(part, change)).collect();
    match hir.kind() {
        HirKind::Capture(capture) => map_leaves(&capture.sub, change),
        HirKind::Concat(parts) => Hir::concat(each(parts)),
        HirKind::Alternation(parts) => Hir::alternation(each(parts)),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(map_leaves(&repetition.sub, change)),
            ..repetition.clone()
        }),
        _ => change(hir),
    }
}

/// Regular expression without assertions such as `^` or `\b`; it matches wherever `expression`
/// does. Unchanged if malformed.
pub(crate) fn without_looks(expression: &str) -> String {
    let mut parser = regex_syntax::ParserBuilder::new();
    parser.utf8(false).multi_line(true).crlf(true);
    let remove = |leaf: &Hir| match leaf.kind() {
        HirKind::Look(_) => Hir::empty(),
        _ => leaf.clone(),
    };
    match parser.build().parse(expression) {
        Ok(hir) => map_leaves(&hir, &remove).to_string(),
        Err(_) => expression.to_owned(),
    }
}

fn with_options(pattern: &Pattern) -> String {
    let flag = if pattern.ignore_case { "(?i)" } else { "(?-i)" };
    let text = expression(pattern);
    if !pattern.word {
        return format!("{flag}{text}");
    }
    let framed = |text: &str| format!(r"{flag}\b{{start-half}}(?:{text})\b{{end-half}}");
    match framed(&text) {
        framed if regex_syntax::parse(&framed).is_ok() => framed,
        // A `(?x)` comment at the end would hide the rest.
        _ => framed(&format!("{text}\n")),
    }
}

/// The planner has already refused malformed expressions.
fn explain(patterns: &[&Pattern], limits: SizeLimits, error: &grep_regex::Error) -> BadPattern {
    use grep_regex::ErrorKind;
    match error.kind() {
        ErrorKind::NotAllowed(what) if what == "\r" => BadPattern {
            at: patterns.iter().find_map(|pattern| pattern.text.find("\\r")),
            ..BadPattern::new("\\r cannot match: a \\r before a line's end is not part of the line")
        },
        ErrorKind::NotAllowed(_) => {
            BadPattern::new("\\n cannot match here: there is no line end on one line")
        }
        _ if !error.to_string().contains("size limit") => BadPattern::new(error.to_string()),
        _ if patterns.len() == 1 => BadPattern::new(format!(
            "the pattern is too large: when compiled it may take {} bytes (PATTERN_BYTES_MAX); use \
             smaller repetitions or (?-u)",
            limits.bytes
        )),
        _ => too_large_together(),
    }
}

pub(crate) fn too_large_together() -> BadPattern {
    BadPattern::new(format!(
        "the patterns are too large: when compiled they may take {PATTERNS_BYTES_MAX} bytes \
         together (PATTERNS_BYTES_MAX); use smaller repetitions or (?-u)"
    ))
}

/// True if a match may span lines: the pattern has a line end, also in a positive class, or the
/// flag `s`.
pub fn is_multiline(pattern: &Pattern) -> bool {
    if pattern.syntax == Syntax::Literal {
        return pattern.text.contains('\n');
    }
    Traits::of(&pattern.text).has_line_end
}

/// Found without parsing classes.
#[derive(Default)]
pub(crate) struct Traits {
    has_line_end: bool,
    /// Number of enclosing negated classes.
    negated: usize,
    /// Unicode classes.
    pub(crate) large_classes: u64,
    /// These classes with repetitions.
    pub(crate) class_copies: u64,
    /// Product of the repetitions that enclose a node, for each of them.
    times: Vec<u64>,
}

impl Traits {
    /// None of an invalid expression.
    pub(crate) fn of(text: &str) -> Traits {
        if !text.chars().any(regex_syntax::is_meta_character) {
            return Traits {
                has_line_end: text.contains('\n'),
                ..Traits::default()
            };
        }
        let mut parser = ast::parse::ParserBuilder::new();
        let parsed = parser.nest_limit(NESTING_MAX).build().parse(text);
        let visited = parsed.map(|ast| ast::visit(&ast, Traits::default()));
        visited.map_or_else(|_| Traits::default(), |Ok(traits)| traits)
    }

    fn visit_flags(&mut self, flags: &ast::Flags) {
        let dot_all = ast::Flag::DotMatchesNewLine;
        self.has_line_end |= flags.flag_state(dot_all) == Some(true);
    }

    fn times(&self) -> u64 {
        self.times.last().copied().unwrap_or(1)
    }

    fn visit_class(&mut self) {
        self.large_classes += 1;
        self.class_copies = self.class_copies.saturating_add(self.times());
    }

    fn visit_perl(&mut self, class: &ast::ClassPerl) {
        if class.kind == ast::ClassPerlKind::Word {
            self.visit_class();
        }
    }
}

impl Visitor for Traits {
    type Output = Traits;
    type Err = Infallible;

    fn finish(self) -> Result<Traits, Infallible> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        match ast {
            Ast::Literal(literal) => self.has_line_end |= literal.c == '\n',
            Ast::Flags(set) => self.visit_flags(&set.flags),
            Ast::Group(group) => group
                .flags()
                .into_iter()
                .for_each(|it| self.visit_flags(it)),
            Ast::ClassBracketed(class) => self.negated += usize::from(class.negated),
            Ast::ClassUnicode(_) => self.visit_class(),
            Ast::ClassPerl(class) => self.visit_perl(class),
            Ast::Repetition(repetition) => {
                let times = self.times().saturating_mul(copies(&repetition.op.kind));
                self.times.push(times);
            }
            _ => {}
        }
        Ok(())
    }

    fn visit_post(&mut self, ast: &Ast) -> Result<(), Infallible> {
        match ast {
            Ast::ClassBracketed(class) => self.negated -= usize::from(class.negated),
            Ast::Repetition(_) => drop(self.times.pop()),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        match item {
            ClassSetItem::Literal(literal) => {
                self.has_line_end |= self.negated == 0 && literal.c == '\n';
            }
            ClassSetItem::Bracketed(class) => self.negated += usize::from(class.negated),
            ClassSetItem::Unicode(_) => self.visit_class(),
            ClassSetItem::Perl(class) => self.visit_perl(class),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_post(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        if let ClassSetItem::Bracketed(class) = item {
            self.negated -= usize::from(class.negated);
        }
        Ok(())
    }
}

fn copies(repetition: &ast::RepetitionKind) -> u64 {
    use ast::RepetitionKind::Range;
    use ast::RepetitionRange::{AtLeast, Bounded, Exactly};
    match repetition {
        Range(Exactly(times) | AtLeast(times) | Bounded(_, times)) => u64::from(*times).max(1),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::line_matcher::plan_pattern as plan;
    use grep_matcher::Matcher;

    fn pattern(text: &str, syntax: Syntax) -> Pattern {
        Pattern {
            text: text.to_owned(),
            syntax,
            ..Pattern::default()
        }
    }

    #[test]
    fn literals_are_escaped() {
        let literal_pattern = pattern("a.c(", Syntax::Literal);
        assert_eq!(
            plan(&literal_pattern).unwrap().to_string(),
            r#"".c(" "a.c""#
        );
        assert_eq!(literal(&literal_pattern), Some("a.c("));
        assert_eq!(literal(&pattern("a.c", Syntax::Regexp)), None);
        assert_eq!(literal(&pattern("abc", Syntax::Regexp)), Some("abc"));
    }

    #[test]
    fn few_texts_of_a_regular_expression_have_known_words() {
        let words = |text, ignore_case| {
            let pattern = Pattern {
                ignore_case,
                ..pattern(text, Syntax::Regexp)
            };
            let words = DefinedWords::of(&[&pattern])?.words;
            Some(
                words
                    .into_iter()
                    .map(|word| String::from_utf8(word).unwrap())
                    .collect::<Vec<_>>(),
            )
        };
        let all = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
        assert_eq!(words("(?i)todo|fixme", false), all(&["fixme", "todo"]));
        assert_eq!(words("(?i)TCP_NODELAY", false), all(&["tcp_nodelay"]));
        assert_eq!(words("a(b|c)\\(", true), all(&["ab", "ac"]));
        assert_eq!(words("todo|fix me", false), None, "two words");
        assert_eq!(words("todo|s", true), None, "the long s is another letter");
        assert_eq!(words("tod.", false), None);
    }

    #[test]
    fn forms_of_a_text_rank_like_the_text() {
        let of = |text| forms(&pattern(text, Syntax::Regexp));
        assert_eq!(of("Caf(?:é|e\\u{301})"), ["Café", "Cafe\u{301}"]);
        assert_eq!(of("(?:’|')–{1,9}"), [""; 0]);
        assert_eq!(of(r"(?:a|b)c"), [""; 0]);
        assert_eq!(of("é+"), [""; 0]);
        assert_eq!(forms(&pattern("é+", Syntax::Literal)), ["é+"]);
    }

    #[test]
    fn bad_patterns_are_refused_with_position_and_reason() {
        let error = |text| {
            let pattern = pattern(text, Syntax::Regexp);
            let recipe = Recipe::new(&[&pattern], false);
            recipe
                .build(&[&pattern], SizeLimits::default())
                .unwrap_err()
        };
        assert_eq!(error("foo\\rbar").at, Some(3));
        assert!(error("foo\\nbar").reason.contains("on one line"));
        assert!(error("(?i)\\w{500}").reason.contains("PATTERN_BYTES_MAX"));
        assert_eq!(
            plan(&pattern("a(b", Syntax::Regexp)).unwrap_err().at,
            Some(1)
        );
        assert!(plan(&pattern("", Syntax::Literal)).is_err());
    }

    #[test]
    fn each_pattern_keeps_its_options() {
        let with = |text: &str, ignore_case, word| Pattern {
            ignore_case,
            word,
            ..pattern(text, Syntax::Regexp)
        };
        let all = [
            with("(?x) foo # words", false, true),
            with("bar", true, false),
            with("(?P<x>a)1", false, false),
            with("(?P<x>b)2", true, true),
        ];
        let compile = |patterns: &[&Pattern]| {
            Recipe::new(patterns, false).build(patterns, SizeLimits::default())
        };
        let matcher = compile(&all.each_ref()).unwrap();
        let matches = |line: &str| matcher.is_match(line.as_bytes()).unwrap();
        for line in ["a foo.", "xBARx", "xa1x", "B2"] {
            assert!(matches(line), "{line}");
        }
        for line in ["afoo", "FOO", "A1", "xb2", "foo1"] {
            assert!(!matches(line), "{line}");
        }
        let every_line = compile(&[]).unwrap();
        assert!(every_line.is_match(b"").unwrap());
    }

    #[test]
    fn only_patterns_with_line_ends_are_multiline() {
        let is_multiline = |text: &str, syntax| {
            is_multiline(&Pattern {
                text: text.to_owned(),
                syntax,
                ..Pattern::default()
            })
        };
        for text in [
            r"a\nb",
            "a\nb",
            r"a\x0Ab",
            r"[\n;]",
            "(?s)a.b",
            "(?s:a.b)",
            "(?is-m)a.b",
        ] {
            assert!(is_multiline(text, Syntax::Regexp), "{text}");
        }
        for text in [
            "a.b", r"\s", "[^a]", r"[^\n]", "(?-s)a.b", "(?i)a", "a(", r"\\n",
        ] {
            assert!(!is_multiline(text, Syntax::Regexp), "{text}");
        }
        assert!(is_multiline("a\nb", Syntax::Literal));
        assert!(!is_multiline(r"a\nb", Syntax::Literal));
    }
}
