//! Text of an answer within its budget, and its lines: escaped, and cut around the match.
//!
//! **Invariant:** a text never exceeds its budget, receipt included. The tail has its place
//! reserved before the first block is added.

use super::call::Failure;
use std::ops::Range;

/// Bytes of UTF-8 in a token, as agents count them.
const TOKEN_BYTES: usize = 4;

const TOKENS_DEFAULT: u32 = 2_000;
const TOKENS_MAX: u32 = 20_000;
/// Room for one match and the receipt.
const TOKENS_MIN: u32 = 100;

pub(super) const LINE_BYTES_MAX: usize = 200;

const BEFORE_BYTES: usize = 60;

#[derive(Debug)]
pub(super) struct Answer {
    text: String,
    bytes_max: usize,
    /// For the tail.
    reserved: usize,
}

impl Answer {
    pub(super) fn new(max_tokens: Option<u32>) -> Result<Answer, Failure> {
        let tokens = max_tokens.unwrap_or(TOKENS_DEFAULT).min(TOKENS_MAX);
        if tokens < TOKENS_MIN {
            return Err(Failure(format!(
                "max_tokens {tokens} is too small; the range is {TOKENS_MIN} to {TOKENS_MAX}"
            )));
        }
        Ok(Answer {
            text: String::new(),
            bytes_max: tokens as usize * TOKEN_BYTES,
            reserved: 0,
        })
    }

    /// Reserves the place of a tail like this one: at most half of all.
    pub(super) fn reserve(&mut self, tail: &str) {
        self.reserved = tail.len().min(self.bytes_max / 2);
    }

    /// Appends the text, or returns false if it does not fit.
    pub(super) fn push(&mut self, text: &str) -> bool {
        let fits = self.text.len() + text.len() + self.reserved <= self.bytes_max;
        if fits {
            self.text.push_str(text);
        }
        fits
    }

    /// Appends the texts up to the first that does not fit. Returns their number.
    pub(super) fn push_all(&mut self, texts: impl Iterator<Item = String>) -> usize {
        texts.take_while(|text| self.push(text)).count()
    }

    /// Appends as much of the file as fits, the first at least by its heading. Returns the number
    /// of its matches, or `None` if nothing fits.
    pub(super) fn push_file(&mut self, file: &FileBlock) -> Option<usize> {
        let most = file.lines.len();
        let least = most.min(usize::from(!self.text.is_empty()));
        let kept = (least..=most)
            .rev()
            .find(|&kept| self.push(&file.text(kept)));
        kept.map(|kept| if most == 0 { 1 } else { kept })
    }

    /// Ends the text with its receipt, cut if it is too long.
    pub(super) fn finish(mut self, tail: &str) -> String {
        let left = self.bytes_max.saturating_sub(self.text.len());
        self.text.push_str(&tail[..tail.floor_char_boundary(left)]);
        self.text
    }
}

/// Matches of a file: a heading, and lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileBlock {
    pub(super) heading: String,
    /// Best first, each with its place in the file.
    pub(super) lines: Vec<(u32, String)>,
    /// All matches of the file, if known.
    pub(super) total: Option<u64>,
    /// Other files with the same text.
    pub(super) copies: u64,
}

impl FileBlock {
    /// Heading and best lines, in the order of the file.
    fn text(&self, kept: usize) -> String {
        let mut text = self.heading.clone();
        let total = self.total.unwrap_or(self.lines.len() as u64);
        let left_out = total.saturating_sub(kept as u64);
        if left_out > 0 && !self.lines.is_empty() {
            text += &format!(" ({left_out} more)");
        }
        if self.copies > 0 {
            text += &format!(" (and {})", count(self.copies, "copy", "copies"));
        }
        text.push('\n');
        let mut lines = self.lines[..kept].to_vec();
        lines.sort_by_key(|(line, _)| *line);
        lines.iter().for_each(|(_, line)| text.push_str(line));
        text
    }
}

/// Digits of a commit id.
const ID_DIGITS: usize = 12;

pub(super) fn short_id(commit: &str) -> &str {
    commit.get(..ID_DIGITS).unwrap_or(commit)
}

/// Name of a file, as all tools show and take it.
pub(super) fn heading(package: &[u8], path: &[u8]) -> String {
    escaped(&[package, path].join(&b'/'))
}

/// Escapes control characters but tabs, and characters that reorder text. Invalid UTF-8 becomes
/// U+FFFD.
pub(super) fn escaped(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        let reorders = matches!(letter,
            '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if reorders || (letter.is_control() && letter != '\t') {
            out.extend(letter.escape_unicode());
        } else {
            out.push(letter);
        }
    }
    out
}

/// Cuts a long line around the match, with … for the rest.
pub(super) fn cut(line: &[u8], found: Range<usize>, bytes_max: usize) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= bytes_max {
        return escaped(line);
    }
    let start = found.start.saturating_sub(BEFORE_BYTES.min(bytes_max / 2));
    let start = start.min(line.len() - bytes_max);
    let end = start + bytes_max;
    let before = if start > 0 { "…" } else { "" };
    let after = if end < line.len() { "…" } else { "" };
    // Letters that are cut themselves are left out.
    let shown = escaped(&line[start..end]);
    let shown = shown.trim_matches(char::REPLACEMENT_CHARACTER);
    format!("{before}{shown}{after}")
}

/// `1 match`, `2 matches`.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(lines: u32) -> FileBlock {
        let line = |line| (line, format!("{line}: {}\n", "x".repeat(40)));
        FileBlock {
            heading: "p/file.c".to_owned(),
            lines: (0..lines).map(line).collect(),
            total: Some(lines.into()),
            copies: 0,
        }
    }

    #[test]
    fn no_text_exceeds_its_budget() {
        for tokens in (TOKENS_MIN..400).step_by(7) {
            for tail in [0, 10, 150, 10_000] {
                let tail = "é".repeat(tail);
                let mut answer = Answer::new(Some(tokens)).unwrap();
                answer.reserve(&tail);
                while answer.push_file(&file(5)).is_some() {}
                let text = answer.finish(&tail);
                assert!(text.len() <= tokens as usize * TOKEN_BYTES, "{tokens}");
            }
        }
    }

    #[test]
    fn worse_lines_are_left_out_and_counted() {
        let mut answer = Answer::new(Some(TOKENS_MIN)).unwrap();
        answer.reserve(&"-".repeat(100));
        let mut block = file(9);
        block.lines.reverse();
        assert_eq!(answer.push_file(&block), Some(6));
        let text = answer.finish("end");
        assert!(text.starts_with("p/file.c (3 more)\n3: x"), "{text}");
        assert!(
            text.ends_with("x\nend") && text.contains("\n8: x"),
            "{text}"
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let line = format!("{}needle{}", "a".repeat(500), "ö".repeat(500));
        let shown = cut(line.as_bytes(), 500..506, 100);
        assert!(shown.starts_with("…a") && shown.ends_with("ö…"), "{shown}");
        assert!(shown.contains("needle") && shown.len() < 110, "{shown}");
        assert_eq!(cut(b"short\r", 0..5, 100), "short");
        assert_eq!(cut("ö".repeat(60).as_bytes(), 119..120, 9), "…öööö");
    }

    #[test]
    fn control_characters_are_escaped() {
        let shown = escaped(b"a\tb\x1b[0m\x00\xff");
        assert_eq!(shown, "a\tb\\u{1b}[0m\\u{0}\u{fffd}");
        assert_eq!(escaped("\u{202e}x".as_bytes()), "\\u{202e}x");
    }
}
