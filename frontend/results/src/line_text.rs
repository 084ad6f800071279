//! Matches as text lines `package/path:number:line`, made directly from a frame.

use schema::line_text::LineText;
use schema::message::LineView;

/// Appends a match as [`Match::write_text`](super::matches::Match::write_text) does.
pub(super) fn push_match(text: &mut LineText, line: &LineView<'_>, out: &mut Vec<u8>) {
    match line.number {
        // A name match has no line.
        0 => text.push_name(out),
        number if line.lines == 1 => text.push(number, line.text, out),
        first => {
            let lines = line.text.split(|&byte| byte == b'\n');
            let lines = (first..).zip(lines);
            lines.for_each(|(number, line)| text.push(number, line, out));
        }
    }
}
