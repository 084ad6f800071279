//! Envelope of every message: turns a stream of bytes into frames.
//!
//! ```text
//! offset  bytes  field
//!      0      4  length of the payload in bytes, a multiple of 8; all numbers are little endian
//!      4      1  type (`Kind`)
//!      5      3  zero
//!      8      4  CRC-32C of the 8 bytes above and of the payload
//!     12      4  zero
//!     16      n  payload: one Cap'n Proto message in its standard stream framing, or nothing
//! ```
//!
//! A complete CANCEL frame, without payload: `00000000 08 000000 6cd16c7a 00000000`.
//!
//! Frames are multiples of 8 bytes, at most [`FRAME_BYTES_MAX`]. So they stay aligned in the
//! receive buffer and the spool, and messages are read in place.
//!
//! **Invariant:** the decoder does no I/O and has one buffer. It grows with the bytes received, up
//! to a bound, never with a claimed length.

use zerocopy::{IntoBytes, TryFromBytes};

/// Batches are much smaller; a receiver must be able to hold this much.
pub const FRAME_BYTES_MAX: usize = 1 << 20;

pub const HEADER_BYTES: usize = 16;

/// Largest frame, and a quarter more for reads behind an incomplete one.
const fn buffer_bytes(frame_bytes_max: usize) -> usize {
    frame_bytes_max + frame_bytes_max / 4
}

/// Nearly all answers are smaller.
const FIRST_BYTES: usize = 32 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes)]
#[repr(u8)]
pub enum Kind {
    /// Backend to frontend, first on a connection: shards served.
    Hello = 1,
    /// Frontend to backend: a query.
    Search = 2,
    Batch = 3,
    /// Also sent while the search has no matches.
    Progress = 4,
    /// Document with an abandoned search.
    Skip = 5,
    /// Last frame; a stream without it is incomplete.
    End = 6,
    Error = 7,
    /// Frontend to backend: stop the connection's search. No payload.
    Cancel = 8,
    File = 9,
    /// A frontend to itself, on disk: a finished result.
    Manifest = 10,
    List = 11,
    /// Request for commits of git repositories, and its reply.
    Lookup = 12,
    /// An index to itself, on disk.
    Record = 13,
    Text = 14,
}

/// Malformed stream, unusable afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {bytes} bytes exceeds the limit of {bytes_max}")]
    TooLong {
        /// Actual or claimed length.
        bytes: usize,
        bytes_max: usize,
    },
    /// Length not a multiple of 8, or bytes not zero that must be.
    #[error("a malformed frame header")]
    Malformed,
    #[error("a frame of unknown type {0}")]
    UnknownKind(u8),
    #[error("a frame with a wrong checksum")]
    Checksum,
    #[error("the stream ended inside a frame")]
    Truncated,
}

/// Frame, borrowed from the decoder's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    pub kind: Kind,
    /// Message, aligned to 8 bytes if the frame is.
    pub payload: &'a [u8],
    /// With header.
    pub bytes: usize,
}

/// Appends a frame to `out`. `payload` is a multiple of 8 bytes.
pub fn encode(kind: Kind, payload: &[u8], out: &mut Vec<u8>) -> Result<(), FrameError> {
    encode_with(kind, out, |out| out.extend_from_slice(payload))
}

/// `payload` appends a multiple of 8 bytes. After an error `out` is unchanged.
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

/// Decodes the first frame; `None` while incomplete.
pub fn decode(bytes: &[u8]) -> Result<Option<Frame<'_>>, FrameError> {
    decode_within(bytes, FRAME_BYTES_MAX, true)
}

/// Like [`decode`], for bytes checked or made in this process.
pub fn decode_unchecked(bytes: &[u8]) -> Result<Option<Frame<'_>>, FrameError> {
    decode_within(bytes, FRAME_BYTES_MAX, false)
}

