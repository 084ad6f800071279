//! Frames and messages of a connection.

use crate::samples::samples;
use schema::frame::{self, Decoder, HEADER_BYTES, Kind};
use schema::message::{
    Batch, BatchReader, ChangedLine, CommitChange, DocumentKind, End, Failure, FileReply,
    FileRequest, Hello, Line, LineView, ListReply, ListRequest, LookupReply, LookupRequest,
    MessageError, Progress, Range, Search, Skip, SpoolManifest, TextBatch, TextParts, TextReader,
    TextRun, Window,
};
use zerocopy::IntoBytes;

/// Whole and in pieces, decoding gives the same result.
///
/// The first input byte selects piece size and checksum correction.
pub(crate) fn frames(data: &[u8]) {
    let Some((&how, stream)) = data.split_first() else {
        return;
    };
    let mut stream = stream.to_vec();
    if how % 2 == 1 {
        correct_checksums(&mut stream);
    }
    let whole = drain(&stream, stream.len());
    assert_eq!(drain(&stream, usize::from(how / 2) + 1), whole);
    let mut again = Vec::new();
    for (kind, payload) in &whole.frames {
        frame::encode(*kind, payload, &mut again).expect("the payload came in a frame");
    }
    assert_eq!(again, whole.consumed);
    assert!(stream.starts_with(&again));
    assert_eq!(whole.end.is_ok(), again == stream);
}

#[derive(Debug, PartialEq)]
struct Drained {
    frames: Vec<(Kind, Vec<u8>)>,
    consumed: Vec<u8>,
    end: Result<(), frame::FrameError>,
}

fn drain(stream: &[u8], piece: usize) -> Drained {
    let mut decoder = Decoder::new();
    let (mut frames, mut consumed) = (Vec::new(), Vec::new());
    let mut rest = stream;
    let end = loop {
        let space = decoder.space();
        let read = piece.min(rest.len()).min(space.len());
        space[..read].copy_from_slice(&rest[..read]);
        rest = &rest[read..];
        decoder.filled(read);
        let error = loop {
            match decoder.decode() {
                Ok(Some(frame)) => frames.push((frame.kind, frame.payload.to_vec())),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        consumed.extend_from_slice(decoder.consumed());
        match error {
            Some(error) => break Err(error),
            None if rest.is_empty() => break decoder.finish(),
            None => {}
        }
    };
    Drained {
        frames,
        consumed,
        end,
    }
}

pub(crate) fn correct_checksums(stream: &mut [u8]) {
    let mut rest = stream;
    while let Some((header, behind)) = rest.split_at_mut_checked(HEADER_BYTES) {
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let Some((payload, behind)) = behind.split_at_mut_checked(length as usize) else {
            return;
        };
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&header[..8]), payload);
        header[8..12].copy_from_slice(&checksum.to_le_bytes());
        rest = behind;
    }
}

pub(crate) fn frame_seeds() -> Vec<Vec<u8>> {
    let mut stream = samples().concat();
    let mut seeds = vec![[&[1], &stream[..]].concat(), [&[32], &stream[..]].concat()];
    frame::encode(Kind::Cancel, &[], &mut stream).expect("the frame is short");
    seeds.push([&[7], &stream[stream.len() - 16..]].concat());
    seeds
}

/// Encoding and decoding again must give the same message.
///
/// The first input byte selects the message type.
pub(crate) fn messages(data: &[u8]) {
    let Some((kind, payload)) = data.split_first() else {
        return;
    };
    match kind % 15 {
        0 => check(payload, Hello::decode, Hello::encode),
        1 => check(payload, Search::decode, Search::encode),
        2 => check(payload, Progress::decode, Progress::encode),
        3 => check(payload, Skip::decode, Skip::encode),
        4 => check(payload, End::decode, End::encode),
        5 => check(payload, Failure::decode, Failure::encode),
        6 => check(payload, FileRequest::decode, FileRequest::encode),
        7 => check(payload, FileReply::decode, FileReply::encode),
        8 => check(payload, SpoolManifest::decode, SpoolManifest::encode),
        9 => check(payload, ListRequest::decode, ListRequest::encode),
        10 => check(payload, ListReply::decode, ListReply::encode),
        11 => check(payload, LookupRequest::decode, LookupRequest::encode),
        12 => check(payload, LookupReply::decode, LookupReply::encode),
        13 => check(payload, OwnedBatch::decode, OwnedBatch::encode),
        _ => check(payload, OwnedText::decode, OwnedText::encode),
    }
}

fn check<T>(
    payload: &[u8],
    decode: impl Fn(&[u8]) -> Result<T, MessageError>,
    encode: impl Fn(&T, &mut Vec<u8>) -> Result<(), MessageError>,
) {
    let again = |payload: &[u8]| {
        let message = decode(aligned(payload).as_bytes())?;
        let mut frame = Vec::new();
        encode(&message, &mut frame).map(|()| frame)
    };
    // Overlapping parts may make a message too long for a frame.
    if let Ok(frame) = again(payload) {
        let same = again(&frame[HEADER_BYTES..]).expect("an encoded message decodes");
        // Compares bytes, because ranks may be NaN.
        assert_eq!(same, frame);
    }
}

