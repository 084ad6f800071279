//! Documents with copies: others with the same text and matching lines.
//!
//! ```text
//! copies         a DocumentPointer for each such document: group after group, in a group the best first
//! copy-groups    a CopyGroup for each group
//! copy-frames    a FrameEntry for each of their frames, ascending
//! ```
//!
//! Files of pointers (see `spool::pointers`), empty without copies. The best document of a group
//! has the first match; the others are *folded*, unless rank and name hash collide with it.

use crate::order::{CopyGroup, DocumentPointer, FrameAt, FrameEntry, Pointer};
use crate::spool::{
    Blob, PointerReader, ResultFiles, SpoolError, len_of_pointers, partition_pointers,
};
use std::ops::Range;

/// Group of a frame's document; `None` without copies.
pub fn group_of(
    spool: &ResultFiles,
    (stream, offset): FrameAt,
) -> Result<Option<CopyGroup>, SpoolError> {
    let frames = &spool.copy_frames;
    let len = len_of_pointers(frames);
    let wanted = u64::from(stream) << 48 | offset;
    let is_before = |entry: &Pointer| FrameEntry(*entry).packed_frame() < wanted;
    let at = partition_pointers(frames, len, is_before)?;
    if at == len {
        return Ok(None);
    }
    let entry = FrameEntry(one(frames, at)?);
    if entry.packed_frame() != wanted {
        return Ok(None);
    }
    let groups = &spool.copy_groups;
    if entry.group() >= len_of_pointers(groups) {
        return Err(frames.corrupt(0));
    }
    Ok(Some(CopyGroup::of(one(groups, entry.group())?)))
}

/// First frames of a range of the group's documents.
pub fn frames_of(
    spool: &ResultFiles,
    group: CopyGroup,
    range: Range<u64>,
) -> Result<Vec<FrameAt>, SpoolError> {
    let (start, end) = (group.start + range.start, group.start + range.end);
    if range.end > group.documents || end > len_of_pointers(&spool.copies) {
        return Err(spool.copies.corrupt(0));
    }
    let mut reader = PointerReader::new(&spool.copies, start..end);
    let mut frames = Vec::with_capacity((end - start) as usize);
    while let Some(document) = reader.advance()? {
        frames.push(DocumentPointer(document).frame());
    }
    Ok(frames)
}

fn one(blob: &Blob, at: u64) -> Result<Pointer, SpoolError> {
    let mut reader = PointerReader::new(blob, at..at + 1).by(1);
    Ok(reader.advance()?.expect("the number is below the length"))
}