fn decode_within(
    bytes: &[u8],
    bytes_max: usize,
    checks_sum: bool,
) -> Result<Option<Frame<'_>>, FrameError> {
    let Some(header) = bytes.get(..HEADER_BYTES) else {
        return Ok(None);
    };
    let (kind, length) = decode_header(header, bytes_max)?;
    let Some(payload) = bytes.get(HEADER_BYTES..HEADER_BYTES + length) else {
        return Ok(None);
    };
    if checks_sum && checksum(&header[..8], payload).to_le_bytes() != header[8..12] {
        return Err(FrameError::Checksum);
    }
    let bytes = HEADER_BYTES + length;
    Ok(Some(Frame {
        kind,
        payload,
        bytes,
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
/// Read into [`space`](Self::space), call [`filled`](Self::filled), and [`decode`](Self::decode)
/// until it returns `None`. To keep the bytes, call [`consumed`](Self::consumed) before the next
/// read.
pub struct Decoder {
    /// Words, so that every frame is aligned.
    buffer: Vec<u64>,
    /// Start of frames since the last `consumed`.
    mark: usize,
    start: usize,
    end: usize,
    frame_bytes_max: usize,
}

pub trait Frames {
    /// Next frame, or `None` if more bytes are needed.
    fn decode(&mut self) -> Result<Option<Frame<'_>>, FrameError>;

    /// Bytes of all frames since the last call.
    fn consumed(&mut self) -> &[u8];
}

/// Whole frames of this process. Checksums are not compared: the bytes crossed neither network nor
/// disk.
pub struct OwnFrames<'a> {
    bytes: &'a [u8],
    mark: usize,
    start: usize,
}

impl<'a> OwnFrames<'a> {
    /// Takes frames; `None` unless aligned to 8 bytes.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        bytes
            .as_ptr()
            .cast::<u64>()
            .is_aligned()
            .then_some(OwnFrames {
                bytes,
                mark: 0,
                start: 0,
            })
    }

    pub fn is_done(&self) -> bool {
        self.start == self.bytes.len()
    }
}

impl Frames for OwnFrames<'_> {
    /// `None` also after each [`FRAME_BYTES_MAX`] until they are [`consumed`](Frames::consumed), so
    /// readers get as many as from a [`Decoder`].
    fn decode(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        if self.start - self.mark >= FRAME_BYTES_MAX {
            return Ok(None);
        }
        let frame = decode_unchecked(&self.bytes[self.start..])?;
        self.start += frame.map_or(0, |frame| frame.bytes);
        Ok(frame)
    }

    fn consumed(&mut self) -> &[u8] {
        let from = std::mem::replace(&mut self.mark, self.start);
        &self.bytes[from..self.start]
    }
}

impl Frames for Decoder {
    fn decode(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        Decoder::decode(self)
    }

    fn consumed(&mut self) -> &[u8] {
        Decoder::consumed(self)
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    pub fn new() -> Self {
        Self::with_frame_bytes_max(FRAME_BYTES_MAX)
    }

    /// Decoder with a limit on frames, header included, and a bounded buffer.
    ///
    /// # Panics
    /// If the limit is below a header or above [`FRAME_BYTES_MAX`].
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

    /// Buffer to read into, never empty. Moves an incomplete frame to its start; bytes not yet
    /// [`consumed`](Self::consumed) are lost. A full buffer grows.
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

    /// Frees the memory of a large answer.
    pub fn shrink(&mut self) {
        let held = self.start..self.end;
        if self.buffer.len() * 8 > FIRST_BYTES && held.len() < FIRST_BYTES {
            let mut buffer = vec![0; FIRST_BYTES / 8];
            buffer.as_mut_bytes()[..held.len()]
                .copy_from_slice(&self.buffer.as_bytes()[held.clone()]);
            (self.buffer, self.start, self.end, self.mark) = (buffer, 0, held.len(), 0);
        }
    }

    /// Records `bytes` bytes read to the beginning of [`space`](Self::space).
    pub fn filled(&mut self, bytes: usize) {
        self.end += bytes;
        assert!(
            self.end <= self.buffer.as_bytes().len(),
            "more bytes than there was space for"
        );
    }

    /// Takes as many bytes as [`space`](Self::space) holds. Returns the others.
    pub fn take_from<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let space = self.space();
        let (taken, others) = bytes.split_at(bytes.len().min(space.len()));
        space[..taken.len()].copy_from_slice(taken);
        self.filled(taken.len());
        others
    }

    /// Next frame, or `None` if more bytes are needed.
    pub fn decode(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        let bytes = &self.buffer.as_bytes()[self.start..self.end];
        let frame = decode_within(bytes, self.frame_bytes_max, true)?;
        self.start += frame.map_or(0, |frame| frame.bytes);
        Ok(frame)
    }

    /// Kind of the next frame, or `None` if more bytes are needed.
    pub fn peek(&self) -> Result<Option<Kind>, FrameError> {
        let bytes = &self.buffer.as_bytes()[self.start..self.end];
        let frame = decode_within(bytes, self.frame_bytes_max, true)?;
        Ok(frame.map(|frame| frame.kind))
    }

