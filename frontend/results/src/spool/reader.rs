//! Reads frames; those in file order in a few large pieces.

use super::blob::OpenFile;
use super::error::SpoolError;
use super::result_files::ResultFiles;
use crate::order::FrameAt;
use schema::frame::{self, FRAME_BYTES_MAX, Frame, HEADER_BYTES, Kind};
use schema::message::{BatchReader, BatchView, TextReader, TextView};
use std::ops::Range;
use std::sync::Arc;
use zerocopy::IntoBytes;

/// Bytes of the first read at an offset: nearly all frames are shorter, and a larger read
/// would copy unwanted ones.
pub(super) const FIRST_READ_BYTES: usize = 16 << 10;

/// Maximum bytes of a read in file order: they stay in the CPU cache until decoded.
const AHEAD_BYTES_MAX: usize = 256 << 10;

impl ResultFiles {
    pub fn reader(&self) -> FrameReader<'_> {
        FrameReader {
            files: self,
            words: Vec::new(),
            chunk: None,
            stayed_in_memory: false,
            held: (0, 0..0),
            ahead: FIRST_READ_BYTES,
            open: Default::default(),
        }
    }
}

pub struct FrameReader<'a> {
    files: &'a ResultFiles,
    /// Last piece of a frame file, aligned to words.
    words: Vec<u64>,
    /// The piece if it is in memory, without a copy.
    chunk: Option<Arc<Vec<u8>>>,
    /// True if the piece never left memory, so checksums are not compared again.
    stayed_in_memory: bool,
    /// Backend of the piece, and its offsets in the file.
    held: (u16, Range<u64>),
    /// Bytes of the last read; a following one doubles it.
    ahead: usize,
    open: (u16, OpenFile),
}

