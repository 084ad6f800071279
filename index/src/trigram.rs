//! Trigrams: three consecutive bytes of one line, ASCII letters folded to lower case.
//!
//! Folding halves the common part of the dictionary and makes a search that ignores case cost the
//! same as one that does not; verification applies the case. Only ASCII is folded; the planner
//! enumerates the other characters that Unicode folds.
//! **Invariant:** a trigram never contains `\n`, neither in an index nor in a plan.

use fnv::FnvHasher;
use std::fmt;
use std::hash::Hasher;

/// Three folded bytes, the first one the most significant, so trigrams are ordered as their bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trigram(u32);

/// Values of the first byte of a key that stands for a defined word: folded text has none of them.
const UPPER: u32 = 26;

/// Number of values that a trigram can have.
const VALUES: usize = 1 << 24;

impl Trigram {
    /// Returns the trigram of three bytes of text; `None` when one of them is a line end.
    pub fn of(bytes: [u8; 3]) -> Option<Trigram> {
        if bytes.contains(&b'\n') {
            return None;
        }
        let [a, b, c] = bytes.map(|byte| u32::from(byte.to_ascii_lowercase()));
        Some(Trigram(a << 16 | b << 8 | c))
    }

    /// Returns the key under which a shard lists the blocks that define a word at this level: one that no trigram of
    /// text has, because its first byte is an upper-case letter. Several words may share a key.
    pub fn of_definition(word: &[u8], level: u8) -> Trigram {
        let mut hasher = FnvHasher::default();
        for byte in word {
            hasher.write_u8(byte.to_ascii_lowercase());
        }
        hasher.write_u8(level);
        // FNV mixes its low bits least.
        let hash = (hasher.finish() >> 20) as u32;
        Trigram(((u32::from(b'A') + hash % UPPER) << 16) | ((hash / UPPER) & 0xffff))
    }

    /// Converts a value below 2^24.
    pub(crate) fn from_value(value: u32) -> Trigram {
        debug_assert!((value as usize) < VALUES);
        Trigram(value)
    }

    /// Returns its value, below 2^24.
    pub(crate) fn value(self) -> u32 {
        self.0
    }

    /// Returns its three folded bytes.
    pub fn bytes(self) -> [u8; 3] {
        let [_, a, b, c] = self.0.to_be_bytes();
        [a, b, c]
    }
}

impl fmt::Debug for Trigram {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\"{}\"", self.bytes().escape_ascii())
    }
}

/// The distinct trigrams of one block, collected from pieces of its text.
///
/// One bit for every possible trigram: 2 MiB, which fit into a second-level cache. Emptying it costs as much as the block,
/// not the size of the set.
pub(crate) struct TrigramSet {
    /// A bit for each trigram. Its first byte is the least significant one of the number, so that a shift makes the next
    /// window of text from the last. The words have 32 bits: two writes to one word in a row, of which the second has to
    /// wait for the first, are rare.
    bits: Box<[u32; VALUES / 32]>,
    /// The members that have not been reported, in the order of bits. Some contain a line end.
    found: Box<[u32; FOUND_MAX]>,
    count: usize,
    /// The windows of a part of a piece, those that were in the set before with the bit [`KNOWN`].
    windows: [u32; PART_BYTES],
    inside: InsideLine,
    /// Whether some members have been reported, so that only `bits` has all.
    is_partly_reported: bool,
    /// The last three bytes of text, folded; line ends where there were less.
    window: u32,
}

/// Bytes of text whose trigrams are collected at once; a power of two.
const PIECE_BYTES: usize = 4096;

/// Members that are not reported yet, at most: as many as those of a few blocks. Only a long line has more.
const FOUND_MAX: usize = 4 * PIECE_BYTES;

/// Bytes of a piece that both loops go over in turn: their windows stay in the first-level cache.
const PART_BYTES: usize = 256;

/// Above all bits of a window.
const KNOWN: u32 = 1 << 31;

const LINE_ENDS: u32 = 0x0a_0a_0a;

/// For each byte its folded value, as the last one of a window.
static FOLDED: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = ((byte as u8).to_ascii_lowercase() as u32) << 16;
        byte += 1;
    }
    table
};

impl TrigramSet {
    pub(crate) fn new() -> Self {
        TrigramSet {
            bits: boxed(0),
            found: boxed(0),
            count: 0,
            windows: [0; PART_BYTES],
            inside: InsideLine(boxed(Trigram(0))),
            is_partly_reported: false,
            window: LINE_ENDS,
        }
    }

    /// Adds the trigrams of `text`, which continues the text added before. Calls `report` with members that there is no
    /// room for; the rest is left to [`finish`](Self::finish).
    pub(crate) fn extend(&mut self, text: &[u8], mut report: impl FnMut(&[Trigram])) {
        for piece in text.chunks(PIECE_BYTES) {
            if self.count > FOUND_MAX - PIECE_BYTES {
                report(self.inside.of(&self.found[..self.count]));
                (self.count, self.is_partly_reported) = (0, true);
            }
            self.extend_by_piece(piece);
        }
    }

