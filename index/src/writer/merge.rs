//! Merges sorted runs to posting lists, one trigram at a time.

use crate::builder::RunReader;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, mpsc};
use std::thread::{self, Scope};
use std::{iter, mem};

/// Extent of a sorted run in the file, and the block numbers of its segment.
#[derive(Clone, Debug)]
pub(super) struct RunExtent {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) blocks: BlockNumbers,
}

#[derive(Clone, Debug)]
pub(super) enum BlockNumbers {
    /// All are kept, numbered consecutively from here.
    From(u32),
    /// Each number, or [`LEFT_OUT`].
    Each(Arc<[u32]>),
}

/// Marks a block that the shard does not have.
const LEFT_OUT: u32 = u32::MAX;

impl BlockNumbers {
    pub(super) fn new(base: u32, blocks: u32, kept: &[Range<u32>]) -> Self {
        if let [all] = kept
            && *all == (0..blocks)
        {
            return BlockNumbers::From(base);
        }
        let mut numbers = vec![LEFT_OUT; blocks as usize];
        for (block, number) in kept.iter().cloned().flatten().zip(base..) {
            numbers[block as usize] = number;
        }
        BlockNumbers::Each(numbers.into())
    }

    fn read_list<R: BufRead>(
        &self,
        reader: &mut RunReader<R>,
        blocks: &mut Vec<u32>,
    ) -> io::Result<()> {
        match self {
            BlockNumbers::From(base) => reader.list(*base, blocks),
            BlockNumbers::Each(numbers) => {
                let start = blocks.len();
                reader.list(0, blocks)?;
                let mut kept = start;
                for at in start..blocks.len() {
                    let number = numbers.get(blocks[at] as usize);
                    let number = *number.ok_or(io::ErrorKind::InvalidData)?;
                    blocks[kept] = number;
                    kept += usize::from(number != LEFT_OUT);
                }
                blocks.truncate(kept);
                Ok(())
            }
        }
    }
}

/// Bytes of a run read at once, if memory allows.
const BUFFER_BYTES_MAX: usize = 64 << 10;
/// Bytes of a run read at once, at least.
const BUFFER_BYTES_MIN: usize = 4 << 10;

/// Blocks passed on at once; six times as many are in memory (merged, queued, written, per half).
/// Longer lists are passed whole.
const MERGED_BLOCKS: usize = 32 << 10;

/// Merges the `runs` in `file` with `memory_bytes` of buffers and calls `each` with every trigram
/// and its blocks, maybe none.
///
/// Each half has a merge thread, joined here: one would be the bottleneck.
pub(super) fn merge_runs(
    file: &File,
    runs: &[RunExtent],
    memory_bytes: usize,
    mut each: impl FnMut(u32, &[u32]) -> io::Result<()>,
) -> io::Result<()> {
    let (first, second) = runs.split_at(runs.len() / 2);
    let half = |runs| HalfMerge::new(file, runs, memory_bytes / 2);
    let (first, second) = (half(first)?, half(second)?);
    thread::scope(|scope| {
        let (mut first, mut second) = (first.start(scope), second.start(scope));
        let mut joined = Vec::new();
        loop {
            let next = [first.trigram()?, second.trigram()?];
            let Some(trigram) = next.into_iter().flatten().min() else {
                return Ok(());
            };
            match next.map(|next| next == Some(trigram)) {
                [true, true] => {
                    joined.clear();
                    joined.extend_from_slice(first.take_blocks());
                    joined.extend_from_slice(second.take_blocks());
                    each(trigram, &joined)?;
                }
                [true, false] => each(trigram, first.take_blocks())?,
                [false, _] => each(trigram, second.take_blocks())?,
            }
        }
    })
}

/// Posting lists of consecutive trigrams, with their ends.
#[derive(Default)]
struct MergedLists {
    ends: Vec<(u32, usize)>,
    blocks: Vec<u32>,
}

/// Lists of some runs, merged by another thread.
struct Merged {
    from: mpsc::IntoIter<io::Result<MergedLists>>,
    lists: MergedLists,
    next: usize,
    start: usize,
}

