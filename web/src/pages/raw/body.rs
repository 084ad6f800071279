//! Bytes of a raw file, read from a backend in pieces as the client takes them. A file of several
//! pieces counts as an export.
//!
//! **Invariant:** a client holds one piece at a time, and all pieces are of one file: if it
//! changes, the transfer is aborted.

use super::ranges;
use crate::http::stream_body::Export;
use crate::problem::Problem;
use crate::state::App;
use access::Viewer;
use axum::body::Body;
use axum::http::HeaderValue;
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use schema::message::{FileRange, FileReply, FileRequest};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;

/// Bytes of a request to a backend, which may send fewer.
pub(super) const PIECE_BYTES: u64 = 512 << 10;

enum Segment {
    Bytes(Bytes),
    /// Not read yet.
    File(Range<u64>),
}

pub(super) struct FileBody {
    app: App,
    /// Rechecked before each piece.
    viewer: Viewer,
    /// Names the first commit that was read.
    request: FileRequest,
    hash: Vec<u8>,
    total: u64,
    head: Bytes,
    segments: VecDeque<Segment>,
    /// For several pieces.
    export: Option<Export>,
}

impl FileBody {
    /// `reply` begins at the start of the file.
    pub(super) fn new(
        (app, viewer): (App, Viewer),
        mut request: FileRequest,
        reply: FileReply,
    ) -> FileBody {
        if !reply.commit.is_empty() {
            request.revision = reply.commit;
        }
        FileBody {
            app,
            viewer,
            request,
            hash: reply.hash,
            total: reply.total_bytes,
            head: reply.text.into(),
            segments: VecDeque::new(),
            export: None,
        }
    }

    pub(super) fn range(mut self, range: Range<u64>) -> FileBody {
        let head_bytes = self.head.len() as u64;
        let in_head = range.start.min(head_bytes) as usize..range.end.min(head_bytes) as usize;
        if !in_head.is_empty() {
            self.segments
                .push_back(Segment::Bytes(self.head.slice(in_head)));
        }
        let rest = range.start.max(head_bytes)..range.end;
        if !rest.is_empty() {
            self.segments.push_back(Segment::File(rest));
        }
        self
    }

    /// Adds ranges, each with its own headers.
    pub(super) fn multipart(mut self, ranges: &[Range<u64>], media_type: &HeaderValue) -> FileBody {
        let boundary = self.boundary();
        let media_type = media_type.to_str().expect("one of ours");
        for range in ranges {
            let content_range = ranges::content_range(range, self.total);
            let content_range = content_range.to_str().expect("digits are ASCII");
            let head = format!(
                "\r\n--{boundary}\r\nContent-Type: {media_type}\r\nContent-Range: {content_range}\r\n\r\n"
            );
            self.segments.push_back(Segment::Bytes(head.into()));
            self = self.range(range.clone());
        }
        let end = format!("\r\n--{boundary}--\r\n");
        self.segments.push_back(Segment::Bytes(end.into()));
        self
    }

    pub(super) fn multipart_type(&self) -> HeaderValue {
        let text = format!("multipart/byteranges; boundary={}", self.boundary());
        HeaderValue::from_str(&text).expect("digits are ASCII")
    }

    /// Boundary of ranges: a hash of the file, which the file cannot contain.
    fn boundary(&self) -> String {
        let digits = self.hash.iter().take(20);
        digits.map(|byte| format!("{byte:02x}")).collect()
    }

    pub(super) fn bytes(&self) -> u64 {
        let bytes = |segment: &Segment| match segment {
            Segment::Bytes(bytes) => bytes.len() as u64,
            Segment::File(range) => range.end - range.start,
        };
        self.segments.iter().map(bytes).sum()
    }

    /// A short body is read at once, so that a failure is a problem with a status.
    pub(super) async fn send(mut self) -> Result<Body, Problem> {
        if self.bytes() > PIECE_BYTES {
            self.export = Some(self.app.exports.begin()?);
            return Ok(Body::from_stream(stream::try_unfold(self, Self::step)));
        }
        let mut whole = BytesMut::new();
        while let Some(piece) = self.next().await? {
            whole.extend_from_slice(&piece);
        }
        Ok(Body::from(whole.freeze()))
    }

    async fn step(mut self) -> io::Result<Option<(Bytes, FileBody)>> {
        let next = self.next().await;
        let next = next.map_err(|problem| io::Error::other(problem.to_string()))?;
        Ok(next.map(|piece| (piece, self)))
    }

    async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        let range = match self.segments.pop_front() {
            None => return Ok(None),
            Some(Segment::Bytes(bytes)) => return Ok(Some(bytes)),
            Some(Segment::File(range)) => range,
        };
        let request = FileRequest {
            range: FileRange::Bytes {
                offset: range.start,
                count: (range.end - range.start).min(PIECE_BYTES),
            },
            ..self.request.clone()
        };
        let scope = self.viewer.scope_of(&request.package).await?;
        let reply = self.app.coordinator.file(&scope, &request).await?;
        let taken = reply.text.len() as u64;
        let is_same = reply.found && reply.hash == self.hash && reply.offset == range.start;
        if !is_same || taken == 0 || taken > range.end - range.start {
            return Err(Problem::unavailable(
                "the file has changed while it was sent",
            ));
        }
        let rest = range.start + taken..range.end;
        if !rest.is_empty() {
            self.segments.push_front(Segment::File(rest));
        }
        Ok(Some(reply.text.into()))
    }
}
