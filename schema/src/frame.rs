//! The envelope around every message: bytes in, frames out.
//!
//! ```text
//! offset  bytes  field
//!      0      4  length of the payload in bytes, a multiple of 8, little endian like all below
//!      4      1  type (`Kind`)
//!      5      3  zero
//!      8      4  CRC-32C of the 8 bytes above and of the payload
//!     12      4  zero
//!     16      n  payload: one Cap'n Proto message in its standard stream framing, or nothing
//! ```
//!
//! CANCEL, which has no payload, in full: `00000000 08 000000 6cd16c7a 00000000`.
//!
//! A frame is at most [`FRAME_BYTES_MAX`] long and a multiple of 8, so frames that follow each
//! other keep a message aligned, in the receive buffer and in the spool, and it is read in place.
//! **Invariant:** the decoder does no I/O and has one buffer, which grows with the bytes that have come,
//! up to a bound, and never with what a header claims.

use zerocopy::{IntoBytes, TryFromBytes};

/// Bytes of a whole frame, header included. A batch is cut long before (see the backend); this is
/// what a receiver must be ready to hold.
pub const FRAME_BYTES_MAX: usize = 1 << 20;

/// Bytes of the header in front of a payload.
pub const HEADER_BYTES: usize = 16;

/// What a decoder holds, of the largest frame: all of it, and a quarter more to read on behind a
/// frame that is still incomplete. 256 KiB a read is where the system calls stop to matter
/// (measured: 1,377 reads for a million matches, 0.39 s of CPU).
const fn buffer_bytes(frame_bytes_max: usize) -> usize {
    frame_bytes_max + frame_bytes_max / 4
}

/// What a decoder begins with: nearly all answers are smaller.
const FIRST_BYTES: usize = 32 << 10;

/// The type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes)]
#[repr(u8)]
pub enum Kind {
    /// Backend to frontend, first on a connection: what it serves.
    Hello = 1,
    /// Frontend to backend: a query.
    Search = 2,
    /// Matches of one document.
    Batch = 3,
    /// How far the search is; the heartbeat.
    Progress = 4,
    /// A document that was given up.
    Skip = 5,
    /// The search's end. A stream that ends without one was cut.
    End = 6,
    /// There is no answer, and why.
    Error = 7,
    /// Frontend to backend: stop the search of this connection. No payload.
    Cancel = 8,
    /// A request for a document's bytes, and the reply to it.
    File = 9,
    /// A frontend to itself, on the disk: a finished run.
    Manifest = 10,
    /// A request for names, and the reply to it.
    List = 11,
}

/// Why bytes are not a stream of frames. None of these can be recovered from on the same stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The header claims more than a frame may have.
    #[error("a frame of {bytes} bytes, the most is {bytes_max}")]
    TooLong {
        /// What it has, or says it has.
        bytes: usize,
        /// What is taken.
        bytes_max: usize,
    },
    /// The header's length is not a multiple of 8, or bytes that must be zero are not.
    #[error("a malformed frame header")]
    Malformed,
    /// The type is none that this version knows.
    #[error("a frame of unknown type {0}")]
    UnknownKind(u8),
    /// The checksum is not that of the bytes.
    #[error("a frame with a wrong checksum")]
    Checksum,
    /// The stream ended inside a frame.
    #[error("the stream ended inside a frame")]
    Truncated,
}

/// One frame, borrowed from the decoder's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Its type.
    pub kind: Kind,
    /// The message, aligned to 8 bytes when the frame is.
    pub payload: &'a [u8],
    /// Length of the whole frame in bytes, header included.
    pub bytes: usize,
}

/// Appends a frame of `kind` around `payload`, a multiple of 8 bytes long, to `out`.
pub fn encode(kind: Kind, payload: &[u8], out: &mut Vec<u8>) -> Result<(), FrameError> {
    encode_with(kind, out, |out| out.extend_from_slice(payload))
}