impl Merged {
    fn trigram(&mut self) -> io::Result<Option<u32>> {
        while self.next == self.lists.ends.len() {
            let Some(lists) = self.from.next() else {
                return Ok(None);
            };
            (self.lists, self.next, self.start) = (lists?, 0, 0);
        }
        Ok(Some(self.lists.ends[self.next].0))
    }

    fn take_blocks(&mut self) -> &[u32] {
        let end = self.lists.ends[self.next].1;
        self.next += 1;
        &self.lists.blocks[mem::replace(&mut self.start, end)..end]
    }
}

struct HalfMerge<'a> {
    readers: Vec<(RunReader<BufReader<FileRange<'a>>>, &'a RunExtent)>,
    heads: Heads,
}

impl<'a> HalfMerge<'a> {
    fn new(file: &'a File, runs: &'a [RunExtent], memory_bytes: usize) -> io::Result<Self> {
        let buffer = (memory_bytes / runs.len().max(1)).clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX);
        let mut merge = HalfMerge {
            readers: Vec::new(),
            heads: Heads::new(runs.len()),
        };
        for (index, run) in runs.iter().enumerate() {
            let part = FileRange {
                file,
                offset: run.offset,
                end: run.offset + run.bytes,
            };
            let mut reader = RunReader::new(BufReader::with_capacity(buffer, part));
            merge.heads.set(index, reader.trigram()?);
            merge.readers.push((reader, run));
        }
        Ok(merge)
    }

    fn start<'scope>(mut self, scope: &'scope Scope<'scope, '_>) -> Merged
    where
        'a: 'scope,
    {
        let (sender, merged) = mpsc::sync_channel(1);
        scope.spawn(move || {
            while let Some(lists) = self.some_lists().transpose() {
                let failed = lists.is_err();
                // The receiver is gone if writing has failed.
                if sender.send(lists).is_err() || failed {
                    return;
                }
            }
        });
        Merged {
            from: merged.into_iter(),
            lists: MergedLists::default(),
            next: 0,
            start: 0,
        }
    }

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

    /// Next trigram; appends its blocks, maybe none.
    fn next(&mut self, blocks: &mut Vec<u32>) -> io::Result<Option<u32>> {
        let Some(trigram) = self.heads.next_trigram() else {
            return Ok(None);
        };
        for word in 0..self.heads.row_words {
            let runs = self.heads.take_runs(trigram, word);
            let runs = bits(runs).map(|bit| word * WORD_BITS + bit);
            for index in runs {
                let (reader, run) = &mut self.readers[index];
                run.blocks.read_list(reader, blocks)?;
                self.heads.set(index, reader.trigram()?);
            }
        }
        Ok(Some(trigram))
    }
}

/// Next trigram of each unfinished run. A window of trigrams has a bit per run for each: runs are
/// found in order without the comparisons of a heap, slow beside decoding short lists.
struct Heads {
    /// By run; [`AT_END`] when finished.
    next: Vec<u32>,
    /// First trigram of the window, a multiple of its length.
    window: u32,
    rows: Vec<u64>,
    row_words: usize,
    /// Trigrams of the window with a nonzero row.
    has_runs: [u64; WINDOW / WORD_BITS],
}

const WINDOW: usize = 512;

const WORD_BITS: usize = u64::BITS as usize;

const AT_END: u32 = u32::MAX;

impl Heads {
    fn new(runs: usize) -> Self {
        let row_words = runs.div_ceil(WORD_BITS);
        Heads {
            next: vec![AT_END; runs],
            window: 0,
            rows: vec![0; WINDOW * row_words],
            row_words,
            has_runs: [0; WINDOW / WORD_BITS],
        }
    }

    /// Greater than all taken ones.
    #[inline]
    fn set(&mut self, run: usize, trigram: Option<u32>) {
        let trigram = trigram.unwrap_or(AT_END);
        self.next[run] = trigram;
        let row = trigram.wrapping_sub(self.window) as usize;
        if row < WINDOW {
            self.rows[row * self.row_words + run / WORD_BITS] |= 1 << (run % WORD_BITS);
            self.has_runs[row / WORD_BITS] |= 1 << (row % WORD_BITS);
        }
    }

