//! Answers FILE from the repository: unindexed revisions, and original bytes.
//!
//! Text of an unindexed revision is decoded as by the index, without files that it would leave out.
//! Original bytes are sent unchanged.
//!
//! **Invariant:** memory holds at most [`READS_MAX`] files of [`ORIGINAL_BYTES_MAX`] bytes, and
//! [`KEPT_BYTES_MAX`] of partly sent files.

use super::definitions;
use super::file::{self, REPLY_BYTES_MAX, skip_lines};
use super::visible;
use crate::live::{Generation, LiveShards};
use crate::lookup::git_repositories::read_first;
use crate::lookup::{LookUp, WantedFile};
use git::Blob;
use index::corpus::{ReadOutcome, TextEncoding, read_bytes};
use index::shard::ShardError;
use language::Language;
use language::symbols::Symbols;
use schema::message::{Failure, FileRange, FileReply, FileRequest, FileSource};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// A page shows far less.
const TEXT_BYTES_MAX: u64 = 16 << 20;

const ORIGINAL_BYTES_MAX: u64 = 32 << 20;

/// Concurrent reads; others wait.
const READS_MAX: usize = 4;

/// Partly sent files: parts of half a megabyte need no new reads.
const KEPT_BYTES_MAX: usize = 64 << 20;

pub(super) struct ObjectFiles {
    /// Latest last.
    kept: Mutex<VecDeque<Arc<Original>>>,
    permits: Semaphore,
}

struct Original {
    package: Vec<u8>,
    commit: String,
    path: Vec<u8>,
    bytes: Vec<u8>,
    hash: [u8; 32],
}

impl Original {
    fn is(&self, request: &FileRequest) -> bool {
        self.commit == request.revision
            && self.path == request.path
            && self.package == request.package
    }
}

impl Default for ObjectFiles {
    fn default() -> ObjectFiles {
        ObjectFiles {
            kept: Mutex::default(),
            permits: Semaphore::new(READS_MAX),
        }
    }
}

impl ObjectFiles {
    pub(super) fn read(
        &self,
        live: &LiveShards,
        given: Option<&dyn LookUp>,
        request: &FileRequest,
    ) -> Result<FileReply, Failure> {
        let only_text = request.source == FileSource::Text && request.revision.is_empty();
        let reads = |package: &[u8]| !only_text && package == request.package;
        let generation = visible::generation(live, request.visible.as_deref(), reads)?;
        let reply = self.answer(&generation, given, request);
        reply.map_err(visible::unavailable)
    }

    /// Uses index and repositories in the order of the request's source. Blocks.
    fn answer(
        &self,
        generation: &Generation,
        given: Option<&dyn LookUp>,
        request: &FileRequest,
    ) -> Result<FileReply, ShardError> {
        // Only repositories of the generation are visible.
        if request.visible.is_some() && generation.recorded.repository(&request.package).is_none() {
            return file::read(generation, request);
        }
        let read = |bytes_max| {
            let permit = Handle::current().block_on(self.permits.acquire());
            let _permit = permit.expect("never closed");
            read_file(generation, given, request, bytes_max)
        };
        if request.source == FileSource::Original {
            let original = self.original(read, request);
            if original.found {
                return Ok(original);
            }
            let reason = original.reason;
            let indexed = file::read(generation, request)?;
            return Ok(FileReply { reason, ..indexed });
        }
        let indexed = file::read(generation, request)?;
        if indexed.found {
            return Ok(indexed);
        }
        let reply = match request.source {
            FileSource::TextOrOriginal => self.original(read, request),
            _ if request.revision.is_empty() => FileReply::default(),
            _ => text(read(TEXT_BYTES_MAX), request),
        };
        Ok(FileReply {
            newest: indexed.newest,
            ..reply
        })
    }

