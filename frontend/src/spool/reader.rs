//! Reads one frame after the other. Who reads them in the order of the file reads the file in a few
//! large pieces.

use super::{OpenFile, ResultFiles, SpoolError};
use crate::order::FrameAt;
use schema::frame::{self, FRAME_BYTES_MAX, Frame, HEADER_BYTES};
use std::ops::Range;
use zerocopy::IntoBytes;

/// What is read at a frame's offset before its length is known. Nearly all frames are shorter, so
/// one call has them whole; reading more would copy neighbours that nobody asked for.
pub(super) const FIRST_READ_BYTES: usize = 16 << 10;

/// What is read at a time, at most, by who reads frame after frame. It stays in a processor's cache
/// until it is looked at.
const AHEAD_BYTES_MAX: usize = 256 << 10;

/// Reads frames of a run.
pub(crate) struct FrameReader<'a> {
    spool: &'a ResultFiles,
    /// A piece of a backend's file, aligned to words.
    words: Vec<u64>,
    /// Which one: the backend, and offsets in its file.
    held: (u16, Range<u64>),
    /// Bytes of the last read, or of the next.
    ahead: usize,
    /// The backend whose file is open.
    open: (u16, OpenFile),
}

impl<'a> FrameReader<'a> {
    pub(super) fn new(spool: &'a ResultFiles) -> Self {
        FrameReader {
            spool,
            words: Vec::new(),
            held: (0, 0..0),
            ahead: FIRST_READ_BYTES,
            open: Default::default(),
        }
    }

    /// The frame at a place.
    pub(crate) fn read(&mut self, place: FrameAt) -> Result<Frame<'_>, SpoolError> {
        if !self.spool.has_frames_of(place.0) {
            return Err(self.spool.corrupt(place));
        }
        let at = match self.find(place) {
            Some(at) => at,
            None => self.load(place)?,
        };
        let bytes = &self.words.as_bytes()[at..][..(self.held.1.end - place.1) as usize];
        let frame = frame::decode(bytes).ok().flatten();
        frame.ok_or_else(|| self.spool.corrupt(place))
    }

    /// Where in the piece a frame is, when all of it is there.
    fn find(&self, (backend, offset): FrameAt) -> Option<usize> {
        let (of, held) = &self.held;
        if *of != backend || !held.contains(&offset) {
            return None;
        }
        let at = (offset - held.start) as usize;
        let bytes = &self.words.as_bytes()[at..][..(held.end - offset) as usize];
        (at.is_multiple_of(8) && bytes.len() >= frame_bytes(bytes)?).then_some(at)
    }

    /// Reads the piece that begins with a frame, and more of it when the last one was in front of
    /// it; the frame is at 0 then.
    fn load(&mut self, place: FrameAt) -> Result<usize, SpoolError> {
        let (backend, offset) = place;
        let (of, held) = &self.held;
        let goes_on = *of == backend && (held.start + 1..=held.end).contains(&offset);
        self.ahead = match goes_on {
            true => (2 * self.ahead).min(AHEAD_BYTES_MAX),
            false => FIRST_READ_BYTES,
        };
        self.held = (backend, offset..offset);
        let bytes = self.fill(0, self.ahead, place)?;
        let whole = frame_bytes(&self.words.as_bytes()[..bytes]);
        if let Some(whole) = whole.filter(|whole| (bytes + 1..=FRAME_BYTES_MAX).contains(whole)) {
            self.fill(bytes, whole, place)?;
        }
        Ok(0)
    }

    /// Reads on behind the first `have` bytes of the piece until there are `want`, or the file
    /// ends, and says how many there are.
    fn fill(
        &mut self,
        have: usize,
        want: usize,
        (backend, offset): FrameAt,
    ) -> Result<usize, SpoolError> {
        let frames = self.spool.frames_of(backend);
        // Memory for no more than there is.
        let left = usize::try_from(frames.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        let want = want.min(left).max(have);
        if self.words.len() * 8 < want {
            self.words.resize(want.div_ceil(8), 0);
        }
        if self.open.0 != backend {
            self.open = (backend, OpenFile::default());
        }
        let space = &mut self.words.as_mut_bytes()[have..want];
        let end = have + frames.read_at(space, offset + have as u64, &mut self.open.1)?;
        self.held.1.end = offset + end as u64;
        Ok(end)
    }
}

/// How long the frame is that begins here, if its header is there.
fn frame_bytes(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?);
    Some(HEADER_BYTES.saturating_add(length as usize))
}
