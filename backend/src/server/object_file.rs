//! Answers FILE for a revision that is not indexed, from the repository itself.
//!
//! The bytes are decoded as by the index. A file that the index would leave out is not found. It is read whole for each
//! request, since links to old revisions are rare.

use super::file::{REPLY_BYTES_MAX, skip_lines};
use crate::live_shards::Generation;
use crate::repositories::LookUp;
use index::corpus::{ReadOutcome, read_bytes};
use index::document::language;
use schema::message::{FileRange, FileReply, FileRequest};

/// Reads the requested range from the first of the repositories that has the revision, if the index has not.
pub(super) fn or_from_objects(
    reply: FileReply,
    generation: &Generation,
    readers: &[&dyn LookUp],
    request: &FileRequest,
) -> FileReply {
    if reply.found || request.revision.is_empty() {
        return reply;
    }
    let Some(repository) = generation.recorded.repository(&request.package) else {
        return reply;
    };
    let mut readers = readers.iter();
    let found = readers.find_map(|it| it.file(repository, &request.revision, &request.path));
    let read = found.and_then(|(commit, bytes)| {
        let mut text = Vec::with_capacity(bytes.len());
        match read_bytes(&bytes, &mut text) {
            Ok(ReadOutcome::Text { .. }) => Some((commit, text)),
            _ => None,
        }
    });
    match read {
        Some((commit, text)) => part(commit, &text, request),
        None => reply,
    }
}

/// Returns the requested range of a text.
fn part(commit: String, text: &[u8], request: &FileRequest) -> FileReply {
    let lines = memchr::memchr_iter(b'\n', text).count();
    let total_lines = lines + usize::from(text.last().is_some_and(|&last| last != b'\n'));
    let (start, end) = match request.range {
        FileRange::Lines { first, count } => {
            let start = skip_lines(text, first.max(1) - 1);
            (start, start + skip_lines(&text[start..], count))
        }
        FileRange::Bytes { offset, count } => {
            let start = usize::try_from(offset)
                .unwrap_or(usize::MAX)
                .min(text.len());
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            (start, start.saturating_add(count).min(text.len()))
        }
    };
    let end = end.min(start + REPLY_BYTES_MAX as usize);
    let before = memchr::memchr_iter(b'\n', &text[..start]).count();
    FileReply {
        found: true,
        offset: start as u64,
        first_line: u32::try_from(before + 1).unwrap_or(u32::MAX),
        text: text[start..end].to_vec(),
        total_lines: u32::try_from(total_lines).unwrap_or(u32::MAX),
        total_bytes: text.len() as u64,
        language: language(&request.path).unwrap_or_default().to_owned(),
        hash: blake3::hash(text).as_bytes().to_vec(),
        commit,
        from_objects: true,
        ..FileReply::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_text_are_those_that_an_indexed_document_would_have() {
        let text = b"one\ntwo\nthree";
        let ask = |range| {
            let request = FileRequest {
                package: b"p".to_vec(),
                path: b"a.c".to_vec(),
                range,
                revision: "x".to_owned(),
                visible: Vec::new(),
            };
            let reply = part("12".to_owned(), text, &request);
            assert_eq!(
                (reply.total_lines, reply.total_bytes, &reply.language[..]),
                (3, 13, "C")
            );
            (
                reply.first_line,
                reply.offset,
                String::from_utf8(reply.text).unwrap(),
            )
        };
        let lines = |first, count| ask(FileRange::Lines { first, count });
        let bytes = |offset, count| ask(FileRange::Bytes { offset, count });
        assert_eq!(lines(2, 1), (2, 4, "two\n".to_owned()));
        assert_eq!(lines(0, 9), (1, 0, "one\ntwo\nthree".to_owned()));
        assert_eq!(lines(9, 1).2, "");
        assert_eq!(bytes(5, 4), (2, 5, "wo\nt".to_owned()));
        assert_eq!(bytes(u64::MAX, u64::MAX).2, "");
    }
}
