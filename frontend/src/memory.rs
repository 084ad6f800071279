//! The memory that pointers of running queries may take: of all queries together, and of each stream.
//!
//! Who is refused more writes what it has to the disk. What is not counted here has bounds of its
//! own, which do not depend on the number of matches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What all queries share.
#[derive(Debug)]
pub(crate) struct Memory {
    left: AtomicU64,
}

impl Memory {
    pub(crate) fn new(bytes: u64) -> Arc<Memory> {
        Arc::new(Memory {
            left: AtomicU64::new(bytes),
        })
    }

    /// A share that grows to at most so many bytes, and has none yet.
    pub(crate) fn share(self: &Arc<Self>, bytes_max: u64) -> Share {
        Share {
            memory: Arc::clone(self),
            bytes: 0,
            bytes_max,
        }
    }

    fn take(&self, bytes: u64) -> bool {
        let less = |left: u64| left.checked_sub(bytes);
        self.left.fetch_update(Relaxed, Relaxed, less).is_ok()
    }

    #[cfg(test)]
    pub(crate) fn left(&self) -> u64 {
        self.left.load(Relaxed)
    }
}

/// What one stream has of the memory. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Share {
    memory: Arc<Memory>,
    bytes: u64,
    bytes_max: u64,
}

impl Share {
    /// Takes so many bytes more, all of them or none.
    pub(crate) fn grow(&mut self, bytes: u64) -> bool {
        if self.bytes + bytes > self.bytes_max || !self.memory.take(bytes) {
            return false;
        }
        self.bytes += bytes;
        true
    }

    /// Gives everything back.
    pub(crate) fn release(&mut self) {
        self.memory.left.fetch_add(self.bytes, Relaxed);
        self.bytes = 0;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_grow_up_to_their_bound_and_that_of_all() {
        let memory = Memory::new(100);
        let (mut one, mut other) = (memory.share(60), memory.share(60));
        assert!(one.grow(50) && !one.grow(20) && one.grow(10));
        assert!(!other.grow(50) && other.grow(40));
        drop(one);
        assert_eq!(memory.left(), 60);
        assert!(other.grow(20) && !other.grow(1));
        other.release();
        assert_eq!(memory.left(), 100);
    }
}
