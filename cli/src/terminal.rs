//! How to speak to people: harmless text, plurals, logs.

use std::borrow::Cow;
use std::fmt::Write;
use std::io;

/// Text of a repository or of another process, made harmless for a terminal: what could move the
/// cursor, change colours or reorder text is spelled out, and what is not UTF-8 is replaced.
pub(crate) fn harmless(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes);
    if !text.chars().any(is_harmful) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            // A string takes everything.
            _ if is_harmful(letter) => drop(write!(out, "{}", letter.escape_unicode())),
            _ => out.push(letter),
        }
    }
    Cow::Owned(out)
}

/// Control characters but for tab and line feed, and those that reorder text.
fn is_harmful(letter: char) -> bool {
    (letter.is_control() && letter != '\t' && letter != '\n')
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `1 file`, `2 files`.
pub(crate) fn plural(count: u64, one: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {one}{s}", crate::size::count(count))
}

/// `3 of 24 (12.500 %)`
pub(crate) fn share(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    let (part, whole) = (crate::size::count(part), crate::size::count(whole));
    format!("{part} of {whole} ({percent:.3} %)")
}

/// Whether an error is that nobody reads our output any more, which is no error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Waits for the signals that tell a server to end: of a terminal, and of a service manager.
pub(crate) async fn told_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let interrupt = signal(SignalKind::interrupt());
    let terminate = signal(SignalKind::terminate());
    match (interrupt, terminate) {
        (Ok(mut interrupt), Ok(mut terminate)) => tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        },
        // Then the signals do what they do by default, which is to end the process.
        _ => std::future::pending().await,
    }
}

/// Sends the log to standard error; `TRAWL_LOG` says how much of it (`warn`, `debug`, ...).
pub(crate) fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("TRAWL_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_spelled_out() {
        assert_eq!(harmless(b"int a;\tx"), "int a;\tx");
        assert_eq!(harmless(b"\x1b[31mred"), "\\u{1b}[31mred");
        assert_eq!(
            harmless("a\u{202e}b\u{9b}c".as_bytes()),
            "a\\u{202e}b\\u{9b}c"
        );
        assert_eq!(harmless(b"na\xefve"), "na\u{fffd}ve");
    }
}
