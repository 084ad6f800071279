//! Text of a match with a truncated line: the whole line is fetched from a backend in pieces.

use super::PIECE_BYTES;
use crate::problem::Problem;
use bytes::{Buf, Bytes};
use frontend::{Coordinator, Document, Match, Scope};
use schema::message::{FileRange, FileRequest};
use std::sync::Arc;

const FETCHED_BYTES: u64 = PIECE_BYTES as u64;

/// Rest of a match, after its first name and number.
pub(crate) struct LongLine {
    document: Arc<Document>,
    number: u32,
    fetched: Bytes,
    /// Next offset, and the end of the match.
    at: u64,
    end: u64,
}

impl LongLine {
    /// Appends a match as text. If its line is truncated, appends the prefix and returns the rest.
    pub(crate) fn begin(found: &Match, out: &mut Vec<u8>) -> Option<LongLine> {
        // A match in a name has the whole name.
        let Some(window) = found.window.filter(|_| found.line > 0) else {
            found.write_text(out);
            return None;
        };
        let line = LongLine {
            document: Arc::clone(&found.document),
            number: found.line,
            fetched: Bytes::new(),
            at: found.offset,
            end: found.offset.saturating_add(window.line_bytes),
        };
        line.name(out);
        Some(line)
    }

    fn name(&self, out: &mut Vec<u8>) {
        let Document { package, path, .. } = &*self.document;
        let number = format!(":{}:", self.number);
        for part in [&package[..], b"/", path, number.as_bytes()] {
            out.extend_from_slice(part);
        }
    }

    /// At most [`PIECE_BYTES`] and a name. `None` at the end.
    pub(crate) async fn piece(
        &mut self,
        coordinator: &Coordinator,
        scope: &Scope,
    ) -> Result<Option<Vec<u8>>, Problem> {
        if self.fetched.is_empty() {
            if self.at == self.end {
                return Ok(None);
            }
            self.fetched = self.fetch(coordinator, scope).await?;
            self.at += self.fetched.len() as u64;
        }
        let mut out = Vec::new();
        while !self.fetched.is_empty() && out.len() < PIECE_BYTES {
            let room = self.fetched.len().min(PIECE_BYTES - out.len());
            match memchr::memchr(b'\n', &self.fetched[..room]) {
                None => {
                    out.extend_from_slice(&self.fetched[..room]);
                    self.fetched.advance(room);
                }
                Some(end) => {
                    out.extend_from_slice(&self.fetched[..=end]);
                    self.fetched.advance(end + 1);
                    self.number += 1;
                    self.name(&mut out);
                }
            }
        }
        if self.fetched.is_empty() && self.at == self.end {
            out.push(b'\n');
        }
        Ok(Some(out))
    }

    /// At least one byte.
    async fn fetch(&self, coordinator: &Coordinator, scope: &Scope) -> Result<Bytes, Problem> {
        let document = &self.document;
        let count = FETCHED_BYTES.min(self.end - self.at);
        let offset = self.at;
        let range = FileRange::Bytes { offset, count };
        let commit = &document.revisions.commit;
        let request = FileRequest::new(&document.package, &document.path, commit, range);
        let reply = coordinator.file(scope, &request).await?;
        let is_same = reply.found && reply.hash == document.hash && reply.offset == self.at;
        let mut text = reply.text;
        text.truncate(count as usize);
        if !is_same || text.is_empty() {
            let names = [&document.package, &document.path];
            let [package, path] = names.map(|name| String::from_utf8_lossy(name));
            let detail = format!("{package}/{path}: the index changed during the search");
            return Err(Problem::unavailable(detail).hint("search again"));
        }
        Ok(text.into())
    }
}
