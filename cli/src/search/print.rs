//! Writes matches: with colours on a terminal, the bytes as they are in a pipe.

use crate::terminal::harmless;
use frontend::render::Match;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

/// Bytes written at once.
const BUFFER_BYTES: usize = 256 << 10;

pub(super) struct Printer {
    out: BufWriter<StdoutLock<'static>>,
    style: Style,
    line: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Style {
    /// For programs: nothing is changed.
    Bytes,
    /// For people without colours.
    Harmless,
    /// For people.
    Coloured,
}

/// Escape sequences for path, line number, what matched, and back to normal: ripgrep's colours.
const COLOURS: [&str; 4] = ["\x1b[35m", "\x1b[32m", "\x1b[1;31m", "\x1b[0m"];

impl Printer {
    pub(super) fn new() -> Self {
        let out = io::stdout().lock();
        let coloured = out.is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let terminal = out.is_terminal();
        Printer {
            out: BufWriter::with_capacity(BUFFER_BYTES, out),
            style: match (terminal, coloured) {
                (true, true) => Style::Coloured,
                (true, false) => Style::Harmless,
                (false, _) => Style::Bytes,
            },
            line: Vec::new(),
        }
    }

    /// Writes a match. `text` is its whole line, of which it may have only a window.
    pub(super) fn print(&mut self, found: &Match, text: &[u8]) -> io::Result<()> {
        self.line.clear();
        match self.style {
            Style::Bytes => write_bytes(&mut self.line, found, text),
            Style::Harmless => write_styled(&mut self.line, found, text, ["", "", "", ""]),
            Style::Coloured => write_styled(&mut self.line, found, text, COLOURS),
        }
        self.out.write_all(&self.line)
    }

    /// Whether it writes the bytes of matches as they are.
    pub(super) fn wants_bytes(&self) -> bool {
        matches!(self.style, Style::Bytes)
    }

    /// Writes bytes as they are.
    pub(super) fn print_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn write_bytes(out: &mut Vec<u8>, found: &Match, text: &[u8]) {
    for part in [
        &found.document.package[..],
        b"/",
        &found.document.path,
        b":",
    ] {
        out.extend_from_slice(part);
    }
    out.extend_from_slice(found.line.to_string().as_bytes());
    out.push(b':');
    out.extend_from_slice(text);
    out.push(b'\n');
}

fn write_styled(out: &mut Vec<u8>, found: &Match, text: &[u8], colours: [&str; 4]) {
    let [path_colour, line_colour, match_colour, normal] = colours;
    let (package, path) = (
        one_line(&found.document.package),
        one_line(&found.document.path),
    );
    let head = format!(
        "{path_colour}{package}/{path}{normal}:{line_colour}{}{normal}:",
        found.line
    );
    out.extend_from_slice(head.as_bytes());
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let start = found.window.map_or(0, |window| window.start as usize);
    let mut at = 0;
    for range in &found.ranges {
        let (from, to) = (
            (start + range.start).min(text.len()),
            (start + range.end).min(text.len()),
        );
        if from < at || from == to {
            continue;
        }
        let (before, matched) = (harmless(&text[at..from]), harmless(&text[from..to]));
        out.extend_from_slice(format!("{before}{match_colour}{matched}{normal}").as_bytes());
        at = to;
    }
    out.extend_from_slice(harmless(&text[at..]).as_bytes());
    out.push(b'\n');
}

/// A name that could hold a line end, for people.
fn one_line(name: &[u8]) -> String {
    harmless(name).replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::render::Document;
    use std::sync::Arc;

    fn found(text: &[u8]) -> Match {
        Match {
            document: Arc::new(Document {
                package: b"p_1".to_vec(),
                path: b"a\n.c".to_vec(),
                ..Document::default()
            }),
            line: 7,
            text: text.to_vec(),
            ranges: std::iter::once(1..3).collect(),
            before: Vec::new(),
            after: Vec::new(),
            rank: 1.0,
            offset: 0,
            window: None,
        }
    }

    #[test]
    fn a_pipe_gets_the_bytes_and_a_terminal_what_is_harmless() {
        let text = b"xab\x1b[2Jna\xefve\r";
        let (mut bytes, mut styled) = (Vec::new(), Vec::new());
        write_bytes(&mut bytes, &found(text), text);
        assert_eq!(bytes, b"p_1/a\n.c:7:xab\x1b[2Jna\xefve\r\n");
        write_styled(&mut styled, &found(text), text, ["<", "<", "[", ">"]);
        let styled = String::from_utf8(styled).unwrap();
        assert_eq!(styled, "<p_1/a\\n.c>:<7>:x[ab>\\u{1b}[2Jna\u{fffd}ve\n");
    }
}
