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
/// One bit for every possible trigram: 2 MiB, which fit into a second-level cache. Clearing costs as
/// much as the block added, not the size of the set.
pub(crate) struct TrigramSet {
    bits: Box<[u64; VALUES / 64]>,
    /// The new trigrams of a piece of text, and room for the last one, which may not be new.
    found: Box<[u32; PIECE_BYTES]>,
    /// The last three bytes of text, folded.
    window: u32,
    /// A one bit for each of the last three bytes that is a line end or missing.
    barrier: u32,
}

/// Bytes of text whose trigrams are collected at once; a power of two.
const PIECE_BYTES: usize = 4096;

/// For each byte its folded value, and in bit 8 whether it is a line end.
static FOLDED: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).to_ascii_lowercase() as u16;
        byte += 1;
    }
    table[b'\n' as usize] = 0x100;
    table
};

impl TrigramSet {
    pub(crate) fn new() -> Self {
        TrigramSet {
            bits: zeros(),
            found: zeros(),
            window: 0,
            barrier: 0b11,
        }
    }

    /// Adds the trigrams of `text`, which continues the text added before, and calls `added` with those
    /// that are new, some at a time.
    pub(crate) fn extend(&mut self, text: &[u8], mut added: impl FnMut(&[u32])) {
        for piece in text.chunks(PIECE_BYTES) {
            let count = self.extend_by_piece(piece);
            added(&self.found[..count]);
        }
    }

    /// Adds the trigrams of a piece of text, and returns how many are new and in `found`. One in five is,
    /// which a processor cannot predict, so there is no branch: a trigram that is not new is overwritten by
    /// the next one.
    fn extend_by_piece(&mut self, piece: &[u8]) -> usize {
        let (mut window, mut barrier) = (self.window, self.barrier);
        let mut count = 0;
        for &byte in piece {
            let folded = u32::from(FOLDED[usize::from(byte)]);
            window = (window << 8 | folded & 0xff) & 0xff_ffff;
            barrier = (barrier << 1 | folded >> 8) & 0b111;
            let word = &mut self.bits[(window / 64) as usize];
            let bit = u64::from(barrier == 0) << (window % 64);
            self.found[count % PIECE_BYTES] = window;
            count += usize::from(!*word & bit != 0);
            *word |= bit;
        }
        (self.window, self.barrier) = (window, barrier);
        count
    }

    /// Adds a trigram that may be in no text. Returns whether it is new.
    pub(crate) fn insert(&mut self, trigram: Trigram) -> bool {
        let word = &mut self.bits[trigram.0 as usize / 64];
        let bit = 1 << (trigram.0 % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Makes the set empty. `members` are the trigrams that [`extend`](Self::extend) and [`insert`](Self::insert)
    /// have reported as new.
    pub(crate) fn clear(&mut self, members: impl Iterator<Item = u32>) {
        for member in members {
            self.bits[(member / 64) as usize] = 0;
        }
        (self.window, self.barrier) = (0, 0b11);
    }
}

/// Zeros, without an array on the stack.
fn zeros<T: Copy + Default, const N: usize>() -> Box<[T; N]> {
    let zeros = vec![T::default(); N].into_boxed_slice();
    zeros.try_into().ok().expect("a slice of this length")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(pieces: &[&str]) -> Vec<String> {
        let mut set = TrigramSet::new();
        let mut found = Vec::new();
        for piece in pieces {
            set.extend(piece.as_bytes(), |values| found.extend(values));
        }
        set.clear(found.iter().copied());
        assert!(set.bits.iter().all(|&word| word == 0), "cleared");
        found
            .iter()
            .map(|&value| format!("{:?}", Trigram::from_value(value)))
            .collect()
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
    fn only_ascii_is_folded() {
        assert_eq!(Trigram::of(*b"A\xC4Z").unwrap().bytes(), *b"a\xC4z");
        assert_eq!(Trigram::of(*b"a\nz"), None);
    }
}
