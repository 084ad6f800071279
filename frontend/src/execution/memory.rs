//! Memory budget for pointers, of all queries and of each stream.
//!
//! Given out in reusable chunks of one size, since mixed sizes fragment the heap. A stream that is
//! denied a chunk spills to disk.

use cache::lock;
use results::order::Pointer;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Pointers in a chunk: half a megabyte, sorted within a CPU cache.
pub(crate) const CHUNK_LEN: usize = 16 << 10;

const CHUNK_BYTES: u64 = (CHUNK_LEN * size_of::<Pointer>()) as u64;

#[derive(Debug)]
pub(crate) struct Memory {
    chunks_max: usize,
    pool: Mutex<Pool>,
}

#[derive(Debug, Default)]
struct Pool {
    /// Chunks held or reserved.
    taken: usize,
    reserved: usize,
    free: Vec<Vec<Pointer>>,
}

impl Memory {
    pub(crate) fn new(bytes: u64) -> Arc<Memory> {
        Arc::new(Memory {
            chunks_max: (bytes / CHUNK_BYTES) as usize,
            pool: Mutex::default(),
        })
    }

    pub(crate) fn share(self: &Arc<Self>, bytes_max: u64) -> Arc<Share> {
        Arc::new(Share {
            memory: Arc::clone(self),
            taken: AtomicUsize::new(0),
            chunks_max: (bytes_max / CHUNK_BYTES) as usize,
        })
    }

    fn take(&self) -> Option<Vec<Pointer>> {
        let mut pool = lock(&self.pool);
        if pool.taken == self.chunks_max {
            return None;
        }
        pool.taken += 1;
        let free = pool.free.pop();
        drop(pool);
        Some(free.unwrap_or_else(|| Vec::with_capacity(CHUNK_LEN)))
    }

    fn give_back(&self, mut pointers: Vec<Pointer>) {
        pointers.clear();
        let mut pool = lock(&self.pool);
        pool.taken -= 1;
        pool.free.push(pointers);
    }

    /// Takes a part of the budget for other uses. Required reservations get at most three quarters,
    /// so slow clients do not push every query to disk; optional ones get a half.
    pub(crate) fn reserve(self: &Arc<Self>, bytes: u64, need: Need) -> Option<Reservation> {
        let chunks = bytes.div_ceil(CHUNK_BYTES) as usize;
        let reserved_max = match need {
            Need::Required => self.chunks_max * 3 / 4,
            Need::Optional => self.chunks_max / 2,
        };
        let mut pool = lock(&self.pool);
        if pool.reserved + chunks > reserved_max || pool.taken + chunks > self.chunks_max {
            return None;
        }
        pool.reserved += chunks;
        pool.taken += chunks;
        let free = self.chunks_max - pool.taken;
        pool.free.truncate(free);
        drop(pool);
        let memory = Arc::clone(self);
        Some(Reservation { memory, chunks })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Without it the client is refused.
    Required,
    /// Without it the client is served more slowly.
    Optional,
}

/// Part of the budget, released on drop.
#[derive(Debug)]
pub struct Reservation {
    memory: Arc<Memory>,
    chunks: usize,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut pool = lock(&self.memory.pool);
        pool.reserved -= self.chunks;
        pool.taken -= self.chunks;
    }
}

#[derive(Debug)]
pub(crate) struct Share {
    memory: Arc<Memory>,
    taken: AtomicUsize,
    chunks_max: usize,
}

impl Share {
    /// `None` if the share or the budget is used up.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Chunk> {
        if self.taken.load(Relaxed) == self.chunks_max {
            return None;
        }
        let pointers = self.memory.take()?;
        self.taken.fetch_add(1, Relaxed);
        Some(Chunk {
            pointers,
            share: Some(Arc::clone(self)),
        })
    }
}

/// Memory for [`CHUNK_LEN`] pointers, released on drop.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) pointers: Vec<Pointer>,
    /// `None`: uncounted, grows as needed.
    share: Option<Arc<Share>>,
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if let Some(share) = self.share.take() {
            share.memory.give_back(mem::take(&mut self.pointers));
            share.taken.fetch_sub(1, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Memory {
        pub(crate) fn left(&self) -> u64 {
            (self.chunks_max - lock(&self.pool).taken) as u64 * CHUNK_BYTES
        }
    }

    #[test]
    fn a_share_is_bounded_by_its_own_size_and_by_the_budget() {
        let memory = Memory::new(10 * CHUNK_BYTES + 1);
        let (one, other) = (memory.share(6 * CHUNK_BYTES), memory.share(6 * CHUNK_BYTES));
        let mut chunks: Vec<_> = std::iter::from_fn(|| one.take()).collect();
        assert_eq!(chunks.len(), 6);
        let others: Vec<_> = std::iter::from_fn(|| other.take()).collect();
        assert_eq!((others.len(), memory.left()), (4, 0));
        chunks.pop();
        let again = other.take();
        assert!(again.is_some_and(|chunk| chunk.pointers.capacity() >= CHUNK_LEN));
        assert!(
            one.take().is_some() && one.take().is_some(),
            "it was given back"
        );
        drop((chunks, others));
        assert_eq!(memory.left(), 10 * CHUNK_BYTES);
    }

    #[test]
    fn reservations_have_a_part_of_the_budget_and_free_unused_chunks() {
        let memory = Memory::new(10 * CHUNK_BYTES);
        let share = memory.share(10 * CHUNK_BYTES);
        let chunks: Vec<_> = std::iter::from_fn(|| share.take()).collect();
        let reserve = |bytes| memory.reserve(bytes, Need::Required);
        assert!(reserve(1).is_none(), "everything is taken");
        drop(chunks);
        let reserved = reserve(7 * CHUNK_BYTES - 1);
        assert!(reserved.is_some() && reserve(1).is_none());
        assert_eq!(lock(&memory.pool).free.len(), 3);
        let others: Vec<_> = std::iter::from_fn(|| share.take()).collect();
        assert_eq!(others.len(), 3);
        drop((reserved, others));
        assert_eq!(memory.left(), 10 * CHUNK_BYTES);
        let optional = memory.reserve(5 * CHUNK_BYTES, Need::Optional);
        assert!(optional.is_some() && memory.reserve(1, Need::Optional).is_none());
        assert!(reserve(1).is_some());
    }
}
