//! What comes over a connection: frames, and the messages in them.

use schema::frame::{self, Decoder, HEADER_BYTES, Kind};
use schema::message::{
    Batch, BatchReader, End, Expr, Failure, FailureKind, Field, FileRange, FileReply, FileRequest,
    Filter, Hello, Line, LineView, ListEntry, ListKind, ListReply, ListRequest, MessageError,
    PROTOCOL, Pattern, Progress, Range, Reading, Search, ShardEnd, ShardInfo, Skip, SpoolManifest,
    Syntax, Want, Window,
};
use zerocopy::IntoBytes;

/// A stream, behind a byte that says in what pieces it comes, and whether its checksums are made good.
pub(super) fn frames(data: &[u8]) {
    let Some((&how, stream)) = data.split_first() else {
        return;
    };
    let mut stream = stream.to_vec();
    if how % 2 == 1 {
        make_good(&mut stream);
    }
    let at_once = drain(&stream, stream.len());
    assert_eq!(drain(&stream, usize::from(how / 2) + 1), at_once);
    let mut again = Vec::new();
    for (kind, payload) in &at_once.frames {
        frame::encode(*kind, payload, &mut again).expect("it came in a frame");
    }
    assert_eq!(again, at_once.walked);
    assert!(stream.starts_with(&again));
    assert_eq!(at_once.end.is_ok(), again == stream);
}

/// What a decoder made of a stream.
#[derive(Debug, PartialEq)]
struct Drained {
    frames: Vec<(Kind, Vec<u8>)>,
    walked: Vec<u8>,
    end: Result<(), frame::FrameError>,
}

/// Feeds a stream to a decoder in pieces, as far as there is space for them.
fn drain(stream: &[u8], piece: usize) -> Drained {
    let mut decoder = Decoder::new();
    let (mut frames, mut walked) = (Vec::new(), Vec::new());
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
        walked.extend_from_slice(decoder.consumed());
        match error {
            Some(error) => break Err(error),
            None if rest.is_empty() => break decoder.finish(),
            None => {}
        }
    };
    Drained {
        frames,
        walked,
        end,
    }
}

