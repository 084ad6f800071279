//! Patterns, compiled to what judges a line, or a run of lines.
//!
//! The judge is ripgrep's own matcher, set as `rg -a --crlf` sets it: Unicode on, `^` and `$` at
//! lines, `\r\n` a line's end, and no match over a line's end; as `rg -aU --crlf` for a pattern that
//! asks for one ([`crosses_lines`]).

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use index::plan::{self, BadPattern, DocumentQuery, TrigramQuery};
use regex_syntax::ast::{self, Ast, Visitor};
use regex_syntax::hir::{Hir, HirKind, Repetition};
use schema::message::{Pattern, Syntax};

/// Bytes that a compiled pattern may take. `(?i)\w{200}` would take 13 MB.
pub const PATTERN_BYTES_MAX: usize = 16 << 20;

/// Bytes that all patterns of a query may take together.
pub const PATTERNS_BYTES_MAX: usize = 32 << 20;

/// Bytes that the states of the lazy DFAs of a query may take, for each thread that searches; what
/// each of its patterns has at least.
const DFA_BYTES_MAX: usize = 16 << 20;
const DFA_BYTES_MIN: usize = 1 << 20;

/// How much a matcher may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeLimits {
    bytes: usize,
    dfa_bytes: usize,
}

impl SizeLimits {
    /// Of one of so many patterns.
    pub(crate) fn of_one_of(patterns: usize) -> SizeLimits {
        SizeLimits {
            bytes: PATTERN_BYTES_MAX,
            dfa_bytes: (DFA_BYTES_MAX / patterns.max(1)).max(DFA_BYTES_MIN),
        }
    }

    /// Of several of those that fit together.
    pub(crate) const OF_ALL: SizeLimits = SizeLimits {
        bytes: 2 * PATTERNS_BYTES_MAX,
        dfa_bytes: DFA_BYTES_MAX,
    };
}

/// Refuses patterns that together take too much, before each of them is compiled for itself.
pub(crate) fn check_all(patterns: &[&Pattern]) -> Result<(), BadPattern> {
    if patterns.len() < 2 {
        return Ok(());
    }
    let room = SizeLimits {
        bytes: PATTERNS_BYTES_MAX,
        dfa_bytes: DFA_BYTES_MIN,
    };
    let mut builder = RegexMatcherBuilder::new();
    build(patterns, builder.crlf(true).line_terminator(None), room)?;
    Ok(())
}

/// The pattern as a regular expression.
pub(crate) fn expression(pattern: &Pattern) -> String {
    match pattern.syntax {
        Syntax::Literal => regex_syntax::escape(&pattern.text),
        Syntax::Regexp => pattern.text.clone(),
    }
}

/// What a line holds that matches one, if the pattern is such a thing: ranking looks for it in paths.
pub(crate) fn literal(pattern: &Pattern) -> Option<&str> {
    let is_literal = pattern.syntax == Syntax::Literal
        || !pattern.text.chars().any(regex_syntax::is_meta_character);
    is_literal.then_some(&pattern.text)
}

/// What blocks must hold for the pattern to match in a line of them.
pub(crate) fn plan(pattern: &Pattern) -> Result<TrigramQuery, BadPattern> {
    not_empty(pattern)?;
    plan::plan(&expression(pattern), pattern.ignore_case)
}

/// What documents must hold for the pattern to match in them, over lines or not.
pub(crate) fn plan_multiline(pattern: &Pattern) -> Result<DocumentQuery, BadPattern> {
    not_empty(pattern)?;
    plan::plan_multiline(&expression(pattern), pattern.ignore_case)
}

fn not_empty(pattern: &Pattern) -> Result<(), BadPattern> {
    match pattern.text.is_empty() {
        false => Ok(()),
        true => Err(BadPattern {
            at: None,
            reason: "the pattern is empty".to_owned(),
        }),
    }
}

/// The judge of a line: that one of `patterns` matches in it. Without any, every line matches.
pub(crate) fn matcher(patterns: &[&Pattern], room: SizeLimits) -> Result<RegexMatcher, BadPattern> {
    build(patterns, RegexMatcherBuilder::new().crlf(true), room)
}

/// The judge of a text, in which a match may go over lines.
pub(crate) fn matcher_across(
    pattern: &Pattern,
    room: SizeLimits,
) -> Result<RegexMatcher, BadPattern> {
    let mut builder = RegexMatcherBuilder::new();
    build(&[pattern], builder.crlf(true).line_terminator(None), room)
}