/// Words aligned as in a decoder's buffer.
fn aligned(payload: &[u8]) -> Vec<u64> {
    let (words, _) = payload.as_chunks::<8>();
    words.iter().copied().map(u64::from_ne_bytes).collect()
}

struct OwnedBatch {
    document: (u32, u32),
    names: [Vec<u8>; 3],
    language: String,
    kind: DocumentKind,
    text: Vec<u8>,
    lines: Vec<Line>,
    ranges: Vec<Range>,
    windows: Vec<Window>,
    revisions: Vec<String>,
    revision_count: u32,
    commit: String,
    kinds: Vec<u32>,
    change: Option<CommitChange>,
    changed_lines: Vec<u32>,
}

impl OwnedBatch {
    fn decode(payload: &[u8]) -> Result<OwnedBatch, MessageError> {
        let reader = BatchReader::new(payload)?;
        let view = reader.view()?;
        let mut batch = OwnedBatch {
            document: (view.shard, view.document),
            names: [view.package, view.path, view.hash].map(<[u8]>::to_vec),
            language: view.language.to_owned(),
            kind: view.kind,
            text: Vec::new(),
            lines: Vec::new(),
            ranges: Vec::new(),
            windows: Vec::new(),
            revisions: view.revisions().map(str::to_owned).collect(),
            revision_count: view.revision_count,
            commit: view.commit.to_owned(),
            kinds: view.lines().map(|line| line.kinds).collect(),
            change: view.change(),
            changed_lines: (view.lines())
                .filter_map(|line| line.changed.map(ChangedLine::encoded))
                .collect(),
        };
        assert_eq!(view.lines().len(), view.lines().count());
        view.lines().for_each(|line| batch.push(&line));
        Ok(batch)
    }

    fn push(&mut self, line: &LineView<'_>) {
        let first = self.ranges.len();
        for range in line.ranges() {
            assert!(range.start <= range.end && range.end as usize <= line.text.len());
            self.ranges.push(range);
        }
        let ranges = self.ranges.len() - first;
        assert_eq!(line.is_match(), ranges > 0);
        if line.line_bytes != line.text.len() as u64 {
            assert!(line.start + line.text.len() as u64 <= line.line_bytes);
            self.windows.push(Window {
                line: self.lines.len() as u32,
                start: line.start,
                line_bytes: line.line_bytes,
            });
        }
        self.text.extend_from_slice(line.text);
        self.lines.push(Line {
            number: line.number,
            rank: line.rank,
            offset: line.offset,
            text_bytes: line.text.len() as u32,
            ranges: ranges as u32,
        });
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), MessageError> {
        let [package, path, hash] = &self.names;
        let revisions: Vec<_> = self.revisions.iter().map(String::as_str).collect();
        let batch = Batch {
            shard: self.document.0,
            document: self.document.1,
            package,
            path,
            language: &self.language,
            kind: self.kind,
            hash,
            text: &self.text,
            lines: &self.lines,
            ranges: &self.ranges,
            windows: &self.windows,
            spans: &[],
            revisions: &revisions,
            revision_count: self.revision_count,
            commit: &self.commit,
            kinds: &self.kinds,
            change: self.change.as_ref(),
            changed_lines: &self.changed_lines,
        };
        batch.encode(out)
    }
}

struct OwnedText {
    document: (u32, u32),
    names: [Vec<u8>; 3],
    is_revision: bool,
    numbers: Vec<u32>,
    runs: Vec<TextRun>,
    text: Vec<u8>,
}

impl OwnedText {
    fn decode(payload: &[u8]) -> Result<OwnedText, MessageError> {
        let reader = TextReader::new(payload)?;
        let view = reader.view()?;
        let text = OwnedText {
            document: (view.shard, view.document),
            names: [view.package, view.path, view.hash].map(<[u8]>::to_vec),
            is_revision: view.is_revision,
            numbers: view.numbers().collect(),
            runs: view.runs().collect(),
            text: view.text.to_vec(),
        };
        let lines: u64 = text.runs.iter().map(|run| u64::from(run.lines)).sum();
        assert_eq!(lines, text.numbers.len() as u64);
        let ends = (text.numbers.first().copied()).zip(text.numbers.last().copied());
        assert_eq!(view.first_and_last(), ends);
        Ok(text)
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), MessageError> {
        let [package, path, hash] = &self.names;
        let batch = TextBatch {
            shard: self.document.0,
            document: self.document.1,
            package,
            path,
            hash,
            is_revision: self.is_revision,
            numbers: &self.numbers,
            runs: &self.runs,
            text: TextParts {
                buffer: &self.text,
                parts: &[(0, self.text.len() as u32)],
            },
        };
        batch.encode(out)
    }
}

pub(crate) fn message_seeds() -> Vec<Vec<u8>> {
    let frames = samples().into_iter().zip(0..);
    frames
        .map(|(frame, kind)| [&[kind], &frame[HEADER_BYTES..]].concat())
        .collect()
}
