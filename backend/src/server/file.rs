//! Answers FILE: reads a range of a document in its default or another revision.

use super::definitions;
use crate::live::Generation;
use crate::pack::RevisionNames;
use index::corpus::TextEncoding;
use index::shard::{BlockId, DocId, Document, Shard, ShardError, TextCache};
use schema::message::{FileRange, FileReply, FileRequest};
use std::ops::Range;

/// Clients request more in parts.
pub(super) const REPLY_BYTES_MAX: u64 = 512 << 10;

/// Largest pointer of Git LFS, by its specification.
const POINTER_BYTES_MAX: u64 = 1 << 10;

/// Reads a range. Without the document, names the newest revision with the path. A shard's error
/// counts only if no other has the document.
pub(super) fn read(
    generation: &Generation,
    request: &FileRequest,
) -> Result<FileReply, ShardError> {
    let found = find(generation, request)?;
    let Some(version) = found.best else {
        return Ok(FileReply {
            newest: (found.newest).map_or(String::new(), |(_, name)| name.to_owned()),
            ..FileReply::default()
        });
    };
    let mut reply = version.read(request)?;
    let precise = generation.precise.as_ref();
    if let Some(precise) = precise.filter(|_| request.symbol_line > 0) {
        let (line, column) = (request.symbol_line, request.symbol_column);
        let symbol = precise.symbol_at(&reply.hash, &request.package, line, column);
        let symbol = precise.intact(symbol.unwrap_or_default().to_vec());
        reply.symbol = symbol.unwrap_or_default();
    }
    Ok(reply)
}

pub(super) fn find<'g>(
    generation: &'g Generation,
    request: &FileRequest,
) -> Result<FoundVersions<'g>, ShardError> {
    let (mut result, mut found) = (Ok(()), FoundVersions::default());
    for shard in generation.files() {
        if let Err(error) = found.add(shard, request) {
            result = Err(error);
        }
    }
    match found.best {
        Some(_) => Ok(found),
        None => result.map(|()| found),
    }
}

#[derive(Default)]
pub(super) struct FoundVersions<'a> {
    pub(super) best: Option<FileVersion<'a>>,
    /// Commit time and short name, of a revision with the path.
    newest: Option<(i64, &'a str)>,
}

pub(super) struct FileVersion<'a> {
    shard: &'a Shard,
    document: DocId,
    /// Directness of the revision's name, 0 the most.
    named_by: u8,
    /// Of the requested revision.
    commit: &'a str,
}

impl<'a> FoundVersions<'a> {
    fn add(&mut self, shard: &'a Shard, request: &FileRequest) -> Result<(), ShardError> {
        let wanted = request.revision.as_bytes();
        let documents = shard.find_all(&request.package, &request.path)?;
        shard.intact()?;
        for document in documents {
            let mut version = |named_by, commit| {
                if (self.best.as_ref()).is_none_or(|best| named_by < best.named_by) {
                    self.best = Some(FileVersion {
                        shard,
                        document,
                        named_by,
                        commit,
                    });
                }
            };
            let is_default = (shard.revisions()).is_none_or(|of| of.is_default(document.0));
            if wanted.is_empty() && is_default {
                let first = shard.revisions_of(document).iter().next();
                version(0, first.map_or("", |first| first.commit));
            }
            for revision in shard.revisions_of(document).iter() {
                if let Some(named_by) = revision.named_by(wanted) {
                    version(named_by, revision.commit);
                }
                let age = (revision.committed, revision.text);
                self.newest = self.newest.max(Some(age));
            }
        }
        Ok(())
    }
}