/// The judge that tells what matches of one of so many patterns: in a line, or in a text when it may go
/// over lines ([`crosses_lines`]).
pub fn judge(pattern: &Pattern, patterns: usize) -> Result<RegexMatcher, BadPattern> {
    let room = SizeLimits::of_one_of(patterns);
    match crosses_lines(pattern) {
        true => matcher_across(pattern, room),
        false => matcher(&[pattern], room),
    }
}

fn build(
    patterns: &[&Pattern],
    builder: &mut RegexMatcherBuilder,
    room: SizeLimits,
) -> Result<RegexMatcher, BadPattern> {
    let all = |is: fn(&Pattern) -> bool| patterns.iter().all(|pattern| is(pattern));
    let (ignore_case, word) = (all(|it| it.ignore_case), all(|it| it.word));
    let alike = ignore_case == patterns.iter().any(|it| it.ignore_case)
        && word == patterns.iter().any(|it| it.word);
    let expressions: Vec<String> = match alike {
        true => patterns.iter().map(|pattern| expression(pattern)).collect(),
        false => patterns.iter().map(|pattern| by_itself(pattern)).collect(),
    };
    builder
        .multi_line(true)
        .case_insensitive(alike && ignore_case)
        .word(alike && word && !patterns.is_empty())
        .size_limit(room.bytes)
        .dfa_size_limit(room.dfa_bytes);
    let built = match &expressions[..] {
        [] => builder.build(""),
        // By itself: its mistakes are told by what it is.
        [one] => builder.build(one),
        // A comment of `(?x)` would reach into the next one, and a name stand twice.
        many => builder
            .build_many(many)
            .or_else(|error| match rendered(many) {
                Some(many) => builder.build_many(&many),
                None => Err(error),
            }),
    };
    built.map_err(|error| explain(patterns, room, &error))
}

/// Expressions as their own parser renders them, without comments and groups that have names; `None`
/// when one is none.
fn rendered(expressions: &[String]) -> Option<Vec<String>> {
    let mut parser = regex_syntax::ParserBuilder::new();
    parser.utf8(false).multi_line(true).crlf(true);
    let render = |text: &String| {
        let hir = parser.build().parse(text).ok()?;
        Some(without_groups(&hir).to_string())
    };
    expressions.iter().map(render).collect()
}

fn without_groups(hir: &Hir) -> Hir {
    let each = |parts: &[Hir]| parts.iter().map(without_groups).collect();
    match hir.kind() {
        HirKind::Capture(capture) => without_groups(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(each(parts)),
        HirKind::Alternation(parts) => Hir::alternation(each(parts)),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(without_groups(&repetition.sub)),
            ..repetition.clone()
        }),
        _ => hir.clone(),
    }
}

/// A pattern as an expression that says whether case and words matter.
fn by_itself(pattern: &Pattern) -> String {
    let flag = if pattern.ignore_case { "(?i)" } else { "(?-i)" };
    let text = expression(pattern);
    if !pattern.word {
        return format!("{flag}{text}");
    }
    let framed = |text: &str| format!(r"{flag}\b{{start-half}}(?:{text})\b{{end-half}}");
    match framed(&text) {
        framed if regex_syntax::parse(&framed).is_ok() => framed,
        // With `(?x)`, a comment at its end would take the frame with it.
        _ => framed(&format!("{text}\n")),
    }
}

/// Whether a pattern may match over several lines: it has a line's end in it, by itself or in a class
/// that is not negated, or the flag `s`.
pub fn crosses_lines(pattern: &Pattern) -> bool {
    if pattern.syntax == Syntax::Literal {
        return pattern.text.contains('\n');
    }
    let parsed = ast::parse::ParserBuilder::new()
        .nest_limit(250)
        .build()
        .parse(&pattern.text);
    let Ok(parsed) = parsed else { return false };
    let seen = ast::visit(&parsed, LineEnds::default());
    seen.is_ok_and(|seen| seen.line_end || seen.any_is_line_end)
}

/// What of an expression can match a line's end.
#[derive(Default)]
struct LineEnds {
    line_end: bool,
    any_is_line_end: bool,
    /// Negated classes around.
    negated: usize,
}

impl LineEnds {
    fn flags(&mut self, flags: &ast::Flags) {
        let dot_all = ast::Flag::DotMatchesNewLine;
        self.any_is_line_end |= flags.flag_state(dot_all) == Some(true);
    }
}

