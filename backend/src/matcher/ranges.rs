//! Lines without their ends, and ranges of matches in them.

/// 40 fill a screen.
pub const RANGES_MAX: usize = 128;

/// Sorts ranges, and removes those that overlap an earlier one.
pub(crate) fn remove_overlaps(ranges: &mut Vec<(usize, usize)>) {
    ranges.sort_unstable_by_key(|&(start, end)| (start, std::cmp::Reverse(end)));
    let mut last: Option<(usize, usize)> = None;
    ranges.retain(|&(start, end)| {
        let is_empty = start == end;
        let is_apart = last.is_none_or(|last| start > last.1 || (start == last.1 && !is_empty));
        if is_apart {
            last = Some((start, end));
        }
        is_apart
    });
}

/// Line without `\n` or `\r\n`. A `\r` at the end of the text does not end a line.
pub fn without_end(line: &[u8]) -> &[u8] {
    let Some(line) = line.strip_suffix(b"\n") else {
        return line;
    };
    line.strip_suffix(b"\r").unwrap_or(line)
}
