//! Splits text into blocks of whole lines, up to the target size; a longer line is a block of its
//! own.
//! **Invariant:** every byte is in exactly one block, which ends after a `\n` or at the end of the
//! document. A single-line match is therefore inside one block.

#![deny(clippy::disallowed_methods)]

use std::ops::RangeInclusive;

/// Default block size in bytes; `scripts/bench/bench index` compares sizes.
pub const BLOCK_BYTES: usize = 4096;

/// Useful sizes. Smaller blocks make the table of blocks outgrow the text; larger ones select too
/// little.
pub const BLOCK_BYTES_RANGE: RangeInclusive<usize> = 256..=1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    At(usize),
    /// More text is needed.
    Open,
    /// Inside a line that is its own block, up to the next line end.
    OpenLine,
}

/// End of the first block, which may be incomplete.
pub(crate) fn cut(text: &[u8], block_bytes: usize) -> Cut {
    if text.len() <= block_bytes {
        return Cut::Open;
    }
    match memchr::memrchr(b'\n', &text[..block_bytes]) {
        Some(end) => Cut::At(end + 1),
        None => {
            cut_line(&text[block_bytes..]).map_or(Cut::OpenLine, |end| Cut::At(block_bytes + end))
        }
    }
}

pub(crate) fn cut_line(text: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', text).map(|end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_lines() {
        assert_eq!(cut(b"ab\ncd\nef\n", 7), Cut::At(6));
        assert_eq!(
            cut(b"ab\ncd\n", 6),
            Cut::Open,
            "the document may end here or go on"
        );
        assert_eq!(cut(b"ab\ncd\ne", 6), Cut::At(6));
        assert_eq!(cut(b"abcdefgh", 4), Cut::OpenLine);
        assert_eq!(cut(b"abcdefgh\ni", 4), Cut::At(9));
        assert_eq!(cut(b"abc\nefgh\ni", 4), Cut::At(4));
    }
}