/// Appends a frame of `kind` around what `payload` appends, a multiple of 8 bytes, to `out`; an
/// error leaves `out` as it was.
pub(crate) fn encode_with(
    kind: Kind,
    out: &mut Vec<u8>,
    payload: impl FnOnce(&mut Vec<u8>),
) -> Result<(), FrameError> {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    payload(out);
    let frame = &mut out[start..];
    let bytes = frame.len();
    if bytes > FRAME_BYTES_MAX {
        out.truncate(start);
        let bytes_max = FRAME_BYTES_MAX;
        return Err(FrameError::TooLong { bytes, bytes_max });
    }
    let (header, payload) = frame.split_at_mut(HEADER_BYTES);
    assert_eq!(payload.len() % 8, 0, "a payload is whole words");
    header[..4].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    header[4] = kind as u8;
    let checksum = checksum(&header[..8], payload);
    header[8..12].copy_from_slice(&checksum.to_le_bytes());
    Ok(())
}

/// The frame that `bytes` begin with; `None` while it is incomplete.
pub fn decode(bytes: &[u8]) -> Result<Option<Frame<'_>>, FrameError> {
    decode_within(bytes, FRAME_BYTES_MAX)
}

fn decode_within(bytes: &[u8], bytes_max: usize) -> Result<Option<Frame<'_>>, FrameError> {
    let Some(header) = bytes.get(..HEADER_BYTES) else {
        return Ok(None);
    };
    let (kind, length) = decode_header(header, bytes_max)?;
    let Some(payload) = bytes.get(HEADER_BYTES..HEADER_BYTES + length) else {
        return Ok(None);
    };
    let expected = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
    if checksum(&header[..8], payload) != expected {
        return Err(FrameError::Checksum);
    }
    Ok(Some(Frame {
        kind,
        payload,
        bytes: HEADER_BYTES + length,
    }))
}

fn decode_header(header: &[u8], bytes_max: usize) -> Result<(Kind, usize), FrameError> {
    let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
    if length > bytes_max - HEADER_BYTES {
        let bytes = length.saturating_add(HEADER_BYTES);
        return Err(FrameError::TooLong { bytes, bytes_max });
    }
    if !length.is_multiple_of(8) || header[5..8] != [0; 3] || header[12..16] != [0; 4] {
        return Err(FrameError::Malformed);
    }
    let kind = Kind::try_read_from_bytes(&header[4..5]);
    let kind = kind.map_err(|_| FrameError::UnknownKind(header[4]))?;
    Ok((kind, length))
}

fn checksum(head: &[u8], payload: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(head), payload)
}

