//! Documents by text in their path.

use super::error::Result;
use super::{LENGTH_BYTES_MAX, Shard};
use crate::format::{PATH_GROUP_DOCUMENTS, PAYLOAD, SINGLE, Section};
use crate::plan::TrigramQuery;
use crate::posting::{self, PADDING_BYTES, PostingList, push_range};
use crate::trigram::Trigram;
use std::ops::Range;
use zerocopy::FromBytes;
use zerocopy::little_endian::{U32, U64};

/// Bytes before the dictionary.
const HEAD_BYTES: usize = 8;

impl Shard {
    /// Documents with `literal` possibly in their path (ignoring ASCII case), as
    /// separate ascending ranges; `None` if unknown: no trigram, or none listed.
    pub fn documents_with_path(&self, literal: &[u8]) -> Result<Option<Vec<Range<u32>>>> {
        let windows = literal.windows(3);
        let trigrams = windows.filter_map(|three| Trigram::of([three[0], three[1], three[2]]));
        self.documents_of_paths(&TrigramQuery::and(trigrams.map(TrigramQuery::Trigram)))
    }

    /// Documents whose path possibly satisfies `query`.
    pub(super) fn documents_of_paths(
        &self,
        query: &TrigramQuery,
    ) -> Result<Option<Vec<Range<u32>>>> {
        let bytes = self.section_bytes(Section::Paths);
        if bytes == 0 {
            return Ok(None);
        }
        let paths = Paths::new(self, self.file.slice(Section::Paths, 0..bytes)?)?;
        let Some(groups) = paths.groups_with(query)? else {
            return Ok(None);
        };
        let mut documents = Vec::new();
        for group in groups {
            let start = group * PATH_GROUP_DOCUMENTS;
            let end = start
                .saturating_add(PATH_GROUP_DOCUMENTS)
                .min(self.document_count());
            push_range(&mut documents, start..end)
                .ok_or_else(|| self.corrupt(Section::Paths, "order of documents"))?;
        }
        Ok(Some(documents))
    }
}

struct Paths<'s> {
    shard: &'s Shard,
    dictionary: &'s [U64],
    lists: &'s [u8],
    groups: u32,
}

impl<'s> Paths<'s> {
    fn new(shard: &'s Shard, section: &'s [u8]) -> Result<Paths<'s>> {
        let corrupt = || shard.corrupt(Section::Paths, "length");
        let (entries, _) = U32::ref_from_prefix(section).map_err(|_| corrupt())?;
        let body = section.get(HEAD_BYTES..).ok_or_else(corrupt)?;
        let bytes = entries.get() as usize * size_of::<U64>();
        let (dictionary, lists) = body.split_at_checked(bytes).ok_or_else(corrupt)?;
        Ok(Paths {
            shard,
            dictionary: <[U64]>::ref_from_bytes(dictionary).map_err(|_| corrupt())?,
            lists,
            groups: shard.document_count().div_ceil(PATH_GROUP_DOCUMENTS),
        })
    }

    /// Ascending; `None` means all.
    fn groups_with(&self, query: &TrigramQuery) -> Result<Option<Vec<u32>>> {
        match query {
            TrigramQuery::All => Ok(None),
            TrigramQuery::None => Ok(Some(Vec::new())),
            TrigramQuery::Trigram(trigram) => {
                let all = 0..self.groups;
                let list = self.list(*trigram)?;
                Ok(Some(list.map_or(Vec::new(), |list| {
                    list.within(std::slice::from_ref(&all))
                })))
            }
            TrigramQuery::And(parts) => posting::common(parts, |part| self.groups_with(part)),
            TrigramQuery::Or(parts) => posting::united(parts, |part| self.groups_with(part)),
        }
    }

    fn list(&self, trigram: Trigram) -> Result<Option<PostingList<'s>>> {
        let key = u64::from(trigram.value()) << 40;
        let index = self.dictionary.partition_point(|entry| entry.get() < key);
        let entry = self.dictionary.get(index).map_or(0, |entry| entry.get());
        if entry & !PAYLOAD != key {
            return Ok(None);
        }
        let corrupt = || self.shard.corrupt(Section::Paths, "a list");
        let payload = entry & PAYLOAD;
        if payload & SINGLE != 0 {
            let group = (payload & !SINGLE) as u32;
            return if group < self.groups {
                Ok(Some(PostingList::One(group)))
            } else {
                Err(corrupt())
            };
        }
        let bytes = self.lists.get(payload as usize..).ok_or_else(corrupt)?;
        let head = &bytes[..bytes.len().min(LENGTH_BYTES_MAX as usize)];
        let (_, length) = posting::list_size(head, self.groups).ok_or_else(corrupt)?;
        let list = bytes.get(..length + PADDING_BYTES).ok_or_else(corrupt)?;
        let list = PostingList::decode(list, self.groups).ok_or_else(corrupt)?;
        Ok(Some(list))
    }
}