impl<'a> FrameReader<'a> {
    /// Reads a frame, verifying its checksum if it was on disk.
    pub(crate) fn read(&mut self, position: FrameAt) -> Result<Frame<'_>, SpoolError> {
        let at = self.find_or_load(position)?;
        self.frame(position, at)
    }

    fn find_or_load(&mut self, position: FrameAt) -> Result<usize, SpoolError> {
        if position.0 >= self.files.streams() {
            return Err(self.files.corrupt(position));
        }
        match self.find(position) {
            Some(at) => Ok(at),
            None => self.load(position),
        }
    }

    fn frame(&self, position: FrameAt, at: usize) -> Result<Frame<'_>, SpoolError> {
        let bytes = &self.piece()[at..][..(self.held.1.end - position.1) as usize];
        let frame = if self.stayed_in_memory {
            frame::decode_unchecked(bytes)
        } else {
            frame::decode(bytes)
        };
        let frame = frame.ok().flatten();
        frame.ok_or_else(|| self.files.corrupt(position))
    }

    fn piece(&self) -> &[u8] {
        match &self.chunk {
            Some(chunk) => chunk,
            None => self.words.as_bytes(),
        }
    }

    /// Reads the BATCH frame at `position`. It is corrupt if it does not decode
    /// or `read` returns `None`.
    pub fn batch<T>(
        &mut self,
        position: FrameAt,
        read: impl FnOnce(&BatchView<'_>) -> Option<T>,
    ) -> Result<T, SpoolError> {
        let files = self.files;
        let frame = self.read(position)?;
        let reader = BatchReader::new(frame.payload);
        let value = reader.ok().and_then(|reader| read(&reader.view().ok()?));
        value.ok_or_else(|| files.corrupt(position))
    }

    /// Like [`batch`](Self::batch), for any frame of matches and only names and text. `read` also
    /// gets the frame's chunk, if not copied.
    pub(crate) fn text<T>(
        &mut self,
        position: FrameAt,
        read: impl FnOnce(&TextFrame<'_>, Option<&Arc<Vec<u8>>>) -> Option<T>,
    ) -> Result<T, SpoolError> {
        let at = self.find_or_load(position)?;
        let frame = self.frame(position, at)?;
        let value = with_text(&frame, |frame| read(frame, self.chunk.as_ref()));
        value.ok_or_else(|| self.files.corrupt(position))
    }

    /// Package and path of the frame's document.
    pub fn names(&mut self, position: FrameAt) -> Result<(Vec<u8>, Vec<u8>), SpoolError> {
        self.text(position, |frame, _| {
            let (package, path) = match frame {
                TextFrame::Batch(view) => (view.package, view.path),
                TextFrame::Text(view) => (view.package, view.path),
            };
            Some((package.to_vec(), path.to_vec()))
        })
    }

    fn find(&self, (stream, offset): FrameAt) -> Option<usize> {
        let (of, held) = &self.held;
        if *of != stream || !held.contains(&offset) {
            return None;
        }
        let at = (offset - held.start) as usize;
        let bytes = &self.piece()[at..][..(held.end - offset) as usize];
        (at.is_multiple_of(8) && bytes.len() >= frame_bytes(bytes)?).then_some(at)
    }

    /// Reads the piece that begins with a frame, larger if it follows the last one.
    /// Returns the frame's offset.
    fn load(&mut self, position: FrameAt) -> Result<usize, SpoolError> {
        let (stream, offset) = position;
        let chunk = self.files.frames_of(stream).chunk(offset);
        self.chunk = None;
        if let Some(chunk) = chunk {
            let at = (offset - chunk.start) as usize;
            if is_aligned(&chunk.bytes[at..]) {
                self.held = (stream, chunk.start..chunk.start + chunk.bytes.len() as u64);
                self.stayed_in_memory = true;
                self.chunk = Some(chunk.bytes);
                return Ok(at);
            }
        }
        let (of, held) = &self.held;
        let follows = *of == stream && (held.start + 1..=held.end).contains(&offset);
        self.ahead = if follows {
            (2 * self.ahead).min(AHEAD_BYTES_MAX)
        } else {
            FIRST_READ_BYTES
        };
        self.held = (stream, offset..offset);
        let bytes = self.fill(0, self.ahead, position)?;
        let whole = frame_bytes(&self.words.as_bytes()[..bytes]);
        if let Some(whole) = whole.filter(|whole| (bytes + 1..=FRAME_BYTES_MAX).contains(whole)) {
            self.fill(bytes, whole, position)?;
        }
        Ok(0)
    }

    /// Extends the piece from `have` to `want` bytes, or to the end of the file.
    fn fill(
        &mut self,
        have: usize,
        want: usize,
        (stream, offset): FrameAt,
    ) -> Result<usize, SpoolError> {
        let frames = self.files.frames_of(stream);
        let left = usize::try_from(frames.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        let want = want.min(left).max(have);
        if self.words.len() * 8 < want {
            self.words.resize(want.div_ceil(8), 0);
        }
        if self.open.0 != stream {
            self.open = (stream, OpenFile::default());
        }
        let space = &mut self.words.as_mut_bytes()[have..want];
        let (bytes, on_disk) = frames.read(space, offset + have as u64, &mut self.open.1)?;
        self.stayed_in_memory = !on_disk && (self.stayed_in_memory || have == 0);
        let end = have + bytes;
        self.held.1.end = offset + end as u64;
        Ok(end)
    }
}

#[expect(
    clippy::large_enum_variant,
    reason = "one lives at a time, on the stack"
)]
pub(crate) enum TextFrame<'a> {
    Batch(BatchView<'a>),
    Text(TextView<'a>),
}

/// Calls `read` with a frame of matches; `None` for others, or if it does not decode.
pub(crate) fn with_text<T>(
    frame: &Frame<'_>,
    read: impl FnOnce(&TextFrame<'_>) -> Option<T>,
) -> Option<T> {
    match frame.kind {
        Kind::Batch => {
            let reader = BatchReader::new(frame.payload).ok()?;
            read(&TextFrame::Batch(reader.view_again().ok()?))
        }
        Kind::Text => {
            let reader = TextReader::new(frame.payload).ok()?;
            read(&TextFrame::Text(reader.view_again().ok()?))
        }
        _ => None,
    }
}

fn is_aligned(bytes: &[u8]) -> bool {
    bytes.as_ptr().cast::<u64>().is_aligned()
}

/// Length of the frame here, if its header is complete.
fn frame_bytes(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?);
    Some(HEADER_BYTES.saturating_add(length as usize))
}
