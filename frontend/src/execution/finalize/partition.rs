//! Cuts sorted sources into parts that can be merged each on its own.
//!
//! A sample of the keys says where: those at equal distances in all sources together, so that parts
//! differ in length by few samples a source.
//! **Invariant:** pointers that tie, which only their documents can order, are in the same part.

use crate::execution::collector::Source;
use crate::order::TieKey;
use crate::spool::SpoolError;
use std::ops::Range;

/// Keys that are looked at: each is a block to read when it is on the disk, 2 ms in all. Parts are
/// equal to about 1 %.
const SAMPLES: u64 = 512;

/// Of each part, the range in each source.
pub(super) type Parts = Vec<Vec<Range<u64>>>;

/// Cuts the sources into `count` parts, or fewer when there is nothing to cut. Some may be empty.
pub(super) fn partition(sources: &[Source<'_>], count: usize) -> Result<Parts, SpoolError> {
    let mut parts = Parts::new();
    let mut starts = vec![0; sources.len()];
    for key in keys(sources, count)? {
        let ends = sources.iter().map(|source| source.before(key));
        let ends = ends.collect::<Result<_, _>>()?;
        parts.push(ranges(&starts, &ends));
        starts = ends;
    }
    let ends = sources.iter().map(|source| source.len()).collect();
    parts.push(ranges(&starts, &ends));
    Ok(parts)
}

fn ranges(starts: &[u64], ends: &Vec<u64>) -> Vec<Range<u64>> {
    let ranges = starts.iter().zip(ends);
    ranges.map(|(&start, &end)| start..end).collect()
}

/// The keys with which parts begin, but for the first.
fn keys(sources: &[Source<'_>], count: usize) -> Result<Vec<TieKey>, SpoolError> {
    if count <= 1 {
        return Ok(Vec::new());
    }
    let len: u64 = sources.iter().map(|source| source.len()).sum();
    let distance = len.div_ceil(SAMPLES).max(1);
    let mut sample = Vec::new();
    let mut at = distance / 2;
    for source in sources {
        while at < source.len() {
            sample.push(source.key(at)?);
            at += distance;
        }
        at -= source.len();
    }
    sample.sort_unstable();
    let keys = (1..count).filter_map(|part| sample.get(part * sample.len() / count));
    Ok(keys.copied().collect())
}
