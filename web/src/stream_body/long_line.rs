//! A match that has only a part of its line, as text: the whole line is fetched from a backend, piece by piece.

use crate::problem::Problem;
use frontend::{Coordinator, Document, Match, Scope};
use schema::message::{FileRange, FileRequest, FileSource};
use std::sync::Arc;

/// Bytes that are fetched at once.
const FETCHED_BYTES: u64 = 256 << 10;

/// The rest of the text of a match, after its first name and number.
pub(crate) struct LongLine {
    document: Arc<Document>,
    /// The number of the line at `at`.
    number: u32,
    /// Where the next piece begins in the document, and where the match ends.
    at: u64,
    end: u64,
}

impl LongLine {
    /// Appends a match as text. If it has only a part of its line, appends what precedes the line, and returns the rest.
    pub(crate) fn begin(found: &Match, out: &mut Vec<u8>) -> Option<LongLine> {
        // The text of a match in a name is the name, which is never cut in the document.
        let Some(window) = found.window.filter(|_| found.line > 0) else {
            found.write_text(out);
            return None;
        };
        let line = LongLine {
            document: Arc::clone(&found.document),
            number: found.line,
            at: found.offset,
            end: found.offset.saturating_add(window.line_bytes),
        };
        line.name(out);
        Some(line)
    }

    /// Appends the name of the document, and the number of the line.
    fn name(&self, out: &mut Vec<u8>) {
        let Document { package, path, .. } = &*self.document;
        for part in [
            &package[..],
            b"/",
            path,
            format!(":{}:", self.number).as_bytes(),
        ] {
            out.extend_from_slice(part);
        }
    }

    /// Fetches the next piece; `None` after the last one.
    pub(crate) async fn piece(
        &mut self,
        coordinator: &Coordinator,
        scope: &Scope,
    ) -> Result<Option<Vec<u8>>, Problem> {
        let count = FETCHED_BYTES.min(self.end - self.at);
        if count == 0 {
            return Ok(None);
        }
        let document = &self.document;
        let request = FileRequest {
            package: document.package.clone(),
            path: document.path.clone(),
            range: FileRange::Bytes {
                offset: self.at,
                count,
            },
            revision: document.revisions.commit.clone(),
            source: FileSource::Text,
            visible: None,
        };
        let reply = coordinator.file(scope, &request).await?;
        let is_same = reply.found && reply.hash == document.hash && reply.offset == self.at;
        let bytes = &reply.text[..reply.text.len().min(count as usize)];
        if !is_same || bytes.is_empty() {
            let [package, path] =
                [&document.package, &document.path].map(|name| String::from_utf8_lossy(name));
            let detail =
                format!("{package}/{path}: the index changed during the export; try again");
            return Err(Problem::unavailable(detail));
        }
        let mut out = Vec::with_capacity(bytes.len() + 1);
        for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
            if index > 0 {
                out.push(b'\n');
                self.number += 1;
                self.name(&mut out);
            }
            out.extend_from_slice(line);
        }
        self.at += bytes.len() as u64;
        if self.at == self.end {
            out.push(b'\n');
        }
        Ok(Some(out))
    }
}
