//! From a trigram query to the blocks that it does not rule out.

use super::{BlockId, Error, Shard};
use crate::format::{PAYLOAD, SINGLE, Section};
use crate::plan::Query;
use crate::posting::{self, PADDING_BYTES, PostingList};
use crate::trigram::Trigram;

/// The live blocks that a query does not rule out, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// Every live block: [`Shard::live_blocks`].
    All,
    /// These.
    Blocks(Vec<u32>),
}

/// A list that would have to be read over this many times as long as the candidates that are left
/// is not worth its reading: verifying one block costs about as much as decoding a thousand ids
/// (1.2 us to 2 us, measured).
const WORTH_READING_RATIO: u64 = 1000;

/// Bytes to look at for a list's length.
const LENGTH_BYTES_MAX: u64 = 5;

/// A part of an AND, and how many ids it takes to read it.
enum Part<'q, 's> {
    List(PostingList<'s>),
    Query(&'q Query, u64),
}

impl Part<'_, '_> {
    fn cost(&self) -> u64 {
        match self {
            Part::List(list) => u64::from(list.len()),
            Part::Query(_, cost) => *cost,
        }
    }
}

impl Shard {
    /// The live blocks that `query` does not rule out.
    pub fn candidates(&self, query: &Query) -> Result<Candidates, Error> {
        let mut candidates = self.live_or_dead(query)?;
        if let Candidates::Blocks(blocks) = &mut candidates {
            self.retain_live(blocks);
        }
        self.intact()?;
        Ok(candidates)
    }

    /// As [`candidates`](Self::candidates), with dead blocks among them.
    fn live_or_dead(&self, query: &Query) -> Result<Candidates, Error> {
        Ok(match query {
            Query::All => Candidates::All,
            Query::None => Candidates::Blocks(Vec::new()),
            Query::Trigram(trigram) => {
                let list = self.postings(*trigram)?;
                Candidates::Blocks(list.iter().flat_map(PostingList::cursor).collect())
            }
            Query::And(parts) => self.all_of(parts)?,
            Query::Or(parts) => self.one_of(parts)?,
        })
    }

    /// The live blocks that hold a trigram, ascending.
    pub fn blocks_with(&self, trigram: Trigram) -> Result<Vec<BlockId>, Error> {
        let list = self.postings(trigram)?;
        let mut blocks = list.iter().flat_map(PostingList::cursor).collect();
        self.retain_live(&mut blocks);
        self.intact()?;
        Ok(blocks.into_iter().map(BlockId).collect())
    }

    /// Rarest part first, and no further than it pays.
    fn all_of(&self, queries: &[Query]) -> Result<Candidates, Error> {
        let mut parts = Vec::with_capacity(queries.len());
        for query in queries {
            match self.part(query)? {
                Some(part) => parts.push(part),
                None => return Ok(Candidates::Blocks(Vec::new())),
            }
        }
        parts.sort_by_key(Part::cost);
        let mut blocks: Option<Vec<u32>> = None;
        for part in parts {
            match &mut blocks {
                None => blocks = self.read(&part)?,
                Some(blocks) if part.cost() / WORTH_READING_RATIO > blocks.len() as u64 => break,
                Some(blocks) => self.restrict(blocks, &part)?,
            }
        }
        Ok(blocks.map_or(Candidates::All, Candidates::Blocks))
    }

    /// A part of an AND; `None`: nothing can satisfy it.
    fn part<'q>(&self, query: &'q Query) -> Result<Option<Part<'q, '_>>, Error> {
        match query {
            Query::None => Ok(None),
            Query::Trigram(trigram) => Ok(self.postings(*trigram)?.map(Part::List)),
            other => Ok(Some(Part::Query(other, self.cost(other)?))),
        }
    }

    fn read(&self, part: &Part<'_, '_>) -> Result<Option<Vec<u32>>, Error> {
        Ok(match part {
            Part::List(list) => Some(list.cursor().collect()),
            Part::Query(query, _) => match self.live_or_dead(query)? {
                Candidates::All => None,
                Candidates::Blocks(blocks) => Some(blocks),
            },
        })
    }

    fn restrict(&self, blocks: &mut Vec<u32>, part: &Part<'_, '_>) -> Result<(), Error> {
        match part {
            Part::List(list) => posting::intersect(blocks, list),
            Part::Query(query, _) => {
                if let Candidates::Blocks(other) = self.live_or_dead(query)? {
                    retain_common(blocks, &other);
                }
            }
        }
        Ok(())
    }

    fn one_of(&self, queries: &[Query]) -> Result<Candidates, Error> {
        let mut lists = Vec::new();
        let mut blocks = Vec::new();
        for query in queries {
            if let Query::Trigram(trigram) = query {
                lists.extend(self.postings(*trigram)?);
                continue;
            }
            match self.live_or_dead(query)? {
                Candidates::All => return Ok(Candidates::All),
                Candidates::Blocks(more) => blocks.extend(more),
            }
        }
        if !lists.is_empty() {
            blocks.extend(posting::unite(&lists, self.block_count()));
        }
        blocks.sort_unstable();
        blocks.dedup();
        Ok(Candidates::Blocks(blocks))
    }

    /// About how many ids are read to evaluate a query: the length of a trigram's list, of an AND
    /// that of its shortest part, of an OR the sum. An AND is evaluated in this order of its parts.
    pub fn cost(&self, query: &Query) -> Result<u64, Error> {
        Ok(match query {
            Query::All => u64::MAX,
            Query::None => 0,
            Query::Trigram(trigram) => self
                .postings(*trigram)?
                .map_or(0, |list| u64::from(list.len())),
            Query::And(parts) => {
                let costs: Result<Vec<u64>, Error> =
                    parts.iter().map(|part| self.cost(part)).collect();
                costs?.into_iter().min().unwrap_or(0)
            }
            Query::Or(parts) => parts
                .iter()
                .try_fold(0, |sum: u64, part| Ok(sum.saturating_add(self.cost(part)?)))?,
        })
    }

    /// A trigram's posting list, if any block holds it. Dead blocks are in it too.
    pub fn postings(&self, trigram: Trigram) -> Result<Option<PostingList<'_>>, Error> {
        let key = u64::from(trigram.value()) << 40;
        let index = self.partition_point(
            Section::Dictionary,
            |entry: &zerocopy::little_endian::U64| entry.get() < key,
        )?;
        if u64::from(index) == self.trigram_count() {
            return Ok(None);
        }
        let entry = self.dictionary_entry(index)?;
        if entry & !PAYLOAD != key {
            return Ok(None);
        }
        self.list(entry & PAYLOAD).map(Some)
    }

    fn list(&self, payload: u64) -> Result<PostingList<'_>, Error> {
        let bad = || self.corrupt(Section::Dictionary, "a posting list");
        if payload & SINGLE != 0 {
            let block = (payload & !SINGLE) as u32;
            return if block < self.block_count() {
                Ok(PostingList::One(block))
            } else {
                Err(bad())
            };
        }
        let end = self.section_bytes(Section::Postings);
        let head = self.slice(
            Section::Postings,
            payload..(payload + LENGTH_BYTES_MAX).min(end),
        )?;
        let bytes = posting::list_bytes(head, self.block_count()).ok_or_else(bad)?;
        let end = payload + (bytes + PADDING_BYTES) as u64;
        let list = self.slice(Section::Postings, payload..end)?;
        PostingList::decode(list, self.block_count()).ok_or_else(bad)
    }
}

/// Keeps of `blocks` what is in `other` too; both ascend.
fn retain_common(blocks: &mut Vec<u32>, other: &[u32]) {
    let mut rest = other.iter().copied().peekable();
    blocks.retain(|&block| {
        while rest.next_if(|&other| other < block).is_some() {}
        rest.peek() == Some(&block)
    });
}
