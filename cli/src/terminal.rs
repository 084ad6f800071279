//! Terminal-safe text, messages on standard error, and closed pipes.
//!
//! **Invariant:** a closed output pipe never panics here, unlike `println!` and `eprintln!`.

use crate::log;
use serde::Serialize;
use serde_json::ser::Formatter;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Maximum wait for an unread pipe.
const ANNOUNCE_MAX: Duration = Duration::from_secs(1);

/// Escapes control characters (except tab and line feed) and reordering ones, as `\u{1b}`. Invalid
/// UTF-8 becomes U+FFFD.
pub(crate) fn escaped<T: AsRef<[u8]> + ?Sized>(bytes: &T) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes.as_ref());
    if !text.chars().any(is_unsafe) {
        return text;
    }
    Cow::Owned(replaced(&text, |out, letter| {
        out.extend(letter.escape_unicode());
    }))
}

/// JSON has these characters only in strings, so the value is unchanged.
pub(crate) fn escaped_json(text: &str) -> Cow<'_, str> {
    // Few texts have any; non-ASCII ones take several bytes.
    let is_plain = |byte: u8| byte < 0x7f;
    if text.bytes().all(is_plain) || !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    // They are in the first plane.
    Cow::Owned(replaced(text, |out, letter| {
        out.push_str(&format!("\\u{:04x}", u32::from(letter)));
    }))
}

fn replaced(text: &str, push_unsafe: impl Fn(&mut String, char)) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_unsafe(letter) {
            push_unsafe(&mut out, letter);
        } else {
            out.push(letter);
        }
    }
    out
}

struct SafeStrings;

impl Formatter for SafeStrings {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        writer.write_all(escaped_json(fragment).as_bytes())
    }
}

/// Appends terminal-safe JSON.
///
/// # Panics
/// If the value has a map with keys that are no strings.
pub(crate) fn push_json(value: &impl Serialize, out: &mut Vec<u8>) {
    let mut serializer = serde_json::Serializer::with_formatter(out, SafeStrings);
    let written = value.serialize(&mut serializer);
    written.expect("all keys are strings, and a vector can grow");
}

fn is_unsafe(letter: char) -> bool {
    (letter.is_control() && letter != '\t' && letter != '\n')
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Prints through the log in a server. Lost if its reader has gone.
pub(crate) fn report(message: impl Display) {
    // One write, so that processes do not mix lines.
    let line = format!("{message}\n");
    match log::started() {
        Some(log) => log.push(line.as_bytes()),
        None => drop(io::stderr().write_all(line.as_bytes())),
    }
}

/// Prints an error, a warning or a note.
pub(crate) fn complain(message: impl Display) {
    report(format_args!("trawl: {message}"));
}

pub(crate) fn print(line: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}

pub(crate) fn print_json(value: &impl Serialize) -> io::Result<()> {
    let mut json = Vec::new();
    push_json(value, &mut json);
    print(String::from_utf8_lossy(&json))
}

/// A full, unread pipe does not block the start.
pub(crate) fn announce(line: impl Display) -> io::Result<()> {
    let line = line.to_string();
    // Startup messages come first.
    log::flush(ANNOUNCE_MAX);
    let (sender, printed) = mpsc::channel();
    let thread = thread::Builder::new().name("announce".to_owned());
    thread.spawn(move || sender.send(print(line)))?;
    printed.recv_timeout(ANNOUNCE_MAX).unwrap_or_else(|_| {
        tracing::warn!("standard output is not read; the server starts without saying where");
        Ok(())
    })
}

/// One line without error numbers such as ` (os error 111)`.
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

/// No error: `trawl … | head`.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = (error.chain()).filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
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
    fn json_is_safe_to_print_and_has_the_same_value() {
        let text = "a\u{9b}31m \u{7f}\u{202e}\u{2066}\u{61c}\u{1b}[2J \u{e9}\t\n\u{1f600}\"\\";
        let mut out = Vec::new();
        push_json(&[text], &mut out);
        let json = String::from_utf8(out).unwrap();
        assert!(!json.chars().any(is_unsafe), "{json}");
        assert!(
            json.contains("\\u009b31m \\u007f\\u202e\\u2066\\u061c\\u001b"),
            "{json}"
        );
        assert!(json.contains("\u{e9}\\t\\n\u{1f600}"), "{json}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&json).unwrap(), [text]);
        let plain = serde_json::to_string(text).unwrap();
        let again: String = serde_json::from_str(&escaped_json(&plain)).unwrap();
        assert_eq!(again, text);
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
