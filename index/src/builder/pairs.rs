//! (trigram, block) pairs in buckets by the upper half of the trigram. A run is encoded by bucket,
//! sorted by the lower half: it stays in the caches, twice as fast as a radix sort and in a quarter
//! of the memory.
//! **Invariant:** blocks ascend in each bucket.

use super::sorted_run::RunWriter;
use crate::trigram::Trigram;
use std::{iter, mem};

/// Trigram bits in a pair; the rest select the bucket.
const LOW_BITS: u32 = 12;
const LOWS: usize = 1 << LOW_BITS;
const BUCKETS: usize = 1 << (24 - LOW_BITS);

const BLOCK_BITS: u32 = 32 - LOW_BITS;
const BLOCK_MASK: u32 = (1 << BLOCK_BITS) - 1;

const BLOCKS_MAX: u32 = 1 << BLOCK_BITS;

/// Half of each last chunk is unused, at most 1 MiB in total.
const CHUNK_PAIRS: usize = 128;

/// Smaller buckets are sorted by comparison; counting visits all lower halves.
const COUNTED_PAIRS_MIN: usize = 512;

/// Unencoded pairs, 4 bytes each.
pub(super) struct Pairs {
    /// Low trigram bits, then block relative to `base`.
    pairs: Vec<u32>,
    /// Next chunk in the bucket.
    next: Vec<u32>,
    /// First chunk of each nonempty bucket.
    firsts: Box<[u32]>,
    /// End in `pairs`; 0 if empty.
    ends: Box<[u32]>,
    count: usize,
    base: u32,
    scratch: Vec<u32>,
}

impl Pairs {
    pub(super) fn new() -> Self {
        Pairs {
            pairs: Vec::new(),
            next: Vec::new(),
            firsts: vec![0; BUCKETS].into(),
            ends: vec![0; BUCKETS].into(),
            count: 0,
            base: 0,
            scratch: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn is_beyond(&self, block: u32) -> bool {
        block - self.base >= BLOCKS_MAX
    }

    /// Adds new pairs; blocks ascend, none is [beyond](Self::is_beyond).
    pub(super) fn extend(&mut self, trigrams: &[Trigram], block: u32) {
        let block = block - self.base;
        for trigram in trigrams {
            let value = trigram.value() as usize;
            let bucket = value / LOWS % BUCKETS;
            let mut end = self.ends[bucket] as usize;
            if end.is_multiple_of(CHUNK_PAIRS) {
                end = self.begin_chunk(bucket);
            }
            self.pairs[end] = ((value % LOWS) as u32) << BLOCK_BITS | block;
            self.ends[bucket] = end as u32 + 1;
        }
        self.count += trigrams.len();
    }

    #[cold]
    fn begin_chunk(&mut self, bucket: usize) -> usize {
        let chunk = self.next.len() as u32;
        self.pairs.resize(self.pairs.len() + CHUNK_PAIRS, 0);
        self.next.push(0);
        match self.ends[bucket] as usize / CHUNK_PAIRS {
            0 => self.firsts[bucket] = chunk,
            full => self.next[full - 1] = chunk,
        }
        chunk as usize * CHUNK_PAIRS
    }

    fn bucket(&self, bucket: usize) -> impl Iterator<Item = &[u32]> {
        let end = self.ends[bucket] as usize;
        let mut next = (end > 0).then_some(self.firsts[bucket] as usize);
        iter::from_fn(move || {
            let chunk = next?;
            let range = chunk * CHUNK_PAIRS..((chunk + 1) * CHUNK_PAIRS);
            if range.contains(&(end - 1)) {
                next = None;
                return Some(&self.pairs[range.start..end]);
            }
            next = Some(self.next[chunk] as usize);
            Some(&self.pairs[range])
        })
    }

    pub(super) fn clear(&mut self, block: u32) {
        self.pairs.clear();
        self.next.clear();
        self.ends.fill(0);
        (self.count, self.base) = (0, block);
    }

    pub(super) fn encode(&mut self) -> Vec<u8> {
        let mut run = RunWriter::new(self.count * 5 / 4);
        let mut scratch = mem::take(&mut self.scratch);
        let mut starts = [0; LOWS];
        for bucket in (0..BUCKETS).filter(|&bucket| self.ends[bucket] > 0) {
            let upper = (bucket * LOWS) as u32;
            let count: usize = self.bucket(bucket).map(<[u32]>::len).sum();
            if count < COUNTED_PAIRS_MIN {
                self.encode_by_comparing(bucket, upper, &mut scratch, &mut run);
            } else {
                self.encode_by_counting(bucket, upper, &mut starts, &mut scratch, &mut run);
            }
        }
        self.scratch = scratch;
        run.finish()
    }

    fn encode_by_comparing(
        &self,
        bucket: usize,
        upper: u32,
        scratch: &mut Vec<u32>,
        run: &mut RunWriter,
    ) {
        scratch.clear();
        self.bucket(bucket)
            .for_each(|pairs| scratch.extend_from_slice(pairs));
        // Blocks are the low bits.
        scratch.sort_unstable();
        for list in scratch.chunk_by(|a, b| a >> BLOCK_BITS == b >> BLOCK_BITS) {
            let blocks = list.iter().map(|pair| self.base + (pair & BLOCK_MASK));
            run.list(upper + (list[0] >> BLOCK_BITS), blocks);
        }
    }

    fn encode_by_counting(
        &self,
        bucket: usize,
        upper: u32,
        starts: &mut [u32; LOWS],
        scratch: &mut Vec<u32>,
        run: &mut RunWriter,
    ) {
        let low = |pair: u32| (pair >> BLOCK_BITS) as usize;
        starts.fill(0);
        for &pair in self.bucket(bucket).flatten() {
            starts[low(pair)] += 1;
        }
        let mut sum = 0;
        for start in starts.iter_mut() {
            sum += mem::replace(start, sum);
        }
        if scratch.len() < sum as usize {
            scratch.resize(sum as usize, 0);
        }
        for pairs in self.bucket(bucket) {
            for &pair in pairs {
                let at = &mut starts[low(pair)];
                scratch[*at as usize] = self.base + (pair & BLOCK_MASK);
                *at += 1;
            }
        }
        // Each start is now the end of its list.
        let mut start = 0;
        for (trigram, &end) in (upper..).zip(starts.iter()) {
            if end > start {
                let blocks = &scratch[start as usize..end as usize];
                run.list(trigram, blocks.iter().copied());
                start = end;
            }
        }
    }
}
