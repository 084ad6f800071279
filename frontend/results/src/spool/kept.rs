//! Bytes of a file in memory, in chunks.
//!
//! A chunk held by a reader does not change. So frames are read in place during appends, and their
//! text can outlive the reader without a copy.
//!
//! **Invariant:** bytes appended together are in one chunk.

use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of a chunk, unless more are appended together.
const CHUNK_BYTES: usize = 1 << 20;

const SPARES_MAX: usize = 2;

#[derive(Debug, Default)]
pub(super) struct Kept {
    chunks: VecDeque<MemoryChunk>,
    pub(super) end: u64,
    spares: Vec<Vec<u8>>,
}

#[derive(Clone, Debug)]
pub(super) struct MemoryChunk {
    pub(super) start: u64,
    pub(super) bytes: Arc<Vec<u8>>,
}

impl MemoryChunk {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl Kept {
    fn len(&self) -> u64 {
        let first = self.chunks.front();
        first.map_or(0, |first| self.end - first.start)
    }

    pub(super) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().map(|chunk| &chunk.bytes[..])
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        let len = self.len() as usize;
        let start = self.end;
        self.end += bytes.len() as u64;
        let mut wanted = len;
        if let Some(last) = self.chunks.back_mut()
            && last.bytes.capacity() - last.bytes.len() >= bytes.len()
        {
            if let Some(last) = Arc::get_mut(&mut last.bytes) {
                last.extend_from_slice(bytes);
                return;
            }
            // A reader holds it. If that is frequent, appends and their chunks are small.
            wanted = last.bytes.len();
        }
        // Few bytes take little memory, many are in few chunks.
        let capacity = bytes.len().max(wanted.min(CHUNK_BYTES));
        let spare = self.spares.pop_if(|_| capacity == CHUNK_BYTES);
        let mut chunk = spare.unwrap_or_else(|| Vec::with_capacity(capacity));
        chunk.extend_from_slice(bytes);
        let bytes = Arc::new(chunk);
        self.chunks.push_back(MemoryChunk { start, bytes });
    }

    pub(super) fn chunk(&self, offset: u64) -> Option<&MemoryChunk> {
        let behind = self.chunks.partition_point(|chunk| chunk.start <= offset);
        let chunk = self.chunks.get(behind.checked_sub(1)?)?;
        (offset < chunk.end()).then_some(chunk)
    }

    /// Copies bytes from `offset` on, as many as there are; none if released.
    pub(super) fn copy_to(&self, space: &mut [u8], offset: u64) -> usize {
        let mut copied = 0;
        while copied < space.len()
            && let at = offset + copied as u64
            && let Some(chunk) = self.chunk(at)
        {
            let bytes = &chunk.bytes[(at - chunk.start) as usize..];
            let bytes = &bytes[..bytes.len().min(space.len() - copied)];
            space[copied..][..bytes.len()].copy_from_slice(bytes);
            copied += bytes.len();
        }
        copied
    }

    /// Releases chunks that end at or before `offset`. Returns their bytes.
    pub(super) fn release(&mut self, offset: u64) -> usize {
        let mut released = 0;
        while let Some(chunk) = self.chunks.pop_front_if(|chunk| chunk.end() <= offset) {
            released += chunk.bytes.len();
            if self.spares.len() < SPARES_MAX
                && chunk.bytes.capacity() == CHUNK_BYTES
                && let Some(mut spare) = Arc::into_inner(chunk.bytes)
            {
                spare.clear();
                self.spares.push(spare);
            }
        }
        released
    }

    /// Nothing more is appended.
    pub(super) fn complete(&mut self) -> Kept {
        Kept {
            spares: Vec::new(),
            ..std::mem::take(self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(kept: &Kept, offset: u64, bytes: usize) -> Vec<u8> {
        let mut space = vec![0; bytes];
        let copied = kept.copy_to(&mut space, offset);
        space.truncate(copied);
        space
    }

    #[test]
    fn bytes_are_found_in_whichever_chunk_they_are() {
        let mut kept = Kept::default();
        let mut all = Vec::new();
        for n in 0..200_u8 {
            let some = vec![n; usize::from(n) * 100];
            kept.append(&some);
            all.extend_from_slice(&some);
        }
        assert!(kept.chunks.len() < 20, "{} chunks", kept.chunks.len());
        assert_eq!(kept.chunks().collect::<Vec<_>>().concat(), all);
        for offset in (0..all.len()).step_by(997) {
            let end = all.len().min(offset + 300_000);
            let copied = copy(&kept, offset as u64, 300_000);
            assert!(copied == all[offset..end], "{offset}");
        }
        assert!(copy(&kept, kept.end, 1).is_empty());
    }

    #[test]
    fn a_chunk_that_is_read_stays_as_it_is() {
        let mut kept = Kept::default();
        kept.append(&[1; 100]);
        kept.append(&[2; 50]);
        let read = kept.chunk(120).unwrap().clone();
        kept.append(&[3; 10]);
        assert_eq!((read.start, &read.bytes[..]), (100, &[2; 50][..]));
        assert_eq!(copy(&kept, 145, 100), [[2; 5], [3; 5], [3; 5]].concat());
    }

    #[test]
    fn released_chunks_are_gone_and_their_memory_is_used_again() {
        let mut kept = Kept::default();
        let chunk = |byte| vec![byte; CHUNK_BYTES];
        let end = 4 * CHUNK_BYTES as u64;
        (0..4).for_each(|byte| kept.append(&chunk(byte)));
        let at = |kept: &Kept, offset| kept.chunk(offset).unwrap().bytes.as_ptr();
        let second = at(&kept, CHUNK_BYTES as u64);
        assert_eq!(kept.release(CHUNK_BYTES as u64 - 1), 0);
        assert_eq!(kept.release(end - 1), 3 * CHUNK_BYTES);
        assert_eq!(kept.release(end - 1), 0);
        assert_eq!(kept.spares.len(), SPARES_MAX);
        kept.append(&[9; 70]);
        assert_eq!((kept.end, at(&kept, end)), (end + 70, second));
        assert!(copy(&kept, 150, 9).is_empty(), "they were released");
        assert_eq!(copy(&kept, end, 100), [9; 70]);
        assert_eq!(kept.complete().spares.len(), 0);
    }
}
