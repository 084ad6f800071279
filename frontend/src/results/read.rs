//! Reads the matches behind pointers, frame by frame.

use super::matches::Match;
use crate::order::{FrameAt, Pointer, unpack_frame};
use crate::spool::{FrameReader, ResultFiles, SpoolError};
use schema::message::BatchReader;

/// Reads the matches that pointers stand for, in their order, frame by frame.
pub(crate) fn read(
    spool: &ResultFiles,
    pointers: &[Pointer],
    context_lines: u32,
) -> Result<Vec<Match>, SpoolError> {
    let order = in_spool_order(pointers);
    let mut matches: Vec<Option<Match>> = pointers.iter().map(|_| None).collect();
    let mut reader = spool.reader();
    for group in order.chunk_by(|a, b| a.frame() == b.frame()) {
        let read = read_frame(spool, &mut reader, group, context_lines)?;
        for (line, each) in group.iter().zip(read) {
            matches[line.at()] = Some(each);
        }
    }
    Ok(matches
        .into_iter()
        .map(|each| each.expect("every pointer is in one group"))
        .collect())
}

/// Where in the spool a match is ([`Pointer::spool_order`], 96 bits), and where among the pointers (32
/// bits). One number is sorted several times faster than a tuple, or than numbers of pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LinePosition(u128);

impl LinePosition {
    fn new(at: u32, pointer: &Pointer) -> LinePosition {
        LinePosition(pointer.spool_order() << 32 | u128::from(at))
    }

    pub(super) fn frame(self) -> FrameAt {
        unpack_frame((self.0 >> 64) as u64)
    }

    pub(super) fn index(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(super) fn at(self) -> usize {
        self.0 as u32 as usize
    }
}

/// The pointers' places in the order of frames, and in a frame in that of its lines.
pub(super) fn in_spool_order(pointers: &[Pointer]) -> Vec<LinePosition> {
    let places = (0..).zip(pointers);
    let mut order: Vec<LinePosition> = places
        .map(|(at, pointer)| LinePosition::new(at, pointer))
        .collect();
    order.sort_unstable();
    order
}

fn read_frame(
    spool: &ResultFiles,
    reader: &mut FrameReader<'_>,
    group: &[LinePosition],
    context_lines: u32,
) -> Result<Vec<Match>, SpoolError> {
    let place = group[0].frame();
    let frame = reader.read(place)?;
    let corrupt = || spool.corrupt(place);
    let batch = BatchReader::new(frame.payload).map_err(|_| corrupt())?;
    let view = batch.view().map_err(|_| corrupt())?;
    let indexes: Vec<u32> = group.iter().map(|line| line.index()).collect();
    Match::all(&view, &indexes, context_lines).ok_or_else(corrupt)
}
