//! Searches a shard: candidates in, frames of batches out, in the order of the documents.
//!
//! The candidates are cut into units of some blocks, which workers verify side by side; what they
//! find is emitted in the units' order by the calling thread.
//! **Invariant:** the frames do not depend on the number of workers. At most [`WINDOW_UNITS`] units
//! a worker wait for their turn, and while the emitter waits (for its channel, and that for the
//! network) workers do too.

mod unit;

use crate::batch::Packed;
use crate::pattern::Compiled;
use crate::rank;
use index::filter::Filters;
use index::shard::{Candidates, DocId, Error, Shard};
use schema::message::ShardEnd;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use unit::Unit;

/// Candidate blocks of a unit: a quarter of a megabyte of text, some tenths of a millisecond.
const UNIT_BLOCKS: usize = 64;

/// Units, for each worker, that may be done and not yet emitted.
const WINDOW_UNITS: usize = 4;

/// Fewer units are searched by the calling thread alone: starting workers takes longer.
const PARALLEL_UNITS_MIN: usize = 4;

/// Tells a search to stop.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// The search stops at its next look, which is at least once a document.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was told to.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far a search is; shared with whoever reports it.
#[derive(Debug)]
pub struct Counters {
    /// Candidate blocks of the shards planned so far.
    pub blocks_total: AtomicU64,
    /// Of them, those verified and emitted.
    pub blocks_done: AtomicU64,
    /// Documents examined.
    pub documents: AtomicU64,
    /// Matches emitted.
    pub matches: AtomicU64,
    /// Bits of an f32: no match still to come has a higher rank.
    bound: AtomicU32,
}

impl Default for Counters {
    /// Nothing has been done, and nothing is known of the ranks to come.
    fn default() -> Self {
        Counters {
            blocks_total: AtomicU64::new(0),
            blocks_done: AtomicU64::new(0),
            documents: AtomicU64::new(0),
            matches: AtomicU64::new(0),
            bound: AtomicU32::new(f32::INFINITY.to_bits()),
        }
    }
}

impl Counters {
    /// No match still to come has a higher rank.
    pub fn bound(&self) -> f32 {
        f32::from_bits(self.bound.load(Ordering::Relaxed))
    }

    fn set_bound(&self, bound: f32) {
        self.bound.store(bound.to_bits(), Ordering::Relaxed);
    }
}

/// Takes frames of batches, in order.
pub trait Sink {
    /// Takes the frames of a unit, whole ones or none, once the counters are at its end. An error
    /// stops the search: nobody wants its matches any more.
    fn frames(&mut self, frames: Vec<u8>) -> Result<(), Stopped>;
}

/// Nobody wants the matches any more.
#[derive(Debug, PartialEq, Eq)]
pub struct Stopped;

/// How a shard is searched.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The shard.
    pub shard: &'a Shard,
    /// What it is called in frames.
    pub index: u32,
    /// What is searched for.
    pub compiled: &'a Compiled,
    /// In which documents.
    pub filters: &'a Filters,
    /// Lines of context before and after a match.
    pub context_lines: u32,
    /// Threads that verify.
    pub workers: usize,
    /// Stops it.
    pub cancel: &'a Cancel,
    /// How far it is.
    pub counters: &'a Counters,
    /// The highest static rank in the shards that are searched after this one.
    pub later_static_rank: f32,
}

/// Searches a shard. What was emitted before an error stays valid; the error is in the result's
/// `failure`. `Err`: it was stopped.
pub fn search(task: Task<'_>, sink: &mut dyn Sink) -> Result<ShardEnd, Stopped> {
    let mut end = ShardEnd {
        shard: task.index,
        blocks: u64::from(task.shard.live_counts().blocks),
        ..ShardEnd::default()
    };
    match search_candidates(task, sink, &mut end) {
        Ok(()) => Ok(end),
        Err(Interrupted::Stopped) => Err(Stopped),
        Err(Interrupted::Failed(error)) => {
            end.failure = error.to_string();
            Ok(end)
        }
    }
}

/// Why a search ended early.
enum Interrupted {
    Stopped,
    Failed(Error),
}

impl From<Error> for Interrupted {
    fn from(error: Error) -> Self {
        Interrupted::Failed(error)
    }
}

impl From<Stopped> for Interrupted {
    fn from(Stopped: Stopped) -> Self {
        Interrupted::Stopped
    }
}

