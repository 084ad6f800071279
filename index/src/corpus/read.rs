//! Reads the text of a file once, by chunks. The first decides its form, in this order:
//!
//! 1. a UTF-16 byte-order mark: decoded as by ripgrep, with U+FFFD for malformed sequences (a
//!    UTF-32 mark begins with one);
//! 2. a NUL in the first 8,000 bytes: binary, by git's rule;
//! 3. otherwise text, UTF-8 or not, without a UTF-8 byte-order mark.
//!
//! **Invariant:** memory is bounded by [`CHUNK_BYTES`].

use super::walk::unreadable;
use super::{CorpusError, File, SkipReason, Source};
use crate::format::TextEncoding;
use encoding_rs::{CoderResult, Decoder, UTF_16BE, UTF_16LE};
use rustix::fs::OFlags;
use std::cell::Cell;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Bytes read at once: system calls become rare.
pub const CHUNK_BYTES: usize = 256 << 10;

/// git's `FIRST_FEW_BYTES`.
pub const BINARY_HEAD_BYTES: usize = 8_000;

/// Bytes decoded at once from UTF-16.
const DECODED_BYTES: usize = 64 << 10;

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ReadOutcome {
    /// The sink got the whole text.
    Text {
        /// File size before decoding.
        bytes_read: u64,
        /// Original encoding, if decoded.
        encoding: Option<TextEncoding>,
    },
    /// Unsearchable. The sink must discard a partial text.
    Skipped(SkipReason),
}

/// Reads a file into `sink`, in nonempty pieces that may split lines and characters.
///
/// Its size may differ from that in [`walk`](super::walk), but a change during the read is
/// [`SkipReason::Changed`]. Links are not followed.
///
/// # Errors
/// Only the sink's; others are a [`ReadOutcome`].
pub fn read(
    source: &Source,
    file: &File,
    sink: &mut dyn Write,
) -> Result<ReadOutcome, CorpusError> {
    let path = source.absolute(&file.path);
    let reached = source.reach(&file.path).map_err(Stop::file);
    let text = reached
        .and_then(|reached| open(&reached.path))
        .and_then(|(opened, bytes)| text(opened, bytes, sink));
    let outcome = text.or_else(Stop::outcome);
    outcome.map_err(|source| CorpusError::Sink { path, source })
}

/// Like [`read`], from memory; fails only like the sink.
pub fn read_bytes(bytes: &[u8], sink: &mut dyn Write) -> io::Result<ReadOutcome> {
    text(bytes, bytes.len() as u64, sink).or_else(Stop::outcome)
}

pub(crate) fn hash(source: &Source, file: &File) -> Result<Option<[u8; 32]>, CorpusError> {
    let mut hasher = blake3::Hasher::new();
    Ok(match read(source, file, &mut hasher)? {
        ReadOutcome::Text { .. } => Some(*hasher.finalize().as_bytes()),
        ReadOutcome::Skipped(_) => None,
    })
}

#[derive(Debug)]
enum Stop {
    Skip(SkipReason),
    Sink(io::Error),
}

impl Stop {
    fn file(error: io::Error) -> Stop {
        Stop::Skip(unreadable(&error))
    }

    fn outcome(self) -> io::Result<ReadOutcome> {
        match self {
            Stop::Skip(reason) => Ok(ReadOutcome::Skipped(reason)),
            Stop::Sink(error) => Err(error),
        }
    }
}

fn open(path: &Path) -> Result<(fs::File, u64), Stop> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = fs::File::options()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        // A link, or a half-open pipe or socket.
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
    static CHUNK: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Reuses a buffer of [`CHUNK_BYTES`]: clearing one takes longer than reading a small file.
fn with_chunk<T>(read: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut chunk = CHUNK.take();
    chunk.resize(CHUNK_BYTES, 0);
    let result = read(&mut chunk);
    CHUNK.set(chunk);
    result
}

fn text(reader: impl Read, bytes: u64, sink: &mut dyn Write) -> Result<ReadOutcome, Stop> {
    // One byte more shows the end.
    let chunk_bytes = bytes.saturating_add(1).min(CHUNK_BYTES as u64) as usize;
    with_chunk(|chunk| text_by_chunks(reader, bytes, &mut chunk[..chunk_bytes], sink))
}

fn text_by_chunks(
    mut reader: impl Read,
    bytes: u64,
    chunk: &mut [u8],
    sink: &mut dyn Write,
) -> Result<ReadOutcome, Stop> {
    let mut form = None;
    let mut bytes_read = 0;
    loop {
        let expected = bytes - bytes_read;
        let filled = fill(&mut reader, chunk, expected).map_err(Stop::file)?;
        let is_last = filled < chunk.len();
        bytes_read += filled as u64;
        // Also stops at a growing file.
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

/// Reads until full or the end; a short read of all `expected` bytes is the end.
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

enum Form {
    AsIs,
    Utf16 {
        /// Keeps incomplete characters.
        decoder: Decoder,
        decoded: Vec<u8>,
    },
}

impl Form {
    /// Form of a file, and length of its mark.
    fn of(head: &[u8]) -> Result<(Form, usize), SkipReason> {
        // The decoder drops a second mark, as in ripgrep.
        match head {
            [0xff, 0xfe, ..] => Ok((Form::utf16(UTF_16LE.new_decoder_with_bom_removal()), 2)),
            [0xfe, 0xff, ..] => Ok((Form::utf16(UTF_16BE.new_decoder_with_bom_removal()), 2)),
            _ if memchr::memchr(0, &head[..head.len().min(BINARY_HEAD_BYTES)]).is_some() => {
                Err(SkipReason::Binary)
            }
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

    fn encoding(&self) -> Option<TextEncoding> {
        match self {
            Form::AsIs => None,
            Form::Utf16 { decoder, .. } if decoder.encoding() == UTF_16BE => {
                Some(TextEncoding::Utf16Be)
            }
            Form::Utf16 { .. } => Some(TextEncoding::Utf16Le),
        }
    }

    fn push(&mut self, mut piece: &[u8], is_last: bool, sink: &mut dyn Write) -> io::Result<()> {
        match self {
            Form::AsIs if piece.is_empty() => Ok(()),
            Form::AsIs => sink.write_all(piece),
            Form::Utf16 { decoder, decoded } => loop {
                let (result, consumed, written, _) =
                    decoder.decode_to_utf8(piece, decoded, is_last);
                piece = &piece[consumed..];
                if written > 0 {
                    sink.write_all(&decoded[..written])?;
                }
                if result == CoderResult::InputEmpty {
                    return Ok(());
                }
            },
        }
    }
}

#[cfg(test)]
mod tests;
