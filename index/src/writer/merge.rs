//! Merges sorted runs to posting lists, one trigram at a time.

use crate::builder::RunReader;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, mpsc};
use std::thread;

/// Where a sorted run is in the file, and what has become of the blocks of its segment.
#[derive(Clone, Debug)]
pub(super) struct RunExtent {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// The number of its segment's first block that is kept.
    pub(super) base: u32,
    /// The blocks of its segment that are left out: ascending ranges that do not touch.
    pub(super) dropped: Arc<[Range<u32>]>,
}

impl RunExtent {
    /// Converts blocks of the segment, which ascend from `start` on in `blocks`, to blocks of the shard.
    fn renumber(&self, blocks: &mut Vec<u32>, start: usize) {
        let (mut dropped, mut gone, mut kept) = (self.dropped.iter().peekable(), 0, start);
        for index in start..blocks.len() {
            let block = blocks[index];
            while let Some(range) = dropped.next_if(|range| range.end <= block) {
                gone += range.end - range.start;
            }
            if dropped.peek().is_none_or(|range| block < range.start) {
                blocks[kept] = self.base + block - gone;
                kept += 1;
            }
        }
        blocks.truncate(kept);
    }
}

/// Bytes of a run that are read at once, if memory allows.
const BUFFER_BYTES_MAX: usize = 64 << 10;
/// Bytes of a run that are read at once, at least.
const BUFFER_BYTES_MIN: usize = 4 << 10;

/// Blocks of the lists that are passed on at once. Three times as many are in memory: some are merged,
/// some wait, some are written. A list that is longer is passed on as a whole.
const MERGED_BLOCKS: usize = 64 << 10;

/// Posting lists of consecutive trigrams.
#[derive(Default)]
struct MergedLists {
    /// For each trigram the end of its list.
    ends: Vec<(u32, usize)>,
    blocks: Vec<u32>,
}

/// Reads all runs in the order of their trigrams.
pub(super) struct RunMerge<'a> {
    readers: Vec<(RunReader<BufReader<FileRange<'a>>>, &'a RunExtent)>,
    /// The next trigram of each run that is not at its end; of equal trigrams the earlier run first.
    heads: BinaryHeap<Reverse<(u32, usize)>>,
}

impl<'a> RunMerge<'a> {
    /// Merges the `runs` in `file` with about `memory_bytes` of buffers.
    pub(super) fn new(
        file: &'a File,
        runs: &'a [RunExtent],
        memory_bytes: usize,
    ) -> io::Result<Self> {
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
            merge.readers.push((reader, run));
            merge.advance(index)?;
        }
        Ok(merge)
    }

    /// Merges in a thread of its own, and calls `each` with every trigram and its blocks, which are none
    /// when all of them are left out.
    pub(super) fn for_each(
        mut self,
        mut each: impl FnMut(u32, &[u32]) -> io::Result<()>,
    ) -> io::Result<()> {
        let (sender, merged) = mpsc::sync_channel(1);
        thread::scope(|scope| {
            scope.spawn(move || {
                while let Some(lists) = self.some_lists().transpose() {
                    let failed = lists.is_err();
                    // Nobody receives them when writing has failed.
                    if sender.send(lists).is_err() || failed {
                        return;
                    }
                }
            });
            merged.into_iter().try_for_each(|lists| {
                let MergedLists { ends, blocks } = lists?;
                let mut start = 0;
                ends.into_iter().try_for_each(|(trigram, end)| {
                    each(trigram, &blocks[std::mem::replace(&mut start, end)..end])
                })
            })
        })
    }

    /// Returns the lists of the next trigrams; `None` at the end.
    fn some_lists(&mut self) -> io::Result<Option<MergedLists>> {
        let mut lists = MergedLists::default();
        while lists.blocks.len() < MERGED_BLOCKS {
            let Some(trigram) = self.next(&mut lists.blocks)? else {
                break;
            };
            lists.ends.push((trigram, lists.blocks.len()));
        }
        Ok((!lists.ends.is_empty()).then_some(lists))
    }

    /// Returns the next trigram and appends its blocks, none when all of them are left out.
    fn next(&mut self, blocks: &mut Vec<u32>) -> io::Result<Option<u32>> {
        let Some(&Reverse((trigram, _))) = self.heads.peek() else {
            return Ok(None);
        };
        while let Some(&Reverse((head, index))) = self.heads.peek()
            && head == trigram
        {
            self.heads.pop();
            let (reader, run) = &mut self.readers[index];
            if run.dropped.is_empty() {
                reader.list(run.base, blocks)?;
            } else {
                let start = blocks.len();
                reader.list(0, blocks)?;
                run.renumber(blocks, start);
            }
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