/// Gives every frame of a stream the checksum that it should have.
pub(super) fn make_good(stream: &mut [u8]) {
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

pub(super) fn frame_seeds() -> Vec<Vec<u8>> {
    let mut stream = samples().concat();
    let mut seeds = vec![[&[1], &stream[..]].concat(), [&[32], &stream[..]].concat()];
    frame::encode(Kind::Cancel, &[], &mut stream).expect("it is short");
    seeds.push([&[7], &stream[stream.len() - 16..]].concat());
    seeds
}

/// A payload, behind a byte that says of what message it is: what is decoded, encodes; and what
/// that gives, decodes to the same.
pub(super) fn messages(data: &[u8]) {
    let Some((kind, payload)) = data.split_first() else {
        return;
    };
    match kind % 12 {
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
        _ => check(payload, OwnedBatch::decode, OwnedBatch::encode),
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
    // Of a payload whose parts overlap more can come than fits into a frame.
    if let Ok(frame) = again(payload) {
        let same = again(&frame[HEADER_BYTES..]).expect("it was encoded");
        // As bytes: a rank that is no number is not equal to itself.
        assert_eq!(same, frame);
    }
}

/// Whole words of a payload, aligned as a decoder has them.
fn aligned(payload: &[u8]) -> Vec<u64> {
    let words = payload.chunks_exact(8);
    words
        .map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes")))
        .collect()
}

/// A batch as its view shows it.
struct OwnedBatch {
    document: (u32, u32),
    names: [Vec<u8>; 3],
    language: String,
    text: Vec<u8>,
    lines: Vec<Line>,
    ranges: Vec<Range>,
    windows: Vec<Window>,
}

impl OwnedBatch {
    fn decode(payload: &[u8]) -> Result<OwnedBatch, MessageError> {
        let reader = BatchReader::new(payload)?;
        let view = reader.view()?;
        let mut batch = OwnedBatch {
            document: (view.shard, view.document),
            names: [view.package, view.path, view.hash].map(<[u8]>::to_vec),
            language: view.language.to_owned(),
            text: Vec::new(),
            lines: Vec::new(),
            ranges: Vec::new(),
            windows: Vec::new(),
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
        let batch = Batch {
            shard: self.document.0,
            document: self.document.1,
            package,
            path,
            language: &self.language,
            hash,
            text: &self.text,
            lines: &self.lines,
            ranges: &self.ranges,
            windows: &self.windows,
            spans: &[],
        };
        batch.encode(out)
    }
}

pub(super) fn message_seeds() -> Vec<Vec<u8>> {
    let frames = samples().into_iter().zip(0..);
    frames
        .map(|(frame, kind)| [&[kind], &frame[HEADER_BYTES..]].concat())
        .collect()
}

/// Two patterns, one filter, and all ways to join them.
fn expr() -> Expr {
    let pattern = Expr::Pattern(Pattern {
        text: "nee*dle".to_owned(),
        syntax: Syntax::Regexp,
        ignore_case: true,
        ..Pattern::default()
    });
    let filter = Expr::Filter(Filter {
        field: Field::Path,
        reading: Reading::Regexp,
        text: "^vendor/".to_owned(),
    });
    let line = Expr::Line(Box::new(pattern.clone()));
    Expr::all([Expr::any([pattern, line]), filter.negated()])
}

/// A frame of every message, in the order of [`messages`].
pub(super) fn samples() -> Vec<Vec<u8>> {
    let frame = |encode: &dyn Fn(&mut Vec<u8>) -> Result<(), MessageError>| {
        let mut frame = Vec::new();
        encode(&mut frame).expect("it is short");
        frame
    };
    let (package, path) = (b"p_1".to_vec(), b"a/b.c".to_vec());
    let search = Search {
        expr: expr(),
        context_lines: 2,
        shards: vec![[1; 32], [2; 32]],
        want: Want::Documents,
        limit: 100,
        deadline_ms: 3000,
        heavy: true,
        names: true,
    };
    let progress = Progress {
        blocks_done: 1,
        blocks_total: 2,
        documents: 3,
        matches: 4,
        bound: 1.5,
    };
    let skip = skip();
    let failure = Failure {
        kind: FailureKind::BadQuery,
        message: "unclosed group".to_owned(),
        offset: Some(3),
        atom: Some(0),
        hint: "did you mean C?".to_owned(),
        cost: 5,
    };
    let request = FileRequest {
        package: package.clone(),
        path: path.clone(),
        range: FileRange::Lines { first: 3, count: 9 },
    };
    let reply = FileReply {
        found: true,
        offset: 4,
        first_line: 2,
        text: b"int needle;\n".to_vec(),
        total_lines: 3,
        total_bytes: 20,
        language: "C".to_owned(),
        hash: vec![5; 32],
    };
    let list = ListRequest {
        kind: ListKind::Children,
        package: package.clone(),
        prefix: b"src/".to_vec(),
        after: path.clone(),
        count: 100,
    };
    let entry = ListEntry {
        package: package.clone(),
        path: path.clone(),
        documents: 1,
        language: "C".to_owned(),
        hash: vec![5; 32],
        reason: "ignored".to_owned(),
        ..ListEntry::default()
    };
    let listed = ListReply {
        entries: vec![entry],
        more: true,
    };
    let manifest = SpoolManifest {
        generation: "0123456789abcdef".to_owned(),
        search: search.clone(),
        frame_bytes: vec![8, 0, 1 << 40],
        pointers: 2,
        plan: "all".to_owned(),
        skipped: vec![skip.clone()],
        skipped_count: 1,
        finished: 1 << 30,
        order_bytes: vec![64, 0, 96],
        ..SpoolManifest::default()
    };
    vec![
        frame(&|out| hello().encode(out)),
        frame(&|out| search.encode(out)),
        frame(&|out| progress.encode(out)),
        frame(&|out| skip.encode(out)),
        frame(&|out| end().encode(out)),
        frame(&|out| failure.encode(out)),
        frame(&|out| request.encode(out)),
        frame(&|out| reply.encode(out)),
        frame(&|out| manifest.encode(out)),
        frame(&|out| list.encode(out)),
        frame(&|out| listed.encode(out)),
        frame(&|out| batch(out)),
    ]
}

/// What a backend of one shard says first.
pub(super) fn hello() -> Hello {
    let shard = ShardInfo {
        id: [1; 32],
        packages: 1,
        documents: 10,
        blocks: 100,
        text_bytes: 400_000,
    };
    Hello {
        protocol: PROTOCOL,
        shards: vec![shard],
        updated: 0,
    }
}

/// Two matches, one of them in a line of which a part is sent, and a line of context.
pub(super) fn batch(out: &mut Vec<u8>) -> Result<(), MessageError> {
    let line = |number, rank, text_bytes, ranges| Line {
        number,
        rank,
        offset: u64::from(number) * 10,
        text_bytes,
        ranges,
    };
    let batch = Batch {
        shard: 0,
        document: 7,
        package: b"p_1",
        path: b"a/b.c",
        language: "C",
        hash: &[8; 32],
        text: b"int needle;// <b>needleneedle",
        lines: &[
            line(3, 1.5, 11, 1),
            line(4, 0.0, 6, 0),
            line(9, 1.25, 12, 2),
        ],
        ranges: &[
            Range { start: 4, end: 10 },
            Range { start: 0, end: 6 },
            Range { start: 6, end: 12 },
        ],
        windows: &[Window {
            line: 2,
            start: 500,
            line_bytes: 9000,
        }],
        spans: &[],
    };
    batch.encode(out)
}

/// A document that was given up.
pub(super) fn skip() -> Skip {
    Skip {
        shard: 0,
        document: 2,
        package: b"p_1".to_vec(),
        path: b"a/b.c".to_vec(),
        reason: "too slow".to_owned(),
    }
}

/// The END of a search that gave [`batch`] and [`skip`].
pub(super) fn end() -> End {
    let hash = ShardEnd::key_hash(ShardEnd::key_hash(0, 7, 3), 7, 9);
    let shard = ShardEnd {
        shard: 0,
        matches: 2,
        found: 2,
        documents: 10,
        matched_documents: 1,
        blocks: 100,
        candidates: 2,
        matched_blocks: 1,
        verified_bytes: 8000,
        hash,
        skipped: 1,
        failure: String::new(),
    };
    End {
        shards: vec![shard],
        plan: "\"nee\" \"dle\"".to_owned(),
        ..End::default()
    }
}