impl FileVersion<'_> {
    pub(super) fn read(&self, request: &FileRequest) -> Result<FileReply, ShardError> {
        let shard = self.shard;
        let document = &shard.document(self.document)?;
        let whole = shard.text_range(document.blocks.clone())?;
        let total_bytes = whole.end - whole.start;
        let texts = TextCache::default();
        let (text_range, first_line) = match request.range {
            FileRange::Lines { first, count } => {
                lines((shard, &texts), document, &whole, first, count)?
            }
            FileRange::Bytes { offset, count } => {
                let start = whole.start.saturating_add(offset).min(whole.end);
                let end = start.saturating_add(count.min(REPLY_BYTES_MAX));
                let end = end.min(whole.end);
                (start..end, line_at((shard, &texts), document, start)?)
            }
        };
        let offset = text_range.start - whole.start;
        let text = shard.text(text_range, &texts)?.to_vec();
        let lfs_pointer = if total_bytes <= POINTER_BYTES_MAX {
            lfs_pointer(&shard.text(whole.clone(), &texts)?)
        } else {
            String::new()
        };
        let encoding = shard.decoded_from(self.document)?;
        let revisions = RevisionNames::of(shard, self.document).names;
        let mut reply = FileReply {
            found: true,
            offset,
            first_line,
            text,
            total_lines: document.lines,
            total_bytes,
            language: shard.language(document)?.into(),
            hash: document.hash.to_vec(),
            lfs_pointer,
            commit: self.commit.to_owned(),
            decoded_from: encoding.map_or("", TextEncoding::name).to_owned(),
            revisions: revisions.into_iter().map(str::to_owned).collect(),
            ..FileReply::default()
        };
        if request.definitions {
            let symbols = shard.symbols(document, true, &texts)?;
            // Without definitions the text is not read: it may be too long.
            let text = match symbols.definitions[..] {
                [] => Vec::new(),
                _ => shard.text(whole, &texts)?.to_vec(),
            };
            definitions::add(&mut reply, &text, &symbols, &request.inside);
        }
        shard.intact()?;
        Ok(reply)
    }
}

/// Id and size, or empty.
pub(super) fn lfs_pointer(text: &[u8]) -> String {
    let pointer = git::lfs_pointer(text);
    let pointer = pointer.filter(|(id, _)| id.bytes().all(|digit| digit.is_ascii_hexdigit()));
    pointer.map_or(String::new(), |(id, bytes)| format!("sha256:{id} {bytes}"))
}

/// Range of `count` lines from `first`, and its first line number.
fn lines(
    (shard, texts): (&Shard, &TextCache),
    document: &Document<'_>,
    whole: &Range<u64>,
    first: u32,
    count: u32,
) -> Result<(Range<u64>, u32), ShardError> {
    let first = first.max(1);
    if first > document.lines {
        return Ok((whole.end..whole.end, document.lines + 1));
    }
    let block = last_block(document, |block| Ok(shard.first_line(block)? <= first))?;
    let text = shard.text_range(block..block + 1)?;
    if text.start < whole.start {
        return Err(shard.inconsistent("blocks of a document"));
    }
    let to_skip = first.saturating_sub(shard.first_line(BlockId(block))?);
    let start = match to_skip {
        0 => text.start,
        _ => text.start + skip_lines(&shard.text(text.clone(), texts)?, to_skip) as u64,
    };
    let limit = whole.end.min(start + REPLY_BYTES_MAX);
    let text = shard.text(start..limit, texts)?;
    let end = start + skip_lines(&text, count) as u64;
    Ok((start..end, first))
}

/// Line ends counted for an offset. Longer lines are read in parts, each counting from the start.
const COUNTED_BYTES_MAX: u64 = 16 << 20;

/// Line number at `offset`; 0 if too far inside a line.
fn line_at(
    (shard, texts): (&Shard, &TextCache),
    document: &Document<'_>,
    offset: u64,
) -> Result<u32, ShardError> {
    if document.blocks.is_empty() {
        return Ok(1);
    }
    let block = last_block(document, |block| {
        Ok(shard.text_range(block.0..block.0 + 1)?.start <= offset)
    })?;
    let start = shard.text_range(block..block + 1)?.start;
    if offset.saturating_sub(start) > COUNTED_BYTES_MAX {
        return Ok(0);
    }
    let before = shard.text(start..offset.max(start), texts)?;
    let lines = memchr::memchr_iter(b'\n', &before).count() as u32;
    Ok(shard.first_line(BlockId(block))?.saturating_add(lines))
}

/// Last block for which `is_before` holds; it holds for the first.
fn last_block(
    document: &Document<'_>,
    is_before: impl Fn(BlockId) -> Result<bool, ShardError>,
) -> Result<u32, ShardError> {
    let (mut low, mut high) = (document.blocks.start, document.blocks.end);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_before(BlockId(middle))? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

pub(super) fn skip_lines(text: &[u8], count: u32) -> usize {
    let Some(last) = (count as usize).checked_sub(1) else {
        return 0;
    };
    memchr::memchr_iter(b'\n', text)
        .nth(last)
        .map_or(text.len(), |end| end + 1)
}
