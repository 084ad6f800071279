//! What is searched for, compiled: the judge of a line, and the trigram query for candidates.
//!
//! The judge is ripgrep's own matcher, set as `rg -a --crlf` sets it: Unicode on, `^` and `$` at
//! lines, `\r\n` a line's end, and no match over a line's end.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use index::plan::{self, BadPattern};
use schema::message::{Pattern, Syntax};

/// Bytes that a compiled pattern may take. `(?i)\w{200}` would take 13 MB.
pub const PATTERN_BYTES_MAX: usize = 16 << 20;

/// Bytes that the states of the lazy DFA may take, for each thread that searches.
const DFA_BYTES_MAX: usize = 16 << 20;

/// A compiled pattern.
pub struct Compiled {
    /// Says whether a line matches, and where.
    pub matcher: RegexMatcher,
    /// Which blocks to look at.
    pub query: plan::Query,
    /// The literal that ranking looks for in paths, if the pattern is one.
    pub literal: Option<String>,
}

impl Compiled {
    /// Compiles a pattern.
    pub fn new(pattern: &Pattern) -> Result<Compiled, BadPattern> {
        if pattern.text.is_empty() {
            return Err(BadPattern {
                at: None,
                reason: "the pattern is empty".to_owned(),
            });
        }
        let is_literal = pattern.syntax == Syntax::Literal
            || !pattern.text.chars().any(regex_syntax::is_meta_character);
        let expression = match pattern.syntax {
            Syntax::Literal => regex_syntax::escape(&pattern.text),
            Syntax::Regexp => pattern.text.clone(),
        };
        let query = plan::plan(&expression, pattern.ignore_case)?;
        let matcher = RegexMatcherBuilder::new()
            .multi_line(true)
            .crlf(true)
            .case_insensitive(pattern.ignore_case)
            .size_limit(PATTERN_BYTES_MAX)
            .dfa_size_limit(DFA_BYTES_MAX)
            .build(&expression)
            .map_err(|error| explain(pattern, &error))?;
        let literal = is_literal.then(|| pattern.text.clone());
        Ok(Compiled {
            matcher,
            query,
            literal,
        })
    }
}

/// Says what the matcher does not accept in words that fit a search of lines. What is no regular
/// expression at all has been refused by the planner, with its position.
fn explain(pattern: &Pattern, error: &grep_regex::Error) -> BadPattern {
    use grep_regex::ErrorKind;
    match error.kind() {
        ErrorKind::NotAllowed(what) => {
            let (name, escape) = if what == "\r" {
                ("\\r", "\\r")
            } else {
                ("\\n", "\\n")
            };
            BadPattern {
                at: pattern
                    .text
                    .find(escape)
                    .or_else(|| pattern.text.find(&what[..])),
                reason: format!(
                    "{name} cannot match: a search is within lines, without their ends"
                ),
            }
        }
        _ if error.to_string().contains("size limit") => BadPattern {
            at: None,
            reason: format!(
                "the pattern is too large: compiled it may take {PATTERN_BYTES_MAX} bytes \
                 (PATTERN_BYTES_MAX); a smaller repetition or (?-u) makes it smaller"
            ),
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

    fn compile(text: &str, syntax: Syntax) -> Result<Compiled, BadPattern> {
        Compiled::new(&Pattern {
            text: text.to_owned(),
            syntax,
            ignore_case: false,
            ..Pattern::default()
        })
    }

    #[test]
    fn literals_are_literal() {
        let compiled = compile("a.c(", Syntax::Literal).unwrap();
        assert_eq!(compiled.query.to_string(), r#"".c(" "a.c""#);
        assert_eq!(compiled.literal.as_deref(), Some("a.c("));
        assert_eq!(compile("a.c", Syntax::Regexp).unwrap().literal, None);
        assert_eq!(
            compile("abc", Syntax::Regexp).unwrap().literal.as_deref(),
            Some("abc")
        );
    }

    #[test]
    fn what_cannot_be_searched_says_where_and_why() {
        let error = |text| compile(text, Syntax::Regexp).err().unwrap();
        assert_eq!(error("foo\\nbar").at, Some(3));
        assert!(error("foo\\nbar").reason.contains("within lines"));
        assert_eq!(error("foo\\rbar").at, Some(3));
        assert_eq!(error("a(b").at, Some(1));
        assert!(error("(?i)\\w{500}").reason.contains("PATTERN_BYTES_MAX"));
        assert!(compile("", Syntax::Literal).is_err());
        assert!(compile("a\nb", Syntax::Literal).is_err());
    }
}