    /// Bytes of frames since the last call of this or [`space`](Self::space).
    pub fn consumed(&mut self) -> &[u8] {
        let from = std::mem::replace(&mut self.mark, self.start);
        &self.buffer.as_bytes()[from..self.start]
    }

    /// True inside an incomplete frame. Call it after [`decode`](Self::decode) has returned `None`.
    pub fn is_inside_a_frame(&self) -> bool {
        self.start != self.end
    }

    /// Ends the stream; fails inside a frame.
    pub fn finish(&self) -> Result<(), FrameError> {
        if self.is_inside_a_frame() {
            return Err(FrameError::Truncated);
        }
        Ok(())
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

    #[test]
    fn own_frames_are_read_in_place_a_bounded_number_at_a_time() {
        let mut stream = Vec::new();
        for number in 0..5_u8 {
            encode(Kind::Text, &vec![number; FRAME_BYTES_MAX / 2], &mut stream).unwrap();
        }
        // A wrong checksum, which is not compared.
        stream[8] ^= 1;
        let mut frames = OwnFrames::new(&stream).unwrap();
        let (mut read, mut consumed) = (0, Vec::new());
        while !frames.is_done() {
            let mut some = 0;
            while let Some(frame) = super::Frames::decode(&mut frames).unwrap() {
                assert!(frame.payload.iter().all(|&byte| byte == read));
                read += 1;
                some += frame.bytes;
            }
            assert!((1..=2 * FRAME_BYTES_MAX).contains(&some));
            consumed.extend_from_slice(super::Frames::consumed(&mut frames));
        }
        assert!(read == 5 && consumed == stream);
        stream[5] = 1;
        let mut malformed = OwnFrames::new(&stream).unwrap();
        let decoded = super::Frames::decode(&mut malformed).map(|_| ());
        assert_eq!(decoded, Err(FrameError::Malformed));
        assert!(OwnFrames::new(&stream[4..]).is_none());
    }

    fn drain(stream: &[u8], piece: usize) -> Result<(Frames, Vec<u8>), FrameError> {
        let mut decoder = Decoder::new();
        let (mut frames, mut consumed) = (Vec::new(), Vec::new());
        let mut rest = stream;
        while !rest.is_empty() {
            let space = decoder.space();
            let bytes = piece.min(space.len()).min(rest.len());
            space[..bytes].copy_from_slice(&rest[..bytes]);
            decoder.filled(bytes);
            rest = &rest[bytes..];
            while let Some(kind) = decoder.peek()? {
                let frame = decoder.decode()?.expect("it was there");
                assert_eq!(frame.payload.as_ptr() as usize % 8, 0, "aligned");
                assert_eq!(frame.kind, kind);
                frames.push((frame.kind, frame.payload.to_vec()));
            }
            consumed.extend_from_slice(decoder.consumed());
        }
        decoder.finish()?;
        Ok((frames, consumed))
    }

    #[test]
    fn decodes_frames_however_the_stream_is_cut() {
        let (stream, frames) = frames();
        for piece in [1, 3, 8, 17, 1000, stream.len()] {
            let (decoded, consumed) = drain(&stream, piece).unwrap();
            assert_eq!(decoded, frames, "pieces of {piece}");
            assert_eq!(consumed, stream, "pieces of {piece}");
        }
    }

    #[test]
    fn a_decoder_takes_what_fits() {
        let (stream, frames) = frames();
        let stream = stream.repeat(9);
        for piece in [stream.len(), 5000, 7] {
            let (mut decoder, mut found) = (Decoder::new(), 0);
            for mut rest in stream.chunks(piece) {
                while !rest.is_empty() {
                    rest = decoder.take_from(rest);
                    while let Some(frame) = decoder.decode().unwrap() {
                        assert_eq!(frame.payload, frames[found % frames.len()].1);
                        found += 1;
                    }
                }
            }
            assert_eq!(found, 9 * frames.len());
            decoder.finish().unwrap();
        }
    }

    #[test]
    fn the_largest_frame_fits_behind_any_other() {
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
    fn a_decoder_rejects_frames_beyond_its_limit() {
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
    fn the_example_of_the_docs_is_correct() {
        let mut stream = Vec::new();
        encode(Kind::Cancel, &[], &mut stream).unwrap();
        let hex: String = stream.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "00000000080000006cd16c7a00000000");
    }

    #[test]
    fn rejects_a_long_frame_before_its_payload_arrives() {
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
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = drain(&bytes, 64);
        }
    }
}
