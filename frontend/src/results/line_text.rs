//! Matches as text, a line `package/path:number:line` for each line of a match, made directly from a frame: no
//! match is built for it.

use schema::message::{BatchView, LineView};

/// Writes the lines of frames.
#[derive(Debug, Default)]
pub(super) struct LineText {
    /// Package and path of the current document, and a colon.
    name: Vec<u8>,
}

impl LineText {
    /// Moves on to a frame.
    pub(super) fn begin(&mut self, batch: &BatchView<'_>) {
        self.name.clear();
        for part in [batch.package, b"/", batch.path, b":"] {
            self.name.extend_from_slice(part);
        }
    }

    /// Appends a match of the frame, as [`Match::write_text`](super::matches::Match::write_text) does.
    pub(super) fn push(&self, line: &LineView<'_>, out: &mut Vec<u8>) {
        match line.number {
            // A match of the name has no line.
            0 => {
                out.extend_from_slice(&self.name[..self.name.len() - 1]);
                out.push(b'\n');
            }
            number if line.lines == 1 => self.push_numbered(number, line.text, out),
            first => {
                let lines = line.text.split(|&byte| byte == b'\n');
                let lines = (first..).zip(lines);
                lines.for_each(|(number, text)| self.push_numbered(number, text, out));
            }
        }
    }

    fn push_numbered(&self, number: u32, text: &[u8], out: &mut Vec<u8>) {
        out.reserve(self.name.len() + NUMBER_BYTES + text.len() + 1);
        out.extend_from_slice(&self.name);
        push_number(number, out);
        out.extend_from_slice(text);
        out.push(b'\n');
    }
}

/// Bytes of the largest number and a colon.
const NUMBER_BYTES: usize = 11;

/// Appends a number in decimal, and a colon.
fn push_number(mut number: u32, out: &mut Vec<u8>) {
    let mut digits = [b':'; NUMBER_BYTES];
    let mut at = digits.len() - 1;
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return out.extend_from_slice(&digits[at..]);
        }
    }
}