impl Visitor for LineEnds {
    type Output = LineEnds;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<LineEnds, Self::Err> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        match ast {
            Ast::Literal(literal) => self.line_end |= literal.c == '\n',
            Ast::Flags(set) => self.flags(&set.flags),
            Ast::Group(group) => {
                if let ast::GroupKind::NonCapturing(flags) = &group.kind {
                    self.flags(flags);
                }
            }
            Ast::ClassBracketed(class) => self.negated += usize::from(class.negated),
            _ => {}
        }
        Ok(())
    }

    fn visit_post(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        if let Ast::ClassBracketed(class) = ast {
            self.negated -= usize::from(class.negated);
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ast::ClassSetItem) -> Result<(), Self::Err> {
        match item {
            ast::ClassSetItem::Literal(literal) => {
                self.line_end |= self.negated == 0 && literal.c == '\n';
            }
            ast::ClassSetItem::Bracketed(class) => self.negated += usize::from(class.negated),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_post(&mut self, item: &ast::ClassSetItem) -> Result<(), Self::Err> {
        if let ast::ClassSetItem::Bracketed(class) = item {
            self.negated -= usize::from(class.negated);
        }
        Ok(())
    }
}

/// Says what the matcher does not accept in words that fit a search. What is no regular expression
/// at all has been refused by the planner, with its position.
fn explain(patterns: &[&Pattern], room: SizeLimits, error: &grep_regex::Error) -> BadPattern {
    use grep_regex::ErrorKind;
    match error.kind() {
        ErrorKind::NotAllowed(what) if what == "\r" => BadPattern {
            at: patterns.iter().find_map(|pattern| pattern.text.find("\\r")),
            reason: "\\r cannot match: what is before a line's end is not part of the line"
                .to_owned(),
        },
        ErrorKind::NotAllowed(_) => BadPattern {
            at: None,
            reason: "\\n cannot match here: on one line there is none".to_owned(),
        },
        _ if error.to_string().contains("size limit") => BadPattern {
            at: None,
            reason: match patterns {
                [_] => format!(
                    "the pattern is too large: compiled it may take {} bytes (PATTERN_BYTES_MAX); a \
                     smaller repetition or (?-u) makes it smaller",
                    room.bytes
                ),
                _ => format!(
                    "the patterns are too large: compiled they may take {PATTERNS_BYTES_MAX} bytes \
                     together (PATTERNS_BYTES_MAX); smaller repetitions or (?-u) make them smaller"
                ),
            },
        },
        _ => BadPattern {
            at: None,
            reason: error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grep_matcher::Matcher;

    fn pattern(text: &str, syntax: Syntax) -> Pattern {
        Pattern {
            text: text.to_owned(),
            syntax,
            ..Pattern::default()
        }
    }

    #[test]
    fn literals_are_literal() {
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
    fn what_cannot_be_searched_says_where_and_why() {
        let error = |text| {
            matcher(&[&pattern(text, Syntax::Regexp)], SizeLimits::of_one_of(1)).unwrap_err()
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
    fn a_line_end_must_be_asked_for() {
        let crosses = |text| crosses_lines(&pattern(text, Syntax::Regexp));
        for text in [
            r"a\nb",
            "a\nb",
            r"a\x0Ab",
            r"[\n;]",
            "(?s)a.b",
            "(?s:a.b)",
            "(?is-m)a.b",
        ] {
            assert!(crosses(text), "{text}");
        }
        for text in [
            "a.b", r"\s", "[^a]", r"[^\n]", "(?-s)a.b", "(?i)a", "a(", r"\\n",
        ] {
            assert!(!crosses(text), "{text}");
        }
        assert!(crosses_lines(&pattern("a\nb", Syntax::Literal)));
        assert!(!crosses_lines(&pattern(r"a\nb", Syntax::Literal)));
    }

    #[test]
    fn patterns_keep_their_own_options() {
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
        let judge = matcher(&all.each_ref(), SizeLimits::of_one_of(1)).unwrap();
        let matches = |line: &str| judge.is_match(line.as_bytes()).unwrap();
        for line in ["a foo.", "xBARx", "xa1x", "B2"] {
            assert!(matches(line), "{line}");
        }
        for line in ["afoo", "FOO", "A1", "xb2", "foo1"] {
            assert!(!matches(line), "{line}");
        }
        assert!(
            matcher(&[], SizeLimits::of_one_of(1))
                .unwrap()
                .is_match(b"")
                .unwrap()
        );
    }
}
