//! Reproducible random numbers.

use std::ops::Range;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % bound as u64) as usize
    }

    pub(crate) fn of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len())]
    }
}

/// `TRAWL_SEEDS` overrides `count`, and `TRAWL_SEED` the first seed.
pub(crate) fn seeds(count: u64) -> Range<u64> {
    let variable = |name| std::env::var(name).ok()?.parse().ok();
    let first = variable("TRAWL_SEED").unwrap_or(0);
    first..first + variable("TRAWL_SEEDS").unwrap_or(count)
}
