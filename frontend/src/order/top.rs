//! The best few matches of a stream, while it runs.

use super::pointer::Pointer;

/// How many of the best matches are shown while a query runs.
pub const BEST_MAX: usize = 10;

/// The best pointers seen so far. Documents whose hashes collide are not told apart: the sorted page
/// replaces these matches when the query ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct TopPointers {
    /// Best first, at most [`BEST_MAX`].
    pointers: Vec<Pointer>,
}

impl TopPointers {
    pub(crate) fn offer(&mut self, pointer: Pointer) {
        let full = self.pointers.len() == BEST_MAX;
        if full && pointer.sort_key() > self.pointers[BEST_MAX - 1].sort_key() {
            return;
        }
        let at = self
            .pointers
            .partition_point(|other| other.sort_key() <= pointer.sort_key());
        if at < BEST_MAX {
            self.pointers.truncate(BEST_MAX - 1);
            self.pointers.insert(at, pointer);
        }
    }

    pub(crate) fn pointers(&self) -> &[Pointer] {
        &self.pointers
    }
}

#[cfg(test)]
mod tests {
    use super::super::pointer::Origin;
    use super::*;

    #[test]
    fn keeps_the_pointers_that_sorting_puts_first() {
        let mut best = TopPointers::default();
        let mut all: Vec<_> = (0_u32..200)
            .map(|n| {
                let origin = Origin {
                    hash: u64::from(n * 7919 % 13),
                    package: 0,
                    backend: 0,
                    offset: 0,
                };
                origin.pointer((n * 31 % 17) as f32, n, n)
            })
            .collect();
        all.iter().for_each(|&pointer| best.offer(pointer));
        all.sort_unstable_by_key(Pointer::sort_key);
        assert_eq!(best.pointers(), &all[..BEST_MAX]);
    }
}
