//! Reads the text of a file once, from front to end, chunk by chunk.
//!
//! The first chunk decides whether a file is text, in this order:
//!
//! 1. a UTF-16 byte-order mark: the file is decoded to UTF-8 as ripgrep does, malformed sequences
//!    becoming U+FFFD (a UTF-32 mark begins with the one of UTF-16 and is treated like it, as there);
//! 2. a NUL byte in the first 8,000 bytes: binary, by git's rule; the sink gets nothing;
//! 3. anything else is text, UTF-8 or not; a UTF-8 byte-order mark is dropped.
//!
//! **Invariant:** memory is bounded by [`CHUNK_BYTES`], whatever the size of the file.

use std::cell::Cell;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use encoding_rs::{CoderResult, Decoder, UTF_16BE, UTF_16LE};
use rustix::fs::OFlags;

use super::walk::unreadable;
use super::{CorpusError, File, SkipReason, Source};
use crate::format::TextEncoding;

/// Bytes that are read at once: enough to make system calls rare.
pub const CHUNK_BYTES: usize = 256 << 10;

/// Bytes at the beginning of a text file that hold no NUL: git's `FIRST_FEW_BYTES`.
pub const BINARY_HEAD_BYTES: usize = 8_000;

/// Bytes of UTF-8 that are decoded at once from UTF-16.
const DECODED_BYTES: usize = 64 << 10;

/// Takes the text of a document, piece by piece. A piece may end anywhere, also inside a line or a
/// character.
pub trait TextSink {
    /// Takes the next piece, which is never empty.
    fn text(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl TextSink for Vec<u8> {
    fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// The result of reading a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ReadOutcome {
    /// The sink got all of its text.
    Text {
        /// The size of the file, before anything was dropped or decoded.
        bytes_read: u64,
        /// What it was decoded from; `None` if its bytes are its text.
        encoding: Option<TextEncoding>,
    },
    /// It is not searchable. Unless the reason is [`SkipReason::Binary`], the sink may have got a part
    /// of its text and must discard it.
    Skipped(SkipReason),
}

/// Reads a file of `source` and gives its text to `sink`.
///
/// The size may differ from the one that [`walk`](super::walk) saw, but a size that changes while the
/// file is read is [`SkipReason::Changed`]. A link that has replaced the file is not followed.
///
/// # Errors
/// Only the sink's. A problem with the file is a [`ReadOutcome`].
pub fn read(
    source: &Source,
    file: &File,
    sink: &mut dyn TextSink,
) -> Result<ReadOutcome, CorpusError> {
    let path = source.absolute(&file.path);
    let reached = source.reach(&file.path).map_err(Stop::file);
    let text = reached
        .and_then(|reached| open(&reached.path))
        .and_then(|(opened, bytes)| text(opened, bytes, sink));
    match text {
        Ok(outcome) => Ok(outcome),
        Err(Stop::Skip(reason)) => Ok(ReadOutcome::Skipped(reason)),
        Err(Stop::Sink(source)) => Err(CorpusError::Sink { path, source }),
    }
}

/// Gives the text of a file of these bytes to `sink`, by the same rules as [`read`].
///
/// # Errors
/// Only the sink's.
pub fn read_bytes(bytes: &[u8], sink: &mut dyn TextSink) -> io::Result<ReadOutcome> {
    match text(bytes, bytes.len() as u64, sink) {
        Ok(outcome) => Ok(outcome),
        Err(Stop::Skip(reason)) => Ok(ReadOutcome::Skipped(reason)),
        Err(Stop::Sink(error)) => Err(error),
    }
}

/// Returns the BLAKE3 of a file's text; `None` when it is not searchable.
pub(crate) fn hash(source: &Source, file: &File) -> Result<Option<[u8; 32]>, CorpusError> {
    let mut sink = HashSink(blake3::Hasher::new());
    Ok(match read(source, file, &mut sink)? {
        ReadOutcome::Text { .. } => Some(*sink.0.finalize().as_bytes()),
        ReadOutcome::Skipped(_) => None,
    })
}

struct HashSink(blake3::Hasher);

impl TextSink for HashSink {
    fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.update(bytes);
        Ok(())
    }
}

/// Why reading stops early.
#[derive(Debug)]
enum Stop {
    Skip(SkipReason),
    Sink(io::Error),
}

impl Stop {
    /// Converts an error of the file (not of the sink).
    fn file(error: io::Error) -> Stop {
        Stop::Skip(unreadable(&error))
    }
}

/// Opens a regular file without following a link at its path, nor waiting for the other end of a pipe, and returns
/// its size.
fn open(path: &Path) -> Result<(fs::File, u64), Stop> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = fs::File::options()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        // A link, or a pipe or socket without another end.
        Some(code) if [libc::ELOOP, libc::EMLINK, libc::ENXIO].contains(&code) => {
            Stop::Skip(SkipReason::Changed)
        }
        _ => Stop::file(error),
    })?;
    let metadata = file.metadata().map_err(Stop::file)?;
    if !metadata.is_file() {
        return Err(Stop::Skip(SkipReason::Changed));
    }
    Ok((file, metadata.len()))
}

