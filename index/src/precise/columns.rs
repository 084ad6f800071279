//! Converts SCIP ranges to bytes.

use scip::types::PositionEncoding;

pub(super) const NAME_UNITS_MAX: u32 = 1000;

/// Units of a [`PositionEncoding`] in one line. Lines count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnitRange {
    pub(super) line: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// Reads ascending ranges in linear time.
pub(super) struct Columns<'t> {
    lines: Vec<&'t [u8]>,
    encoding: PositionEncoding,
    /// Last line, and a position in it in units and bytes.
    at: (u32, u32, usize),
}

impl<'t> Columns<'t> {
    pub(super) fn new(text: &'t [u8], encoding: PositionEncoding) -> Columns<'t> {
        let lines = text.split(|&byte| byte == b'\n');
        Columns {
            lines: lines.collect(),
            encoding,
            at: (0, 0, 0),
        }
    }

    /// Column in bytes, and the text there; `None` if absent.
    pub(super) fn resolve(&mut self, range: UnitRange) -> Option<(u32, &'t [u8])> {
        let line = *self.lines.get(range.line as usize)?;
        let units = range.end.checked_sub(range.start)?;
        let is_ahead = self.at.0 == range.line && self.at.1 <= range.start;
        let (known, offset) = if is_ahead {
            (self.at.1, self.at.2)
        } else {
            (0, 0)
        };
        let start = offset + self.bytes_of(line.get(offset..)?, range.start - known)?;
        self.at = (range.line, range.start, start);
        let end = start + self.bytes_of(&line[start..], units)?;
        Some((u32::try_from(start).ok()?, &line[start..end]))
    }

    fn bytes_of(&self, text: &[u8], units: u32) -> Option<usize> {
        let (mut rest, mut left) = (text, units);
        while left > 0 {
            let bytes = character_bytes(rest)?;
            let width = match self.encoding {
                PositionEncoding::UTF8CodeUnitOffsetFromLineStart => bytes as u32,
                PositionEncoding::UTF32CodeUnitOffsetFromLineStart => 1,
                _ => 1 + u32::from(bytes == 4),
            };
            left = left.checked_sub(width)?;
            rest = &rest[bytes..];
        }
        Some(text.len() - rest.len())
    }
}

/// An invalid byte counts as one.
fn character_bytes(text: &[u8]) -> Option<usize> {
    let bytes = match text.first()? {
        0..0x80 => 1,
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => 1,
    };
    let character = text.get(..bytes);
    let is_whole = character.is_some_and(|it| str::from_utf8(it).is_ok());
    Some(if is_whole { bytes } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, encoding: PositionEncoding, start: u32, end: u32, expected: Option<&str>) {
        let text = format!("\n{line}\r\n");
        let mut columns = Columns::new(text.as_bytes(), encoding);
        let range = UnitRange {
            line: 1,
            start,
            end,
        };
        let found = columns.resolve(range).map(|(column, name)| {
            assert_eq!(&text.as_bytes()[1 + column as usize..][..name.len()], name);
            String::from_utf8_lossy(name).into_owned()
        });
        assert_eq!(found.as_deref(), expected, "{line} {start} {end}");
    }

    #[test]
    fn columns_count_bytes_code_units_or_characters() {
        use PositionEncoding::*;
        let line = "'🦀é'; name()";
        check(line, UTF8CodeUnitOffsetFromLineStart, 10, 14, Some("name"));
        check(line, UTF16CodeUnitOffsetFromLineStart, 7, 11, Some("name"));
        check(line, UTF32CodeUnitOffsetFromLineStart, 6, 10, Some("name"));
        check(line, UTF16CodeUnitOffsetFromLineStart, 2, 3, None);
        check(line, UTF8CodeUnitOffsetFromLineStart, 3, 5, None);
        check(line, UTF32CodeUnitOffsetFromLineStart, 12, 40, None);
        check(line, UTF32CodeUnitOffsetFromLineStart, 9, 8, None);
    }

    #[test]
    fn ranges_of_a_line_may_come_in_any_order() {
        let encoding = PositionEncoding::UTF16CodeUnitOffsetFromLineStart;
        let mut columns = Columns::new("🦀ab 🦀cd".as_bytes(), encoding);
        let mut at = |start, end| {
            let range = UnitRange {
                line: 0,
                start,
                end,
            };
            columns.resolve(range)
        };
        assert_eq!(at(7, 9), Some((11, &b"cd"[..])));
        assert_eq!(at(2, 4), Some((4, &b"ab"[..])));
        assert_eq!(at(7, 9), Some((11, &b"cd"[..])));
    }
}
