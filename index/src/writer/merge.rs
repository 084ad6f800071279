//! Merges sorted runs to posting lists, one trigram at a time.

use crate::builder::RunReader;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;

/// Where a sorted run is in the file, and the number of the first block of its segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunExtent {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) base: u32,
}

/// Bytes of a run that are read at once, if memory allows.
const BUFFER_BYTES_MAX: usize = 64 << 10;
/// Bytes of a run that are read at once, at least.
const BUFFER_BYTES_MIN: usize = 4 << 10;

/// Reads all runs in the order of their trigrams.
pub(super) struct RunMerge<'a> {
    readers: Vec<(RunReader<BufReader<FileRange<'a>>>, u32)>,
    /// The next trigram of each run that is not at its end; of equal trigrams the earlier run first.
    heads: BinaryHeap<Reverse<(u32, usize)>>,
}

impl<'a> RunMerge<'a> {
    /// Merges the `runs` in `file` with about `memory_bytes` of buffers.
    pub(super) fn new(file: &'a File, runs: &[RunExtent], memory_bytes: usize) -> io::Result<Self> {
        let buffer = (memory_bytes / runs.len().max(1)).clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX);
        let mut merge = RunMerge {
            readers: Vec::new(),
            heads: BinaryHeap::new(),
        };
        for (index, run) in runs.iter().enumerate() {
            let part = FileRange {
                file,
                offset: run.offset,
                end: run.offset + run.bytes,
            };
            let reader = RunReader::new(BufReader::with_capacity(buffer, part));
            merge.readers.push((reader, run.base));
            merge.advance(index)?;
        }
        Ok(merge)
    }

    /// Returns the next trigram and puts its blocks into `blocks`.
    pub(super) fn next(&mut self, blocks: &mut Vec<u32>) -> io::Result<Option<u32>> {
        blocks.clear();
        let Some(&Reverse((trigram, _))) = self.heads.peek() else {
            return Ok(None);
        };
        while let Some(&Reverse((head, index))) = self.heads.peek()
            && head == trigram
        {
            self.heads.pop();
            let (reader, base) = &mut self.readers[index];
            reader.list(*base, blocks)?;
            self.advance(index)?;
        }
        Ok(Some(trigram))
    }

    fn advance(&mut self, index: usize) -> io::Result<()> {
        if let Some(trigram) = self.readers[index].0.trigram()? {
            self.heads.push(Reverse((trigram, index)));
        }
        Ok(())
    }
}

/// A range of a file, read without moving the file's own position.
struct FileRange<'a> {
    file: &'a File,
    offset: u64,
    end: u64,
}

impl Read for FileRange<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.offset).unwrap_or(usize::MAX);
        let length = buffer.len().min(left);
        let read = self.file.read_at(&mut buffer[..length], self.offset)?;
        if read == 0 && length > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.offset += read as u64;
        Ok(read)
    }
}