    /// Calls `read` with the largest size, unless the file is kept.
    fn original(
        &self,
        read: impl Fn(u64) -> Option<(String, Blob)>,
        request: &FileRequest,
    ) -> FileReply {
        if let Some(kept) = self.take_kept(request) {
            return self.part_of(kept, request);
        }
        match read(ORIGINAL_BYTES_MAX) {
            Some((commit, Blob::Content(bytes))) => {
                let hash = *blake3::hash(&bytes).as_bytes();
                let original = Original {
                    package: request.package.clone(),
                    path: request.path.clone(),
                    commit,
                    bytes,
                    hash,
                };
                self.part_of(Arc::new(original), request)
            }
            Some((_, Blob::TooLarge(bytes))) => FileReply {
                reason: format!(
                    "it has {bytes} bytes, and files of more than {ORIGINAL_BYTES_MAX} are not read from repositories"
                ),
                ..FileReply::default()
            },
            None => FileReply::default(),
        }
    }

    /// Range of a file; keeps the file if more follows.
    fn part_of(&self, original: Arc<Original>, request: &FileRequest) -> FileReply {
        let (start, end) = match request.range {
            FileRange::Bytes { offset, count } => byte_range(original.bytes.len(), offset, count),
            // Bytes have no lines.
            FileRange::Lines { .. } => (0, 0),
        };
        let end = end.min(start + REPLY_BYTES_MAX as usize);
        let reply = FileReply {
            hash: original.hash.to_vec(),
            original: true,
            ..part_reply(original.commit.clone(), &original.bytes, start..end)
        };
        if end < original.bytes.len() && original.bytes.len() > REPLY_BYTES_MAX as usize {
            self.keep(original);
        }
        reply
    }

    fn take_kept(&self, request: &FileRequest) -> Option<Arc<Original>> {
        let mut kept = self.lock_kept();
        let at = kept.iter().position(|original| original.is(request))?;
        kept.remove(at)
    }

    fn keep(&self, original: Arc<Original>) {
        let mut kept = self.lock_kept();
        kept.push_back(original);
        let mut bytes: usize = kept.iter().map(|it| it.bytes.len()).sum();
        while bytes > KEPT_BYTES_MAX {
            let oldest = kept.pop_front();
            bytes -= oldest.map_or(bytes, |it| it.bytes.len());
        }
    }

    fn lock_kept(&self) -> MutexGuard<'_, VecDeque<Arc<Original>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_file(
    generation: &Generation,
    given: Option<&dyn LookUp>,
    request: &FileRequest,
    bytes_max: u64,
) -> Option<(String, Blob)> {
    let recorded = generation.recorded.repository(&request.package);
    let is_any_repository = request.source == FileSource::Original;
    if recorded.is_none() && !is_any_repository {
        return None;
    }
    let indexed = recorded.and_then(|it| it.revision(&it.default));
    let revision = match &request.revision[..] {
        "" if !is_any_repository => &indexed?.commit.id,
        revision => revision,
    };
    // Names of repositories are text.
    str::from_utf8(&request.package).ok()?;
    read_first(given, &request.package, recorded, |it, repository| {
        it.file(&WantedFile {
            repository,
            revision,
            path: &request.path,
            bytes_max,
        })
    })
}

/// `None` if it is not text.
fn text(read: Option<(String, Blob)>, request: &FileRequest) -> FileReply {
    let Some((commit, Blob::Content(bytes))) = read else {
        return FileReply::default();
    };
    let mut text = Vec::with_capacity(bytes.len());
    match read_bytes(&bytes, &mut text) {
        Ok(ReadOutcome::Text { encoding, .. }) => FileReply {
            decoded_from: encoding.map_or("", TextEncoding::name).to_owned(),
            ..part(commit, &text, request)
        },
        _ => FileReply::default(),
    }
}

fn byte_range(bytes: usize, offset: u64, count: u64) -> (usize, usize) {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    (start, start.saturating_add(count).min(bytes))
}

