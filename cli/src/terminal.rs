//! Text from repositories and other processes, made safe to print on a terminal; messages on standard
//! error; and closed pipes.
//!
//! **Invariant:** nothing here panics when the reader of our output has closed its pipe, as `println!` and
//! `eprintln!` do.

use std::borrow::Cow;
use std::fmt::{Display, Write};
use std::io::{self, Write as _};

/// Escapes control characters (other than tab and line feed) and characters that reorder text, as
/// `\u{1b}`. Bytes that are not UTF-8 become U+FFFD.
pub(crate) fn escaped<T: AsRef<[u8]> + ?Sized>(bytes: &T) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes.as_ref());
    if !text.chars().any(is_unsafe) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_unsafe(letter) {
            write!(out, "{}", letter.escape_unicode()).expect("writing to a string cannot fail");
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

fn is_unsafe(letter: char) -> bool {
    (letter.is_control() && letter != '\t' && letter != '\n')
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Prints a line on standard error. If nobody reads there, it is lost.
pub(crate) fn report(message: impl Display) {
    // One write, so that lines of several processes do not mix.
    let _ = io::stderr().write_all(format!("{message}\n").as_bytes());
}

/// Prints a line on standard output.
pub(crate) fn print(line: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}

/// Returns the chain of an error in one line, without the operating system's number behind the words
/// that already say it: `connection refused (os error 111)`.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    const NUMBER: &str = " (os error ";
    let text = format!("{error:#}");
    let mut parts = text.split(NUMBER);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let after = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        match after.strip_prefix(')') {
            Some(rest) if after.len() < part.len() => out.push_str(rest),
            _ => out.extend([NUMBER, part]),
        }
    }
    out
}

/// Whether the reader of our output has closed its pipe, which is not an error: `trawl … | head`.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_and_reordering_characters() {
        assert_eq!(escaped(b"int a;\tx"), "int a;\tx");
        assert_eq!(escaped(b"\x1b[31mred"), "\\u{1b}[31mred");
        assert_eq!(escaped("a\u{202e}b\u{9b}c"), "a\\u{202e}b\\u{9b}c");
        assert_eq!(escaped(b"na\xefve"), "na\u{fffd}ve");
    }

    #[test]
    fn messages_have_no_error_numbers() {
        let refused = io::Error::from_raw_os_error(111);
        let error = anyhow::Error::new(refused).context("cannot reach the server");
        let words = sentence(&error);
        assert!(words.starts_with("cannot reach the server: "), "{words}");
        assert!(!words.contains("os error"), "{words}");
        let typed = anyhow::Error::msg("nothing matches `a (os error x)` or ` (os error `");
        assert_eq!(sentence(&typed), typed.to_string());
    }
}
