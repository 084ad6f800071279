//! Trigrams: three consecutive bytes of one line, ASCII letters folded to lower case.
//!
//! Folding shrinks the dictionary and makes case-insensitive search as fast. Verification applies
//! the case; the planner enumerates non-ASCII folds.
//! **Invariant:** a trigram never contains `\n`, neither in an index nor in a plan.

#![deny(clippy::disallowed_methods)]

use fnv::FnvHasher;
use std::fmt;
use std::hash::Hasher;

/// Three folded bytes, first byte most significant: ordered like the bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trigram(u32);

/// Number of first bytes of definition keys: upper-case letters, absent from folded text.
const UPPER: u32 = 26;

const VALUES: usize = 1 << 24;

impl Trigram {
    /// `None` for a line end.
    pub fn of(bytes: [u8; 3]) -> Option<Trigram> {
        if bytes.contains(&b'\n') {
            return None;
        }
        let [a, b, c] = bytes.map(|byte| u32::from(byte.to_ascii_lowercase()));
        Some(Trigram(a << 16 | b << 8 | c))
    }

    /// Key for blocks that define a word at this level. It begins with an upper-case
    /// letter, unlike trigrams of text. Words may share a key.
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

    pub fn is_definition(self) -> bool {
        self.bytes()[0].is_ascii_uppercase()
    }

    pub(crate) fn from_value(value: u32) -> Trigram {
        debug_assert!((value as usize) < VALUES);
        Trigram(value)
    }

    pub(crate) fn value(self) -> u32 {
        self.0
    }

    pub fn bytes(self) -> [u8; 3] {
        let [_, a, b, c] = self.0.to_be_bytes();
        [a, b, c]
    }
}

impl fmt::Debug for Trigram {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_definition() {
            return write!(out, "definition {:x}", self.0);
        }
        write!(out, "\"{}\"", self.bytes().escape_ascii())
    }
}

/// Distinct trigrams of one block: a bitmap of 2 MiB, which fits a second-level cache. Clearing
/// takes time proportional to the block.
pub(crate) struct TrigramSet {
    /// First byte least significant, so a shift turns one window into the next. Words of 32 bits
    /// make dependent writes rare.
    bits: Box<[u32; VALUES / 32]>,
    /// Unreported members; some contain a line end.
    found: Box<[u32; FOUND_MAX]>,
    count: usize,
    /// Windows of a part of a piece; the bit [`KNOWN`] marks those already in the set.
    windows: [u32; PART_BYTES],
    /// Unreported, without line ends.
    inside: Box<[Trigram; FOUND_MAX]>,
    /// Some were reported: only `bits` is complete.
    is_partly_reported: bool,
    /// Last three bytes, folded; padded with line ends.
    window: u32,
}

/// Bytes processed at once; a power of two.
const PIECE_BYTES: usize = 4096;

/// Unreported members, at most: enough for a few blocks.
const FOUND_MAX: usize = 4 * PIECE_BYTES;

/// Bytes of a piece per loop pass: their windows stay in the first-level cache.
const PART_BYTES: usize = 256;

const KNOWN: u32 = 1 << 31;

const LINE_ENDS: u32 = 0x0a_0a_0a;

/// Folded value of each byte, as the last one of a window.
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
            inside: boxed(Trigram(0)),
            is_partly_reported: false,
            window: LINE_ENDS,
        }
    }

    /// Adds the trigrams of `text`, which continues the previous text. Calls `report` on overflow;
    /// [`finish`](Self::finish) reports the rest.
    pub(crate) fn extend(&mut self, text: &[u8], mut report: impl FnMut(&[Trigram])) {
        for piece in text.chunks(PIECE_BYTES) {
            if self.count > FOUND_MAX - PIECE_BYTES {
                report(inside_line(&self.found[..self.count], &mut self.inside));
                (self.count, self.is_partly_reported) = (0, true);
            }
            self.extend_by_piece(piece);
        }
    }

    /// Adds the trigrams of a piece. Branch-free: a known one is overwritten by the next. Those
    /// with a line end are dropped later.
    ///
    /// Two loops: in a single one each read of `bits` waits for the previous write to `found`,
    /// because the processor cannot rule out aliasing.
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

    pub(crate) fn finish(&mut self, mut report: impl FnMut(&[Trigram])) {
        let found = &self.found[..self.count];
        if self.is_partly_reported {
            self.bits.fill(0);
        } else {
            for window in found {
                self.bits[(window / 32) as usize] = 0;
            }
        }
        report(inside_line(found, &mut self.inside));
        (self.count, self.is_partly_reported) = (0, false);
        self.window = LINE_ENDS;
    }
}

fn inside_line<'a>(windows: &[u32], inside: &'a mut [Trigram; FOUND_MAX]) -> &'a [Trigram] {
    let mut count = 0;
    for &window in windows {
        let others = window ^ LINE_ENDS;
        let has_line_end = others.wrapping_sub(0x01_01_01) & !others & 0x80_80_80 != 0;
        inside[count % FOUND_MAX] = Trigram(window.swap_bytes() >> 8);
        count += usize::from(!has_line_end);
    }
    &inside[..count]
}

/// Avoids an array on the stack.
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
        set.finish(|_| {});
        assert!(set.bits.iter().all(|&word| word == 0), "empty");
    }

    #[test]
    fn only_ascii_is_folded() {
        assert_eq!(Trigram::of(*b"A\xC4Z").unwrap().bytes(), *b"a\xC4z");
        assert_eq!(Trigram::of(*b"a\nz"), None);
    }
}