/// Cuts a stream of bytes into frames.
///
/// Read into [`space`](Self::space), say how much with [`filled`](Self::filled), take frames with
/// [`decode`](Self::decode) until there is none, and, to keep the bytes as they were received,
/// [`walked`](Self::consumed) before the next read.
pub struct Decoder {
    /// Words, so that the first frame is aligned, and with it all that follow. As large as what comes
    /// asks for.
    buffer: Vec<u64>,
    /// Where the bytes of the frames begin that were decoded since the last `walked`.
    mark: usize,
    /// Where the next frame begins.
    start: usize,
    /// Where the bytes read so far end.
    end: usize,
    /// The longest frame that is taken.
    frame_bytes_max: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::with_frame_bytes_max(FRAME_BYTES_MAX)
    }

    /// A decoder that takes frames of at most so many bytes, header included, and whose buffer grows
    /// less for it.
    ///
    /// # Panics
    /// When that is less than a header has, or more than [`FRAME_BYTES_MAX`].
    pub fn with_frame_bytes_max(frame_bytes_max: usize) -> Self {
        assert!((HEADER_BYTES..=FRAME_BYTES_MAX).contains(&frame_bytes_max));
        Decoder {
            buffer: vec![0; FIRST_BYTES.min(buffer_bytes(frame_bytes_max)).div_ceil(8)],
            mark: 0,
            start: 0,
            end: 0,
            frame_bytes_max,
        }
    }

    /// Where to read to: never empty. Moves what is still incomplete to the buffer's start, so it
    /// forgets what [`walked`](Self::consumed) has not been asked for. It is larger the next time when all
    /// of it has been filled.
    pub fn space(&mut self) -> &mut [u8] {
        let was_filled = self.end == self.buffer.len() * 8;
        let bytes = self.buffer.as_mut_bytes();
        bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        self.mark = 0;
        if was_filled {
            let most = buffer_bytes(self.frame_bytes_max).div_ceil(8);
            self.buffer.resize(most.min(2 * self.buffer.len()), 0);
        }
        &mut self.buffer.as_mut_bytes()[self.end..]
    }

    /// Gives the memory back that a large answer has needed, until the next one.
    pub fn shrink(&mut self) {
        let held = self.start..self.end;
        if self.buffer.len() * 8 > FIRST_BYTES && held.len() < FIRST_BYTES {
            let mut buffer = vec![0; FIRST_BYTES / 8];
            buffer.as_mut_bytes()[..held.len()]
                .copy_from_slice(&self.buffer.as_bytes()[held.clone()]);
            (self.buffer, self.start, self.end, self.mark) = (buffer, 0, held.len(), 0);
        }
    }

    /// Says that `bytes` bytes were read to the beginning of [`space`](Self::space).
    pub fn filled(&mut self, bytes: usize) {
        self.end += bytes;
        assert!(
            self.end <= self.buffer.as_bytes().len(),
            "more bytes than there was space for"
        );
    }

    /// The next frame, or `None` when more bytes are needed.
    pub fn decode(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        let bytes = &self.buffer.as_bytes()[self.start..self.end];
        let frame = decode_within(bytes, self.frame_bytes_max)?;
        if let Some(frame) = &frame {
            self.start += frame.bytes;
        }
        Ok(frame)
    }

    /// The bytes of all frames decoded since the last call or [`space`](Self::space), as received.
    pub fn consumed(&mut self) -> &[u8] {
        let from = std::mem::replace(&mut self.mark, self.start);
        &self.buffer.as_bytes()[from..self.start]
    }

    /// Whether bytes are there that make no frame yet. To be asked when [`decode`](Self::decode)
    /// has given all that is whole.
    pub fn is_inside_a_frame(&self) -> bool {
        self.start != self.end
    }

    /// Says that the stream has ended: an error when it did so inside a frame.
    pub fn finish(&self) -> Result<(), FrameError> {
        match self.is_inside_a_frame() {
            true => Err(FrameError::Truncated),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Frames = Vec<(Kind, Vec<u8>)>;

    fn frames() -> (Vec<u8>, Frames) {
        let frames = vec![
            (Kind::Hello, vec![7; 24]),
            (Kind::Cancel, vec![]),
            (Kind::Batch, (0..=255).cycle().take(4096).collect()),
            (Kind::End, vec![1; 8]),
        ];
        let mut stream = Vec::new();
        for (kind, payload) in &frames {
            encode(*kind, payload, &mut stream).unwrap();
        }
        (stream, frames)
    }

    /// Feeds `stream` in pieces of `piece` bytes and returns the frames and the bytes walked.
    fn drain(stream: &[u8], piece: usize) -> Result<(Frames, Vec<u8>), FrameError> {
        let mut decoder = Decoder::new();
        let (mut frames, mut walked) = (Vec::new(), Vec::new());
        let mut rest = stream;
        while !rest.is_empty() {
            let space = decoder.space();
            let bytes = piece.min(space.len()).min(rest.len());
            space[..bytes].copy_from_slice(&rest[..bytes]);
            decoder.filled(bytes);
            rest = &rest[bytes..];
            while let Some(frame) = decoder.decode()? {
                assert_eq!(frame.payload.as_ptr() as usize % 8, 0, "aligned");
                frames.push((frame.kind, frame.payload.to_vec()));
            }
            walked.extend_from_slice(decoder.consumed());
        }
        decoder.finish()?;
        Ok((frames, walked))
    }

    #[test]
    fn frames_come_out_as_they_went_in_however_the_stream_is_cut() {
        let (stream, frames) = frames();
        for piece in [1, 3, 8, 17, 1000, stream.len()] {
            let (decoded, walked) = drain(&stream, piece).unwrap();
            assert_eq!(decoded, frames, "pieces of {piece}");
            assert_eq!(walked, stream, "pieces of {piece}");
        }
    }

    #[test]
    fn the_largest_frame_fits_whatever_stands_before_it() {
        let mut stream = Vec::new();
        encode(Kind::Progress, &[0; 8], &mut stream).unwrap();
        encode(
            Kind::Batch,
            &vec![5; FRAME_BYTES_MAX - HEADER_BYTES],
            &mut stream,
        )
        .unwrap();
        assert_eq!(drain(&stream, 200_000).unwrap().0.len(), 2);
    }

    #[test]
    fn a_decoder_of_short_frames_takes_those_and_no_others() {
        let (length, mut stream) = (4096 - HEADER_BYTES, Vec::new());
        encode(Kind::Cancel, &[], &mut stream).unwrap();
        encode(Kind::Search, &vec![3; length], &mut stream).unwrap();
        encode(Kind::Search, &vec![3; length + 8], &mut stream).unwrap();
        let mut decoder = Decoder::with_frame_bytes_max(4096);
        let (mut lengths, mut rest) = (Vec::new(), &stream[..]);
        let error = loop {
            let space = decoder.space();
            let bytes = space.len().min(rest.len());
            space[..bytes].copy_from_slice(&rest[..bytes]);
            rest = &rest[bytes..];
            decoder.filled(bytes);
            match decoder.decode() {
                Ok(frame) => lengths.extend(frame.map(|frame| frame.bytes)),
                Err(error) => break error,
            }
        };
        assert_eq!(lengths, [HEADER_BYTES, 4096]);
        let (bytes, bytes_max) = (4104, 4096);
        assert_eq!(error, FrameError::TooLong { bytes, bytes_max });
    }

    #[test]
    fn the_worked_example_is_true() {
        let mut stream = Vec::new();
        encode(Kind::Cancel, &[], &mut stream).unwrap();
        let hex: String = stream.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "00000000080000006cd16c7a00000000");
    }

    #[test]
    fn a_frame_too_long_is_refused_before_its_bytes_are_there() {
        let mut header = [0; HEADER_BYTES];
        header[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        header[4] = Kind::Batch as u8;
        assert!(matches!(decode(&header), Err(FrameError::TooLong { .. })));
        let payload = vec![0; FRAME_BYTES_MAX];
        assert!(matches!(
            encode(Kind::Batch, &payload, &mut Vec::new()),
            Err(FrameError::TooLong { .. })
        ));
    }

    #[test]
    fn every_truncation_is_noticed() {
        let (stream, _) = frames();
        let boundaries = [0, 40, 56, 56 + 4112];
        for length in 0..stream.len() {
            let whole = boundaries.contains(&length);
            assert_eq!(
                drain(&stream[..length], 512).is_ok(),
                whole,
                "cut at {length}"
            );
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let (stream, frames) = frames();
        for bit in 0..stream.len() * 8 {
            let mut broken = stream.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            match drain(&broken, 100_000) {
                Err(_) => {}
                Ok((decoded, _)) => assert_eq!(decoded, frames, "bit {bit} went unnoticed"),
            }
        }
    }

    proptest! {
        #[test]
        fn garbage_is_an_error_or_waits_for_more(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = drain(&bytes, 64);
        }
    }
}
