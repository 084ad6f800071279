//! Matcher of the patterns.

use crate::arguments::{Arguments, Boundary, Case};
use anyhow::{Result, anyhow};
use grep::regex::{RegexMatcher, RegexMatcherBuilder};

/// `bans_nul`: binary files are recognized by a NUL byte, so no pattern may match one.
pub(crate) fn matcher(
    arguments: &Arguments,
    patterns: &[String],
    bans_nul: bool,
) -> Result<RegexMatcher> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(!arguments.no_unicode)
        .octal(false)
        .fixed_strings(arguments.fixed_strings)
        .case_insensitive(arguments.case == Case::Insensitive)
        .case_smart(arguments.case == Case::Smart);
    match arguments.boundary {
        Some(Boundary::Line) => builder.whole_line(true),
        Some(Boundary::Word) => builder.word(true),
        None => &mut builder,
    };
    if arguments.multiline {
        builder.dot_matches_new_line(arguments.multiline_dotall);
        if arguments.crlf {
            builder.crlf(true).line_terminator(None);
        }
    } else {
        builder
            .line_terminator(Some(b'\n'))
            .dot_matches_new_line(false);
        if arguments.crlf {
            builder.crlf(true);
        }
        if arguments.null_data {
            builder.line_terminator(Some(b'\0'));
        }
    }
    if let Some(limit) = arguments.regex_size_limit {
        builder.size_limit(limit);
    }
    if let Some(limit) = arguments.dfa_size_limit {
        builder.dfa_size_limit(limit);
    }
    if bans_nul {
        builder.ban_byte(Some(b'\0'));
    }
    let matcher = builder.build_many(patterns);
    matcher.map_err(|error| anyhow!("{}", explained(error.to_string())))
}

fn explained(mut error: String) -> String {
    if error.contains("the literal") && error.contains("not allowed") {
        error += "\n\nConsider enabling multiline mode with the --multiline flag (or -U for \
                  short).\nWhen multiline mode is enabled, new line characters can be matched.";
    }
    if error.contains("pattern contains \"\\0\"") {
        error += "\n\nConsider enabling text mode with the --text flag (or -a for short). \
                  Otherwise,\nbinary detection is enabled and matching a NUL byte is impossible.";
    }
    error
}
