//! Reads the matches behind pointers. Each frame is read once.

use super::matches::Match;
use crate::order::{FrameAt, Pointer, unpack_frame};
use crate::spool::{ResultFiles, SpoolError};

/// Reads the matches of `pointers`, in the order of `pointers`.
pub(crate) fn read(
    files: &ResultFiles,
    pointers: &[Pointer],
    context_lines: u32,
) -> Result<Vec<Match>, SpoolError> {
    let matches = read_within(files, pointers, context_lines, usize::MAX)?;
    Ok(matches.expect("no memory is too much"))
}

/// Reads matches like [`read`]; `None` if several take more than `bytes_max` of memory.
pub(super) fn read_within(
    files: &ResultFiles,
    pointers: &[Pointer],
    context_lines: u32,
    bytes_max: usize,
) -> Result<Option<Vec<Match>>, SpoolError> {
    let bytes_max = if pointers.len() == 1 {
        usize::MAX
    } else {
        bytes_max
    };
    let (mut bytes, mut fits) = (0_usize, true);
    let positions = in_spool_order(pointers);
    let mut matches: Vec<Option<Match>> = pointers.iter().map(|_| None).collect();
    let mut reader = files.reader();
    for group in positions.chunk_by(|a, b| a.frame() == b.frame()) {
        let lines: Vec<u32> = group.iter().map(|line| line.line_index()).collect();
        let mut positions = group.iter();
        reader.batch(group[0].frame(), |batch| {
            Match::each(batch, &lines, context_lines, |found| {
                bytes += found.memory_bytes();
                fits = bytes <= bytes_max;
                let line = positions.next().expect("a match for each line");
                matches[line.pointer_index()] = Some(found);
                fits
            })
        })?;
        if !fits {
            return Ok(None);
        }
    }
    let matches = matches.into_iter();
    Ok(Some(
        matches
            .map(|each| each.expect("every pointer is in one group"))
            .collect(),
    ))
}

/// The position of a match in the spool ([`Pointer::spool_order`], 96 bits) and the index of its pointer
/// (32 bits). One number sorts several times faster than a tuple, or than indexes of pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LinePosition(u128);

impl LinePosition {
    fn new(index: u32, pointer: &Pointer) -> LinePosition {
        LinePosition(pointer.spool_order() << 32 | u128::from(index))
    }

    pub(super) fn frame(self) -> FrameAt {
        unpack_frame((self.0 >> 64) as u64)
    }

    /// The index of the line in its frame.
    pub(super) fn line_index(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The index of the pointer in the slice that was sorted.
    pub(super) fn pointer_index(self) -> usize {
        self.0 as u32 as usize
    }
}

/// Returns the positions of pointers, sorted by frame, then by line.
pub(super) fn in_spool_order(pointers: &[Pointer]) -> Vec<LinePosition> {
    let indexed = (0..).zip(pointers);
    let mut positions: Vec<LinePosition> = indexed
        .map(|(index, pointer)| LinePosition::new(index, pointer))
        .collect();
    positions.sort_unstable();
    positions
}