fn search_candidates(
    task: Task<'_>,
    sink: &mut dyn Sink,
    end: &mut ShardEnd,
) -> Result<(), Interrupted> {
    // Of a shard that is damaged already nothing is believed, though these pages may be whole.
    task.shard.intact()?;
    let stop = || task.cancel.is_cancelled();
    let candidates = task
        .shard
        .filtered_candidates(&task.compiled.query, task.filters, &stop)?
        .ok_or(Stopped)?;
    let units = Units::new(&candidates);
    end.candidates = units.blocks;
    task.counters
        .blocks_total
        .fetch_add(end.candidates, Ordering::Relaxed);
    let mut emitter = Emitter {
        task,
        sink,
        end,
        last_document: None,
    };
    if task.workers < 2 || units.len() < PARALLEL_UNITS_MIN {
        let mut searcher = unit::Searcher::new(task);
        return (0..units.len()).try_for_each(|index| {
            let unit = searcher.search(units.get(index))?;
            emitter.emit(unit)
        });
    }
    search_parallel(task, &units, &mut emitter)
}

/// The candidates, cut.
struct Units<'a> {
    candidates: &'a Candidates,
    /// Of each range, how many units there are up to its end.
    ends: Vec<usize>,
    /// Candidate blocks in all.
    blocks: u64,
}

/// The blocks of a unit, ascending.
enum UnitBlocks<'a> {
    Range(Range<u32>),
    List(&'a [u32]),
}

impl<'a> Units<'a> {
    fn new(candidates: &'a Candidates) -> Self {
        let mut units = Units {
            candidates,
            ends: Vec::new(),
            blocks: 0,
        };
        match candidates {
            Candidates::Blocks(blocks) => units.blocks = blocks.len() as u64,
            Candidates::Ranges(ranges) => ranges.iter().for_each(|range| {
                let end = units.len() + range.len().div_ceil(UNIT_BLOCKS);
                units.ends.push(end);
                units.blocks += range.len() as u64;
            }),
        }
        units
    }

    fn len(&self) -> usize {
        match self.candidates {
            Candidates::Ranges(_) => self.ends.last().copied().unwrap_or(0),
            Candidates::Blocks(blocks) => blocks.len().div_ceil(UNIT_BLOCKS),
        }
    }

    fn get(&self, index: usize) -> UnitBlocks<'_> {
        match self.candidates {
            Candidates::Ranges(ranges) => UnitBlocks::Range(self.range(ranges, index)),
            Candidates::Blocks(blocks) => {
                let start = index * UNIT_BLOCKS;
                UnitBlocks::List(&blocks[start..blocks.len().min(start + UNIT_BLOCKS)])
            }
        }
    }

    /// Unit number `index` of `ranges`; none is in two of them.
    fn range(&self, ranges: &[Range<u32>], index: usize) -> Range<u32> {
        let number = self.ends.partition_point(|&end| end <= index);
        let before = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = &ranges[number];
        let start = range.start + ((index - before) * UNIT_BLOCKS) as u32;
        start..range.end.min(start.saturating_add(UNIT_BLOCKS as u32))
    }
}

/// What workers and emitter share.
struct Shared {
    state: Mutex<State>,
    /// A unit is done, or the turn has passed to the next one, or all is over.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The next unit that nobody has taken.
    next: usize,
    /// The next unit to be emitted.
    turn: usize,
    done: BTreeMap<usize, Result<Unit, Interrupted>>,
    over: bool,
}

fn search_parallel(
    task: Task<'_>,
    units: &Units<'_>,
    emitter: &mut Emitter<'_>,
) -> Result<(), Interrupted> {
    let shared = Shared {
        state: Mutex::default(),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        for _ in 0..task.workers {
            scope.spawn(|| work(task, units, &shared));
        }
        let result = (0..units.len()).try_for_each(|index| emitter.emit(shared.wait_for(index)?));
        shared.lock().over = true;
        shared.changed.notify_all();
        result
    })
}

fn work(task: Task<'_>, units: &Units<'_>, shared: &Shared) {
    let _over = OverOnPanic(shared);
    let mut searcher = unit::Searcher::new(task);
    while let Some(index) = shared.take(units.len(), task.workers * WINDOW_UNITS) {
        let result = searcher.search(units.get(index));
        shared.lock().done.insert(index, result);
        shared.changed.notify_all();
    }
}

