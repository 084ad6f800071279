//! Classes of bytes: code, comment, string, text.

use std::ops::Range;

/// Class of a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Class {
    /// Code, with directives of a preprocessor.
    #[default]
    Code,
    /// Comment, with its signs.
    Comment,
    /// String or character, with its quotes.
    String,
    /// Prose, and texts without a lexer.
    Text,
}

impl Class {
    /// All classes, by number.
    pub const ALL: [Class; 4] = [Class::Code, Class::Comment, Class::String, Class::Text];

    /// Name in queries.
    pub fn name(self) -> &'static str {
        match self {
            Class::Code => "code",
            Class::Comment => "comment",
            Class::String => "string",
            Class::Text => "text",
        }
    }
}

/// Bytes of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Offsets in the text.
    pub range: Range<u32>,
    /// Their class.
    pub class: Class,
}

/// Adds bytes to a list of runs, besides those that have a class. Runs of one class with only
/// blanks between are one run.
pub(super) fn add(runs: &mut Vec<Run>, text: &[u8], mut range: Range<u32>, class: Class) {
    let end = runs.last().map_or(0, |last| last.range.end);
    range.start = range.start.max(end);
    if range.is_empty() {
        return;
    }
    match runs.last_mut() {
        Some(last) if last.class == class && is_blank(text, last.range.end..range.start) => {
            last.range.end = range.end;
        }
        _ => runs.push(Run { range, class }),
    }
}

fn is_blank(text: &[u8], range: Range<u32>) -> bool {
    let between = &text[range.start as usize..range.end as usize];
    between.iter().all(u8::is_ascii_whitespace)
}