thread_local! {
    /// The buffer of a thread for the files that it reads.
    static CHUNK: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Calls `read` with a buffer of [`CHUNK_BYTES`]: to clear one for each file takes longer than to read a small one.
fn with_chunk<T>(read: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut chunk = CHUNK.take();
    chunk.resize(CHUNK_BYTES, 0);
    let result = read(&mut chunk);
    CHUNK.set(chunk);
    result
}

/// Gives the text of `reader` to `sink`; the number of bytes read must be `bytes`.
fn text(reader: impl Read, bytes: u64, sink: &mut dyn TextSink) -> Result<ReadOutcome, Stop> {
    // One byte more than the file has, so that its end is seen without another chunk.
    let chunk_bytes = bytes.saturating_add(1).min(CHUNK_BYTES as u64) as usize;
    with_chunk(|chunk| text_by_chunks(reader, bytes, &mut chunk[..chunk_bytes], sink))
}

fn text_by_chunks(
    mut reader: impl Read,
    bytes: u64,
    chunk: &mut [u8],
    sink: &mut dyn TextSink,
) -> Result<ReadOutcome, Stop> {
    let mut form = None;
    let mut bytes_read = 0;
    loop {
        let expected = bytes - bytes_read;
        let filled = fill(&mut reader, chunk, expected).map_err(Stop::file)?;
        let is_last = filled < chunk.len();
        bytes_read += filled as u64;
        // Stops also for a file that grows as fast as it is read.
        if bytes_read > bytes || (is_last && bytes_read < bytes) {
            return Err(Stop::Skip(SkipReason::Changed));
        }
        let mut piece = &chunk[..filled];
        if form.is_none() {
            let (found, mark_bytes) = Form::of(piece).map_err(Stop::Skip)?;
            form = Some(found);
            piece = &piece[mark_bytes..];
        }
        let form = form.as_mut().expect("set with the first chunk");
        form.push(piece, is_last, sink).map_err(Stop::Sink)?;
        if is_last {
            let encoding = form.encoding();
            return Ok(ReadOutcome::Text {
                bytes_read,
                encoding,
            });
        }
    }
}

/// Reads until `chunk` is full or the file ends. A single read may return less; but one that returns less, and all that
/// is `expected`, has met the end, so that it need not be asked for.
fn fill(reader: &mut impl Read, chunk: &mut [u8], expected: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < chunk.len() {
        match reader.read(&mut chunk[filled..]) {
            Ok(0) => break,
            Ok(bytes) => {
                filled += bytes;
                if filled as u64 == expected {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// How the bytes of a file become text.
enum Form {
    AsIs,
    Utf16 {
        /// Keeps an incomplete character at the end of a chunk.
        decoder: Decoder,
        /// Its output buffer.
        decoded: Vec<u8>,
    },
}

impl Form {
    /// Returns the form of a file that begins with `head`, and the length of its byte-order mark.
    fn of(head: &[u8]) -> Result<(Form, usize), SkipReason> {
        // The decoder drops a second mark, as ripgrep's does.
        match head {
            [0xff, 0xfe, ..] => Ok((Form::utf16(UTF_16LE.new_decoder_with_bom_removal()), 2)),
            [0xfe, 0xff, ..] => Ok((Form::utf16(UTF_16BE.new_decoder_with_bom_removal()), 2)),
            _ if has_nul(&head[..head.len().min(BINARY_HEAD_BYTES)]) => Err(SkipReason::Binary),
            [0xef, 0xbb, 0xbf, ..] => Ok((Form::AsIs, 3)),
            _ => Ok((Form::AsIs, 0)),
        }
    }

    fn utf16(decoder: Decoder) -> Form {
        Form::Utf16 {
            decoder,
            decoded: vec![0; DECODED_BYTES],
        }
    }

    /// Returns what the text is decoded from.
    fn encoding(&self) -> Option<TextEncoding> {
        match self {
            Form::AsIs => None,
            Form::Utf16 { decoder, .. } if decoder.encoding() == UTF_16BE => {
                Some(TextEncoding::Utf16Be)
            }
            Form::Utf16 { .. } => Some(TextEncoding::Utf16Le),
        }
    }

    fn push(&mut self, mut piece: &[u8], is_last: bool, sink: &mut dyn TextSink) -> io::Result<()> {
        match self {
            Form::AsIs if piece.is_empty() => Ok(()),
            Form::AsIs => sink.text(piece),
            Form::Utf16 { decoder, decoded } => loop {
                let (result, consumed, written, _) =
                    decoder.decode_to_utf8(piece, decoded, is_last);
                piece = &piece[consumed..];
                if written > 0 {
                    sink.text(&decoded[..written])?;
                }
                if result == CoderResult::InputEmpty {
                    return Ok(());
                }
            },
        }
    }
}

fn has_nul(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_some()
}

#[cfg(test)]
mod tests;