/// A unit that a worker panics over is never done: nobody may wait for it.
struct OverOnPanic<'a>(&'a Shared);

impl Drop for OverOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().over = true;
            self.0.changed.notify_all();
        }
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // The state is plain data, which a panic leaves whole.
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The next unit for a worker, once it is within the window; `None` when there is none left.
    fn take(&self, units: usize, window: usize) -> Option<usize> {
        let mut state = self.lock();
        while !state.over && state.next < units && state.next >= state.turn + window {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        if state.over || state.next >= units {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    /// Waits until the unit `index` is done, and passes the turn on. When a worker has panicked it
    /// is stopped; the panic goes on where the workers are joined.
    fn wait_for(&self, index: usize) -> Result<Unit, Interrupted> {
        let mut state = self.lock();
        loop {
            if state.over {
                return Err(Interrupted::Stopped);
            }
            if let Some(unit) = state.done.remove(&index) {
                state.turn = index + 1;
                self.changed.notify_all();
                return unit;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }
}

/// Sums up units in order and passes their frames on.
struct Emitter<'a> {
    task: Task<'a>,
    sink: &'a mut dyn Sink,
    end: &'a mut ShardEnd,
    /// The last document of the units so far, and whether it had a match.
    last_document: Option<(DocId, bool)>,
}

impl Emitter<'_> {
    fn emit(&mut self, unit: Unit) -> Result<(), Interrupted> {
        // A document that began in an earlier unit has been counted there.
        let continued = self
            .last_document
            .filter(|(document, _)| Some(*document) == unit.first);
        let Packed { frames, keys } = unit.packed;
        let matches = keys.len() as u64;
        let end = &mut *self.end;
        let documents = unit.documents - u64::from(continued.is_some());
        end.documents += documents;
        let matched_before = unit.first_matched && continued.is_some_and(|(_, matched)| matched);
        end.matched_documents += unit.matched_documents - u64::from(matched_before);
        end.matches += matches;
        end.found += matches;
        end.matched_blocks += unit.matched_blocks;
        end.verified_bytes += unit.verified_bytes;
        end.hash = keys.iter().fold(end.hash, |hash, &(document, line)| {
            ShardEnd::key_hash(hash, document.0, line)
        });
        if let Some((document, matched)) = unit.last {
            let matched = matched || (unit.documents == 1 && matched_so_far(continued));
            self.last_document = Some((document, matched));
        }
        let counters = self.task.counters;
        counters
            .blocks_done
            .fetch_add(unit.blocks, Ordering::Relaxed);
        counters.documents.fetch_add(documents, Ordering::Relaxed);
        counters.matches.fetch_add(matches, Ordering::Relaxed);
        counters.set_bound(rank::bound(
            unit.static_rank_after.max(self.task.later_static_rank),
        ));
        self.sink.frames(frames)?;
        Ok(())
    }
}

fn matched_so_far(continued: Option<(DocId, bool)>) -> bool {
    continued.is_some_and(|(_, matched)| matched)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(candidates: &Candidates) -> Vec<u32> {
        let units = Units::new(candidates);
        let mut blocks = Vec::new();
        for index in 0..units.len() {
            let before = blocks.len();
            match units.get(index) {
                UnitBlocks::Range(range) => blocks.extend(range),
                UnitBlocks::List(list) => blocks.extend(list),
            }
            assert!((1..=UNIT_BLOCKS).contains(&(blocks.len() - before)));
        }
        assert_eq!(blocks.len() as u64, units.blocks);
        blocks
    }

    #[test]
    fn units_are_all_candidates_in_order() {
        let list: Vec<u32> = (0..200).map(|block| block * 3).collect();
        assert_eq!(blocks(&Candidates::Blocks(list.clone())), list);
        let table: [&[(u32, u32)]; 4] =
            [&[], &[(0, 1)], &[(0, 64)], &[(3, 67), (70, 71), (100, 400)]];
        for ranges in table {
            let ranges: Vec<_> = ranges.iter().map(|&(start, end)| start..end).collect();
            let expected: Vec<u32> = ranges.iter().cloned().flatten().collect();
            assert_eq!(blocks(&Candidates::Ranges(ranges)), expected);
        }
    }
}
