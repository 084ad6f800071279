//! Trigrams: three consecutive bytes of one line, ASCII letters folded to lower case.
//!
//! Folding halves the dictionary's common part and makes a search that ignores case cost what one
//! that does not costs; the verification applies the case. Only ASCII is folded: what Unicode
//! folds beyond it is spelled out by the planner.
//! **Invariant:** a trigram never contains `\n`: neither an index nor a plan has one that does.

use std::fmt;

/// Three folded bytes, the first one the most significant: trigrams order as their bytes do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trigram(u32);

/// How many values a trigram can have.
const VALUES: usize = 1 << 24;

impl Trigram {
    /// The trigram of three bytes of text; `None` when a line ends among them.
    pub fn of(bytes: [u8; 3]) -> Option<Trigram> {
        if bytes.contains(&b'\n') {
            return None;
        }
        let [a, b, c] = bytes.map(|byte| u32::from(byte.to_ascii_lowercase()));
        Some(Trigram(a << 16 | b << 8 | c))
    }

    /// From its value, below 2^24.
    pub(crate) fn from_value(value: u32) -> Trigram {
        debug_assert!((value as usize) < VALUES);
        Trigram(value)
    }

    /// Its value, below 2^24.
    pub(crate) fn value(self) -> u32 {
        self.0
    }

    /// Its three folded bytes.
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
/// A bit for every possible trigram, 2 MiB, which a second-level cache holds; clearing it costs
/// what the block put in, not its size.
pub(crate) struct TrigramSet {
    bits: Box<[u64]>,
    /// The last bytes taken, folded.
    window: u32,
    /// A one bit for each of the last three bytes that ends a line or is not there.
    barrier: u32,
}

/// The folded byte, and in bit 8 whether it ends a line.
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
            bits: vec![0; VALUES / 64].into_boxed_slice(),
            window: 0,
            barrier: 0b11,
        }
    }

    /// Adds the trigrams of `text`, which follows what was added before, and reports each one that
    /// was not there yet.
    pub(crate) fn extend(&mut self, text: &[u8], mut added: impl FnMut(u32)) {
        let (mut window, mut barrier) = (self.window, self.barrier);
        for &byte in text {
            let folded = u32::from(FOLDED[usize::from(byte)]);
            window = (window << 8 | folded & 0xff) & 0xff_ffff;
            barrier = (barrier << 1 | folded >> 8) & 0b111;
            if barrier == 0 {
                let word = &mut self.bits[(window / 64) as usize];
                let bit = 1 << (window % 64);
                if *word & bit == 0 {
                    *word |= bit;
                    added(window);
                }
            }
        }
        (self.window, self.barrier) = (window, barrier);
    }

    /// Makes the set empty: `members` are what [`extend`](Self::extend) has reported since.
    pub(crate) fn clear(&mut self, members: impl Iterator<Item = u32>) {
        for member in members {
            self.bits[(member / 64) as usize] = 0;
        }
        (self.window, self.barrier) = (0, 0b11);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(pieces: &[&str]) -> Vec<String> {
        let mut set = TrigramSet::new();
        let mut found = Vec::new();
        for piece in pieces {
            set.extend(piece.as_bytes(), |value| found.push(value));
        }
        set.clear(found.iter().copied());
        assert!(set.bits.iter().all(|&word| word == 0), "cleared");
        found
            .iter()
            .map(|&value| format!("{:?}", Trigram::from_value(value)))
            .collect()
    }

    #[test]
    fn trigrams_are_folded_distinct_and_of_one_line() {
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