    fn next_trigram(&mut self) -> Option<u32> {
        loop {
            let rows = self.has_runs.iter().zip((0..).step_by(WORD_BITS));
            let mut rows = rows.filter(|&(&word, _)| word != 0);
            if let Some((word, base)) = rows.next() {
                return Some(self.window + base + word.trailing_zeros());
            }
            let first = *self.next.iter().min()?;
            if first == AT_END {
                return None;
            }
            self.window = first - first % WINDOW as u32;
            for run in 0..self.next.len() {
                self.set(run, Some(self.next[run]));
            }
        }
    }

    fn take_runs(&mut self, trigram: u32, word: usize) -> u64 {
        let row = (trigram - self.window) as usize;
        self.has_runs[row / WORD_BITS] &= !(1 << (row % WORD_BITS));
        mem::take(&mut self.rows[row * self.row_words + word])
    }
}

fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}

/// A range of a file, read without moving its position.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posting::{encode_varint, push_range};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::io::{Seek, SeekFrom, Write};

    type Lists = BTreeMap<u32, Vec<u32>>;

    fn encode(lists: &Lists) -> Vec<u8> {
        let (mut run, mut before) = (Vec::new(), 0);
        for (&trigram, blocks) in lists {
            encode_varint(u64::from(trigram - before), &mut run);
            encode_varint(blocks.len() as u64, &mut run);
            let mut previous = 0;
            for &block in blocks {
                encode_varint(u64::from(block - previous), &mut run);
                previous = block;
            }
            before = trigram;
        }
        run
    }

    const BLOCKS: u32 = 2_000;

    /// Equal, neighbouring and distant trigrams; near and far blocks.
    fn lists() -> impl Strategy<Value = Lists> {
        let trigram = prop_oneof![0..4_u32, 510..514_u32, 0..1_u32 << 24];
        let blocks = prop_oneof![
            prop::collection::btree_set(0..BLOCKS, 1..20),
            prop::collection::btree_set(100..140_u32, 1..40),
        ];
        let list = blocks.prop_map(|blocks| blocks.into_iter().collect());
        prop::collection::btree_map(trigram, list, 0..12)
    }

    /// A segment's runs and left-out blocks.
    fn segment() -> impl Strategy<Value = (Vec<Lists>, Vec<Range<u32>>)> {
        let dropped = prop::collection::btree_set(0..=BLOCKS, 0..6).prop_map(|ends| {
            let ends: Vec<u32> = ends.into_iter().collect();
            ends.chunks_exact(2).map(|ends| ends[0]..ends[1]).collect()
        });
        (prop::collection::vec(lists(), 0..40), dropped)
    }

    proptest! {
        #[test]
        fn lists_are_those_of_all_runs_in_their_order(segments in prop::collection::vec(segment(), 0..6)) {
            let mut file = tempfile::tempfile().unwrap();
            let (mut runs, mut expected, mut base) = (Vec::new(), Lists::new(), 0);
            for (lists, dropped) in &segments {
                let is_kept = |block: &u32| !dropped.iter().any(|range| range.contains(block));
                let kept: Vec<u32> = (0..BLOCKS).filter(is_kept).collect();
                let mut ranges = Vec::new();
                for &block in &kept {
                    push_range(&mut ranges, block..block + 1).unwrap();
                }
                let blocks = BlockNumbers::new(base, BLOCKS, &ranges);
                for lists in lists {
                    let run = encode(lists);
                    let offset = file.stream_position().unwrap();
                    file.write_all(&run).unwrap();
                    let (bytes, blocks) = (run.len() as u64, blocks.clone());
                    runs.push(RunExtent { offset, bytes, blocks });
                    for (&trigram, blocks) in lists {
                        let list = expected.entry(trigram).or_default();
                        for block in blocks {
                            list.extend(kept.binary_search(block).map(|at| base + at as u32));
                        }
                    }
                }
                base += kept.len() as u32;
            }
            file.seek(SeekFrom::Start(0)).unwrap();
            let mut merged = Lists::new();
            merge_runs(&file, &runs, 0, |trigram, blocks| {
                if let Some((&last, _)) = merged.last_key_value() {
                    assert!(last < trigram);
                }
                merged.insert(trigram, blocks.to_vec());
                Ok(())
            }).unwrap();
            prop_assert_eq!(merged, expected);
        }
    }
}
