//! The text of a file: read once, from front to end, a chunk at a time.
//!
//! What is text is decided on the first chunk, in this order:
//!
//! 1. a UTF-16 byte-order mark: the file is decoded to UTF-8 as ripgrep does, what is malformed
//!    becoming U+FFFD (a mark of UTF-32 begins with UTF-16's and is taken for it, as there);
//! 2. a NUL byte in the first 8,000 bytes: binary, by git's rule, and the sink is given nothing;
//! 3. anything else is text as it is, UTF-8 or not, but for a UTF-8 byte-order mark: it is dropped.
//!
//! **Invariant:** memory is bounded by [`CHUNK_BYTES`], whatever the size of the file.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use encoding_rs::{CoderResult, Decoder, UTF_16BE, UTF_16LE};

use super::walk::unreadable;
use super::{CorpusError, File, SkipReason, Source};

/// How much of a file is read at a time: enough to make system calls rare.
pub const CHUNK_BYTES: usize = 256 << 10;

/// How much of a file has to be free of NUL for it to be text: git's `FIRST_FEW_BYTES`.
pub const BINARY_HEAD_BYTES: usize = 8_000;

/// How much UTF-8 is decoded at a time from UTF-16.
const DECODED_BYTES: usize = 64 << 10;

/// Takes the text of a document, piece by piece. A piece may end anywhere, in the midst of a line
/// or of a character.
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

/// What became of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ReadOutcome {
    /// The sink was given all of its text.
    Text {
        /// The size of the file, before anything was dropped or decoded.
        bytes_read: u64,
    },
    /// It is not searchable. If it is not [`SkipReason::Binary`], the sink may have been given a
    /// part of its text by then, and has to take it back.
    Skipped(SkipReason),
}

/// Reads a file of `source` and gives its text to `sink`.
///
/// The file as it is now is read, whatever [`walk`](super::walk) saw of it: a size that changes
/// between the two is no fault, one that changes during the reading is
/// [`SkipReason::Changed`]. A link that has taken the file's place is not followed.
///
/// # Errors
/// Only those of the sink. What is wrong with the file is an [`ReadOutcome`].
pub fn read(
    source: &Source,
    file: &File,
    sink: &mut dyn TextSink,
) -> Result<ReadOutcome, CorpusError> {
    let path = source.absolute(&file.path);
    let text = open(&path).and_then(|(opened, bytes)| text(opened, bytes, sink));
    match text {
        Ok(bytes_read) => Ok(ReadOutcome::Text { bytes_read }),
        Err(Stop::Skip(reason)) => Ok(ReadOutcome::Skipped(reason)),
        Err(Stop::Sink(source)) => Err(CorpusError::Sink { path, source }),
    }
}

/// Why the reading ends early.
#[derive(Debug)]
enum Stop {
    Skip(SkipReason),
    Sink(io::Error),
}

impl Stop {
    /// The stop for an error of the file, not of the sink.
    fn file(error: io::Error) -> Stop {
        Stop::Skip(unreadable(&error))
    }
}

/// Opens a regular file without following a link at its path, and tells its size.
///
/// Without `O_NOFOLLOW`, whose number depends on the platform: the path is looked at before, also
/// because opening a pipe would wait for its other end, and compared with what was opened.
fn open(path: &Path) -> Result<(fs::File, u64), Stop> {
    let found = fs::symlink_metadata(path).map_err(Stop::file)?;
    if !found.is_file() {
        return Err(Stop::Skip(SkipReason::Changed));
    }
    let file = fs::File::open(path).map_err(Stop::file)?;
    let opened = file.metadata().map_err(Stop::file)?;
    if (opened.dev(), opened.ino()) != (found.dev(), found.ino()) {
        return Err(Stop::Skip(SkipReason::Changed));
    }
    Ok((file, opened.len()))
}

/// Gives the text of `reader` to `sink` and returns how many bytes were read, which are `bytes`.
fn text(mut reader: impl Read, bytes: u64, sink: &mut dyn TextSink) -> Result<u64, Stop> {
    let mut chunk = vec![0; chunk_bytes(bytes)];
    let mut form = None;
    let mut bytes_read = 0;
    loop {
        let filled = fill(&mut reader, &mut chunk).map_err(Stop::file)?;
        let is_last = filled < chunk.len();
        bytes_read += filled as u64;
        // A file that grows as fast as it is read must come to an end as well.
        if bytes_read > bytes || (is_last && bytes_read < bytes) {
            return Err(Stop::Skip(SkipReason::Changed));
        }
        let mut piece = &chunk[..filled];
        if form.is_none() {
            let (found, mark_bytes) = Form::of(piece).map_err(Stop::Skip)?;
            form = Some(found);
            piece = &piece[mark_bytes..];
        }
        let form = form.as_mut().expect("it was set with the first chunk");
        form.push(piece, is_last, sink).map_err(Stop::Sink)?;
        if is_last {
            return Ok(bytes_read);
        }
    }
}

/// One byte more than the file has, so that its end is seen without a further chunk.
fn chunk_bytes(bytes: u64) -> usize {
    usize::try_from(bytes)
        .unwrap_or(usize::MAX)
        .saturating_add(1)
        .min(CHUNK_BYTES)
}

/// Reads until `chunk` is full or the file at its end. A read may return less at any time.
fn fill(reader: &mut impl Read, chunk: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < chunk.len() {
        match reader.read(&mut chunk[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// How the bytes of a file become text.
enum Form {
    AsIs,
    Utf16(Box<Transcoder>),
}

impl Form {
    /// The form of a file that begins with `head`, and how many bytes its byte-order mark has.
    fn of(head: &[u8]) -> Result<(Form, usize), SkipReason> {
        // The decoder drops a second mark, if there is one: so does ripgrep's.
        match head {
            [0xff, 0xfe, ..] => Ok((Form::utf16(UTF_16LE.new_decoder_with_bom_removal()), 2)),
            [0xfe, 0xff, ..] => Ok((Form::utf16(UTF_16BE.new_decoder_with_bom_removal()), 2)),
            _ if has_nul(&head[..head.len().min(BINARY_HEAD_BYTES)]) => Err(SkipReason::Binary),
            [0xef, 0xbb, 0xbf, ..] => Ok((Form::AsIs, 3)),
            _ => Ok((Form::AsIs, 0)),
        }
    }

    fn utf16(decoder: Decoder) -> Form {
        Form::Utf16(Box::new(Transcoder {
            decoder,
            decoded: vec![0; DECODED_BYTES],
        }))
    }

    fn push(&mut self, piece: &[u8], is_last: bool, sink: &mut dyn TextSink) -> io::Result<()> {
        match self {
            Form::Utf16(transcoder) => transcoder.push(piece, is_last, sink),
            Form::AsIs if piece.is_empty() => Ok(()),
            Form::AsIs => sink.text(piece),
        }
    }
}

fn has_nul(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_some()
}

/// A decoder, which keeps the half of a character that a chunk ends with, and its output.
struct Transcoder {
    decoder: Decoder,
    decoded: Vec<u8>,
}

impl Transcoder {
    fn push(&mut self, mut piece: &[u8], is_last: bool, sink: &mut dyn TextSink) -> io::Result<()> {
        loop {
            let (result, consumed, written, _) =
                self.decoder
                    .decode_to_utf8(piece, &mut self.decoded, is_last);
            piece = &piece[consumed..];
            if written > 0 {
                sink.text(&self.decoded[..written])?;
            }
            if result == CoderResult::InputEmpty {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
