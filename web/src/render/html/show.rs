//! A file, or a part of it, line by line.

use super::links::{file_href, window_href};
use super::{Chrome, LineView, filters, visible};
use askama::Template;
use schema::message::FileReply;

#[derive(Template)]
#[template(path = "show.html")]
pub(crate) struct ShowPage {
    pub(crate) frame: Chrome,
    pub(crate) package: String,
    pub(crate) path: String,
    pub(crate) language: String,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) total_lines: u64,
    pub(crate) total_bytes: u64,
    pub(crate) raw: String,
    pub(crate) previous: String,
    pub(crate) next: String,
    pub(crate) lines: Vec<LineView>,
}

/// Lines in a view of a file.
pub(crate) const SHOW_LINES_MAX: u32 = 400;

/// Bytes of one line in a view of a file.
const SHOW_LINE_BYTES_MAX: usize = 2000;

impl ShowPage {
    /// The page for a part of a document; `marked` is the line that it is about.
    pub(crate) fn new(
        frame: Chrome,
        (package, path): (&[u8], &[u8]),
        marked: Option<u32>,
        reply: &FileReply,
    ) -> Self {
        let lines: Vec<_> = (reply.first_line..)
            .zip(split_lines(&reply.text))
            .map(|(number, text)| file_line(number, text, marked == Some(number)))
            .collect();
        let last = lines.last().map_or(0, |line| line.number);
        let window = |first: u32| window_href(package, path, first);
        let before = reply.first_line.saturating_sub(SHOW_LINES_MAX).max(1);
        ShowPage {
            frame,
            package: visible::plain(package),
            path: visible::plain(path),
            language: reply.language.clone(),
            first: u64::from(reply.first_line),
            last: u64::from(last),
            total_lines: u64::from(reply.total_lines),
            total_bytes: reply.total_bytes,
            raw: file_href(package, path),
            previous: if reply.first_line > 1 {
                window(before)
            } else {
                String::new()
            },
            next: if last != 0 && last < reply.total_lines {
                window(last + 1)
            } else {
                String::new()
            },
            lines,
        }
    }
}

/// Lines without their ends. A `\r` before the end belongs to it.
fn split_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}

fn file_line(number: u32, text: &[u8], hit: bool) -> LineView {
    let shown = &text[..text.len().min(SHOW_LINE_BYTES_MAX)];
    LineView {
        number,
        href: format!("#L{number}"),
        anchor: format!("L{number}"),
        hit,
        pieces: visible::whole(shown),
        cut_before: 0,
        cut_after: (text.len() - shown.len()) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_shown_line_by_line() {
        let reply = FileReply {
            found: true,
            first_line: 401,
            text: b"a\r\n\nb\n".to_vec(),
            total_lines: 900,
            total_bytes: 5000,
            ..FileReply::default()
        };
        let page = ShowPage::new(Chrome::default(), (b"p", b"d"), Some(402), &reply);
        let lines: Vec<_> = page
            .lines
            .iter()
            .map(|line| (line.number, line.hit))
            .collect();
        assert_eq!(lines, [(401, false), (402, true), (403, false)]);
        assert_eq!(page.previous, "/show?package=p&path=d&first=1");
        assert_eq!(page.next, "/show?package=p&path=d&first=404");
        assert!(page.render().unwrap().contains("Lines 401 to 403 of 900"));
    }
}