fn part(commit: String, text: &[u8], request: &FileRequest) -> FileReply {
    let lines = memchr::memchr_iter(b'\n', text).count();
    let total_lines = lines + usize::from(text.last().is_some_and(|&last| last != b'\n'));
    let (start, end) = match request.range {
        FileRange::Lines { first, count } => {
            let start = skip_lines(text, first.max(1) - 1);
            (start, start + skip_lines(&text[start..], count))
        }
        FileRange::Bytes { offset, count } => byte_range(text.len(), offset, count),
    };
    let end = end.min(start + REPLY_BYTES_MAX as usize);
    let before = memchr::memchr_iter(b'\n', &text[..start]).count();
    let language = Language::of(&request.path, text);
    let mut reply = FileReply {
        first_line: u32::try_from(before + 1).unwrap_or(u32::MAX),
        total_lines: u32::try_from(total_lines).unwrap_or(u32::MAX),
        language: language.map_or("", |language| language.name).into(),
        hash: blake3::hash(text).as_bytes().to_vec(),
        ..part_reply(commit, text, start..end)
    };
    if request.definitions {
        let symbols = Symbols::of(language, text);
        definitions::add(&mut reply, text, &symbols, &request.inside);
    }
    reply
}

fn part_reply(commit: String, bytes: &[u8], part: Range<usize>) -> FileReply {
    FileReply {
        found: true,
        offset: part.start as u64,
        text: bytes[part].to_vec(),
        total_bytes: bytes.len() as u64,
        commit,
        from_objects: true,
        lfs_pointer: file::lfs_pointer(bytes),
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
                source: FileSource::Text,
                visible: None,
                definitions: false,
                inside: Vec::new(),
                symbol_line: 0,
                symbol_column: 0,
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

    struct Counting(std::sync::atomic::AtomicUsize, usize);

    impl LookUp for Counting {
        fn look_up(&self, _: &schema::message::Lookup) -> schema::message::LookupAnswer {
            unreachable!("only files are read")
        }

        fn file(&self, wanted: &WantedFile<'_>) -> Option<(String, Blob)> {
            self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            if self.1 as u64 > wanted.bytes_max {
                let bytes = self.1 as u64;
                return Some((String::new(), Blob::TooLarge(bytes)));
            }
            let bytes = (0..self.1).map(|at| at as u8).collect();
            Some(("c".repeat(40), Blob::Content(bytes)))
        }
    }

    #[tokio::test]
    async fn a_large_file_that_is_sent_in_parts_is_read_once() {
        let read = |bytes: usize| {
            tokio::task::spawn_blocking(move || {
                let generation = Generation {
                    shards: Vec::new(),
                    updated: 0,
                    precise: None,
                    recorded: Arc::default(),
                };
                let (files, repository) = (ObjectFiles::default(), Counting(0.into(), bytes));
                let ask = |revision: &str, offset| {
                    let request = FileRequest {
                        package: b"p".to_vec(),
                        path: b"a".to_vec(),
                        range: FileRange::Bytes {
                            offset,
                            count: u64::MAX,
                        },
                        revision: revision.to_owned(),
                        source: FileSource::Original,
                        visible: None,
                        definitions: false,
                        inside: Vec::new(),
                        symbol_line: 0,
                        symbol_column: 0,
                    };
                    files
                        .answer(&generation, Some(&repository), &request)
                        .unwrap()
                };
                let mut reply = ask("main", 0);
                let reason = reply.reason.clone();
                let mut taken = Vec::new();
                while reply.found && !reply.text.is_empty() {
                    taken.extend(reply.text);
                    reply = ask(&reply.commit, taken.len() as u64);
                }
                let reads = repository.0.load(std::sync::atomic::Ordering::SeqCst);
                let kept = files.lock_kept().len();
                (taken.len(), reads, kept, reason)
            })
        };
        let bytes = 3 * REPLY_BYTES_MAX as usize + 5;
        // The last request, past the end, reads again.
        let (taken, reads, kept, _) = read(bytes).await.unwrap();
        assert_eq!((taken, reads, kept), (bytes, 2, 0));
        let (taken, _, _, reason) = read(ORIGINAL_BYTES_MAX as usize + 1).await.unwrap();
        assert_eq!(taken, 0);
        assert!(
            reason.contains("are not read from repositories"),
            "{reason}"
        );
    }
}