    /// Adds the trigrams of a piece of text. One in five is new, which a processor cannot predict, so there is no branch:
    /// one that is not new is overwritten by the next one. Those that contain a line end are dropped later, when they are
    /// distinct.
    ///
    /// There are two loops. In a single one, each read of `bits` had to wait for the one before, which decides where
    /// `found` is written: a processor does not know that the two places differ. Two loops take three quarters of the time.
    fn extend_by_piece(&mut self, piece: &[u8]) {
        let found = &mut self.found[self.count..][..PIECE_BYTES];
        let found: &mut [u32; PIECE_BYTES] = found.try_into().expect("a slice of this length");
        let (mut window, mut count) = (self.window, 0);
        for part in piece.chunks(PART_BYTES) {
            let windows = &mut self.windows[..part.len()];
            for (&byte, marked) in part.iter().zip(&mut *windows) {
                window = window >> 8 | FOLDED[usize::from(byte)];
                let word = &mut self.bits[(window / 32) as usize % (VALUES / 32)];
                let bit = window % 32;
                let is_known = *word >> bit & 1;
                *marked = window | (is_known * KNOWN);
                *word |= 1 << bit;
            }
            for &marked in &*windows {
                found[count % PIECE_BYTES] = marked;
                count += usize::from(marked < KNOWN);
            }
        }
        self.window = window;
        self.count += count;
    }

    /// Reports the members that have not been reported, and makes the set empty.
    pub(crate) fn finish(&mut self, mut report: impl FnMut(&[Trigram])) {
        let found = &self.found[..self.count];
        if self.is_partly_reported {
            self.bits.fill(0);
        } else {
            for window in found {
                self.bits[(window / 32) as usize] = 0;
            }
        }
        report(self.inside.of(found));
        (self.count, self.is_partly_reported) = (0, false);
        self.window = LINE_ENDS;
    }

    /// Makes the set empty.
    pub(crate) fn clear(&mut self) {
        self.finish(|_| {});
    }
}

/// Trigrams of windows that are inside a line.
struct InsideLine(Box<[Trigram; FOUND_MAX]>);

impl InsideLine {
    /// Returns the trigrams of windows that contain no line end. There is no branch, for the same reason as in
    /// [`TrigramSet::extend_by_piece`].
    fn of(&mut self, windows: &[u32]) -> &[Trigram] {
        let mut count = 0;
        for &window in windows {
            let others = window ^ LINE_ENDS;
            let has_line_end = others.wrapping_sub(0x01_01_01) & !others & 0x80_80_80 != 0;
            self.0[count % FOUND_MAX] = Trigram(window.swap_bytes() >> 8);
            count += usize::from(!has_line_end);
        }
        &self.0[..count]
    }
}

/// Returns `N` times `value`, without an array on the stack.
fn boxed<T: Copy, const N: usize>(value: T) -> Box<[T; N]> {
    let values = vec![value; N].into_boxed_slice();
    values.try_into().ok().expect("a slice of this length")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter;

    fn collect(pieces: &[&str]) -> Vec<String> {
        let mut set = TrigramSet::new();
        let mut found = Vec::new();
        for piece in pieces {
            set.extend(piece.as_bytes(), |some| found.extend_from_slice(some));
        }
        set.finish(|rest| found.extend_from_slice(rest));
        assert!(set.bits.iter().all(|&word| word == 0), "empty");
        found.iter().map(|trigram| format!("{trigram:?}")).collect()
    }

    #[test]
    fn trigrams_are_folded_distinct_and_inside_one_line() {
        assert_eq!(
            collect(&["ArSearse"]),
            ["\"ars\"", "\"rse\"", "\"sea\"", "\"ear\""]
        );
        assert_eq!(collect(&["ab\ncd\nefg\r\n"]), ["\"efg\"", "\"fg\\r\""]);
        assert_eq!(collect(&["a", "", "b", "cd"]), ["\"abc\"", "\"bcd\""]);
        assert_eq!(collect(&["ab", "\n", "cde"]), ["\"cde\""]);
        assert_eq!(collect(&["", "ab"]), [""; 0]);
    }

    #[test]
    fn a_long_line_is_reported_in_parts_and_each_trigram_once() {
        let mut set = TrigramSet::new();
        let mut state = 1_u64;
        let line: Vec<u8> = iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        })
        .take(300_000)
        .collect();
        let windows = line.windows(3);
        let mut expected: Vec<_> = windows
            .filter_map(|bytes| Trigram::of(bytes.try_into().unwrap()))
            .collect();
        expected.sort_unstable();
        expected.dedup();
        assert!(expected.len() > 2 * FOUND_MAX);
        for _ in 0..2 {
            let (mut found, mut early) = (Vec::new(), 0);
            set.extend(&line, |some| {
                found.extend_from_slice(some);
                early += some.len();
            });
            assert!(early > FOUND_MAX);
            set.finish(|rest| found.extend_from_slice(rest));
            found.sort_unstable();
            assert!(found == expected);
            assert!(set.bits.iter().all(|&word| word == 0), "empty");
        }
        set.extend(&line, |_| {});
        set.clear();
        assert!(set.bits.iter().all(|&word| word == 0), "empty");
    }

    #[test]
    fn only_ascii_is_folded() {
        assert_eq!(Trigram::of(*b"A\xC4Z").unwrap().bytes(), *b"a\xC4z");
        assert_eq!(Trigram::of(*b"a\nz"), None);
    }
}
