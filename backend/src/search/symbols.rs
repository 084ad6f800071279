//! Symbols of the texts of a search: blocks that may define a searched word, and symbols of one
//! document.

use crate::matcher::pattern::DefinedWords;
use crate::matcher::place::TextSymbols;
use index::plan::TrigramQuery;
use index::shard::{Candidates, Document, Shard, ShardError, TextCache};
use language::symbols::{LEVEL_MAX, Parent};
use std::ops::Range;

/// Blocks that are listed: 16 MiB. With more, any block may define a word.
const LISTED_BLOCKS_MAX: usize = 1 << 20;

/// Parts of a shard's text in which a line may define a match.
#[derive(Debug)]
pub(super) enum Defining {
    Anywhere,
    /// Ascending.
    Within(Vec<Range<u64>>),
}

impl Defining {
    /// Parts for these words, `None` for any. A shard without symbols has none.
    pub(super) fn of(
        shard: &Shard,
        words: Option<&DefinedWords>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Defining, ShardError> {
        if !shard.has_symbols() {
            return Ok(Defining::nowhere());
        }
        let Some(words) = words else {
            return Ok(Defining::Anywhere);
        };
        let mut blocks = match &words.other_cases {
            TrigramQuery::None => Vec::new(),
            query => match shard.candidates_within(query, shard.live_blocks(), stop)? {
                Candidates::Blocks(blocks) => blocks,
                Candidates::Ranges(_) => return Ok(Defining::Anywhere),
            },
        };
        for word in &words.words {
            for level in 1..=LEVEL_MAX {
                blocks.extend(shard.definitions(word, level)?.unwrap_or_default());
                if blocks.len() > LISTED_BLOCKS_MAX {
                    return Ok(Defining::Anywhere);
                }
            }
        }
        blocks.sort_unstable();
        blocks.dedup();
        let range = |block: &u32| shard.text_range(*block..*block + 1);
        let ranges = blocks.iter().map(range).collect::<Result<_, _>>()?;
        Ok(Defining::Within(ranges))
    }

    pub(super) fn nowhere() -> Defining {
        Defining::Within(Vec::new())
    }

    pub(super) fn contains(&self, at: u64) -> bool {
        match self {
            Defining::Anywhere => true,
            Defining::Within(ranges) => {
                let behind = ranges.partition_point(|range| range.end <= at);
                ranges.get(behind).is_some_and(|range| range.contains(&at))
            }
        }
    }
}

/// Parts of symbols beside definitions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needed {
    pub(super) parents: bool,
    pub(super) runs: bool,
}

pub(super) fn read(
    shard: &Shard,
    document: &Document<'_>,
    needed: Needed,
    texts: &TextCache,
) -> Result<TextSymbols, ShardError> {
    let symbols = shard.symbols(document, needed.runs, texts)?;
    let mut read = TextSymbols {
        symbols,
        ..TextSymbols::default()
    };
    if needed.parents {
        let start = shard.text_range(document.blocks.clone())?.start;
        let all = &read.symbols.definitions;
        for definition in all.iter().filter(|it| it.parent != Parent::None) {
            let Some(name) = read.parent(definition) else {
                continue;
            };
            if !read.parents.contains_key(&name.start) {
                let range = start + u64::from(name.start)..start + u64::from(name.end);
                let name_start = name.start;
                let bytes = shard.text(range, texts)?.to_vec().into();
                read.parents.insert(name_start, bytes);
            }
        }
    }
    Ok(read)
}
