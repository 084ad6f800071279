//! Orders the pointers of all streams, and writes the files from which pages are read.
//!
//! A thread for each part merges one key range of all sources, and counts packages and documents.
//! Only the cuts between files depend on the number of parts.

use crate::execution::collector::Collector;
use crate::execution::copies;
use crate::execution::sorter::{Source, SourceReader};
use results::facets::Facets;
use results::folded::FoldedFlags;
use results::order::{self, Continued, StringPool, TieKey};
use results::packages::PackageTally;
use results::spool::{BLOCKS_AT_ONCE, ORDER_PARTS_MAX, PointerWriter, ResultFiles, SpoolError};
use results::{Counts, documents, in_parallel};
use schema::message::SpoolFacets;
use std::ops::{ControlFlow, Range};

/// Pointers that justify a thread: merging them takes milliseconds, starting it about 50 µs.
const PART_LEN_MIN: u64 = 50_000;

/// Sampled keys. Each costs one block read on disk: 2 ms in all. Part lengths differ by about 1 %.
const SAMPLES: u64 = 512;

/// Blocks read at a time by all parts: 16 MiB, with enough sources.
const READ_BLOCKS_MAX: usize = 4096;

/// Merges the pointers of the collectors, indexed by stream. Writes the first `limit` of the order
/// (0: all), packages, documents and facets.
pub(crate) fn finalize(
    spool: &ResultFiles,
    collectors: &mut [Collector],
    limit: u64,
) -> Result<Counts, SpoolError> {
    let parts = if limit == 0 {
        part_count(collectors)
    } else {
        1
    };
    finalize_in(parts, spool, collectors, limit)
}

fn part_count(collectors: &[Collector]) -> usize {
    let sources = collectors
        .iter()
        .flat_map(|collector| collector.sorter.sources());
    let len: u64 = sources.map(Source::len).sum();
    match len / PART_LEN_MIN {
        0 | 1 => 1,
        parts => (parts as usize)
            .min(rayon::current_num_threads())
            .min(ORDER_PARTS_MAX),
    }
}

/// In at most `parts` parts; in one with a limit.
fn finalize_in(
    parts: usize,
    spool: &ResultFiles,
    collectors: &mut [Collector],
    limit: u64,
) -> Result<Counts, SpoolError> {
    let mut names = StringPool::default();
    let ids: Vec<Vec<u32>> = collectors
        .iter()
        .map(|collector| {
            let packages = collector.packages.names();
            packages.map(|name| names.id(name)).collect()
        })
        .collect();
    let continued: Vec<Continued> = collectors
        .iter_mut()
        .map(|collector| std::mem::take(&mut collector.continued))
        .collect();
    let merge = Merge {
        spool,
        ids: &ids,
        continued: &continued,
        packages: names.count(),
        limit,
    };
    let sources: Vec<Source<'_>> = collectors
        .iter()
        .flat_map(|collector| collector.sorter.sources())
        .collect();
    let (pointers, tallies) = merge.all(&sources, parts)?;
    collectors
        .iter_mut()
        .for_each(|collector| collector.sorter.clear(spool));
    let logs: Vec<_> = collectors.iter().map(|collector| &collector.log).collect();
    let unique = copies::fold(&logs, spool, pointers);
    let logs = collectors.iter_mut();
    logs.for_each(|collector| collector.log.clear(spool));
    let unique = unique?;
    let packages = tallies.packages.finish(&names, spool)?;
    let mut folded = FoldedFlags::new(&spool.folded);
    let is_folded = |position| folded.get(position);
    tallies.documents.finish(spool, is_folded)?;
    write_facets(spool, collectors)?;
    Ok(Counts {
        pointers,
        packages,
        unique,
    })
}

fn write_facets(spool: &ResultFiles, collectors: &mut [Collector]) -> Result<(), SpoolError> {
    let mut facets = Facets::default();
    for collector in collectors {
        facets.merge(std::mem::take(&mut collector.facets));
    }
    let facets = facets.finish();
    if facets == SpoolFacets::default() {
        return Ok(()); // An empty file is read as this.
    }
    let mut frame = Vec::new();
    let encoded = facets.encode(&mut frame);
    encoded.expect("the bounds of facets keep them below a frame's");
    spool.append(&spool.facets, &frame)
}

struct Tallies {
    packages: PackageTally,
    documents: documents::DocumentTally,
}

#[derive(Clone, Copy)]
struct Merge<'a> {
    spool: &'a ResultFiles,
    /// Package id in the order, by stream and its id there.
    ids: &'a [Vec<u32>],
    continued: &'a [Continued],
    packages: usize,
    limit: u64,
}

impl Merge<'_> {
    fn all(self, sources: &[Source<'_>], parts: usize) -> Result<(u64, Tallies), SpoolError> {
        let parts = partition(sources, parts)?;
        let blocks_at_once = READ_BLOCKS_MAX / (parts.len() * sources.len()).max(1);
        let blocks_at_once = blocks_at_once.clamp(1, BLOCKS_AT_ONCE);
        let part = |(number, ranges): (usize, Vec<_>)| {
            let ranges = sources.iter().zip(ranges);
            let readers: Vec<_> = ranges
                .map(|(source, range)| source.read(range, blocks_at_once))
                .collect();
            move || self.part(number, readers)
        };
        let mut merged = in_parallel(parts.into_iter().enumerate().map(part)).into_iter();
        let (mut len, mut tallies) = merged.next().expect("there is at least one part")?;
        for part in merged {
            let (more, next) = part?;
            tallies.packages.append(&next.packages, len);
            tallies.documents.append(&next.documents, len);
            len += more;
        }
        Ok((len, tallies))
    }

    /// Positions in its tallies begin at 0.
    fn part(
        self,
        number: usize,
        sources: Vec<SourceReader<'_>>,
    ) -> Result<(u64, Tallies), SpoolError> {
        let mut tallies = Tallies {
            packages: PackageTally::new(self.packages),
            documents: documents::DocumentTally::default(),
        };
        let mut order = PointerWriter::new(self.spool, self.spool.order.part(number));
        let mut reader = self.spool.reader();
        order::merge(
            sources,
            self.continued,
            |place| reader.names(place),
            |mut pointer| {
                let (stream, _) = pointer.frame();
                let ids = &self.ids[usize::from(stream)];
                pointer.package = ids[pointer.package as usize];
                let package = pointer.package;
                tallies.packages.add(package, order.len);
                tallies.documents.add((pointer.hash(), package), order.len);
                order.push(&pointer)?;
                Ok(if order.len == self.limit {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            },
        )?;
        Ok((order.finish()?, tallies))
    }
}

type Parts = Vec<Vec<Range<u64>>>;

/// Cuts the sources into `count` parts, or fewer if keys are few. Parts may be empty, and differ in
/// length by few samples per source. Pointers that tie, and are ordered by document name, are in
/// one part.
fn partition(sources: &[Source<'_>], count: usize) -> Result<Parts, SpoolError> {
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

#[cfg(test)]
mod tests;
