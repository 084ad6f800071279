//! Measures codecs of posting lists: bytes of all lists of an index, and time to evaluate queries.
//!
//! ```text
//! codecs --index DIR --runs N (literal|regexp PATTERN)...
//! ```
//!
//! Prints name, bytes and one median in microseconds per query for each codec. Each round runs
//! every query with every codec, like `Shard::candidates`, and compares the results. Dictionary
//! lookups and page checksums are not timed. Without `--index` (`cargo test`) it indexes this
//! crate, which only checks that the codecs agree.

mod codec;

use codec::Codec;
use index::indexing::{BuildOptions, Progress, build};
use index::plan::{self, TrigramQuery};
use index::shard::{Candidates, Shard};
use index::trigram::Trigram;
use index::{corpus, directory::Index};
use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::Instant;

const QUERIES: [&str; 8] = [
    "literal",
    "errno == EINTR",
    "literal",
    "trigram",
    "regexp",
    r"fn [a-z]+_of\(.*->",
    "regexp",
    r"[0-9]{2}-[0-9]|const .*= [0-9]",
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Appended by `cargo bench`.
    let arguments = arguments.iter().map(String::as_str);
    let arguments = arguments.filter(|&argument| argument != "--bench");
    match arguments.collect::<Vec<_>>()[..] {
        ["--index", index, "--runs", runs, ref queries @ ..] => {
            let runs = runs.parse().expect("a number of runs");
            measure(Path::new(index), runs, queries);
        }
        // Test filters and other cargo arguments.
        _ => {
            let there = tempfile::tempdir().expect("a directory");
            measure(&own_index(there.path()), 1, &QUERIES);
        }
    }
}

/// Small blocks, hence many.
fn own_index(there: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut options = BuildOptions::default();
    options.options.block_bytes = 256;
    let out = there.join("index");
    let sources = corpus::sources(&[source], false).expect("a directory");
    build(sources, &out, &options, &Progress::default()).expect("an index");
    out
}

fn measure(index: &Path, runs: usize, queries: &[&str]) {
    let shards = Index::open(index).expect("an index").shards;
    let [shard] = &shards[..] else {
        panic!("one shard is measured, not {}", shards.len());
    };
    let queries: Vec<TrigramQuery> = queries.chunks_exact(2).map(planned).collect();
    let layouts = encode(shard, &queries);
    let mut times = vec![vec![Vec::with_capacity(runs); queries.len()]; layouts.len()];
    // The first run is a warm-up.
    for run in 0..=runs {
        for (column, query) in queries.iter().enumerate() {
            let expected = match shard.candidates(query).expect("a sound shard") {
                Candidates::Ranges(_) => None,
                Candidates::Blocks(blocks) => Some(blocks),
            };
            for (row, layout) in layouts.iter().enumerate() {
                let started = Instant::now();
                let found = layout.candidates(query);
                let elapsed = started.elapsed();
                assert!(found == expected, "{}: {query}", layout.name());
                if run > 0 {
                    times[row][column].push(elapsed.as_secs_f64() * 1e6);
                }
            }
        }
    }
    for (layout, times) in layouts.iter().zip(times) {
        print!("{}\t{}", layout.name(), layout.bytes());
        times
            .into_iter()
            .for_each(|times| print!("\t{:.1}", median(times)));
        println!();
    }
}

fn planned(query: &[&str]) -> TrigramQuery {
    let pattern = match query {
        ["literal", text] => regex_syntax::escape(text),
        ["regexp", pattern] => (*pattern).to_owned(),
        _ => panic!("{query:?}: not literal or regexp"),
    };
    plan::plan(&pattern, false).expect("a pattern")
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn encode(shard: &Shard, queries: &[TrigramQuery]) -> Vec<Box<dyn Layout>> {
    let universe = shard.block_count();
    let mut layouts: Vec<Box<dyn Layout>> = vec![
        Box::new(Lists::<codec::Varint>::new(universe)),
        Box::new(Lists::<codec::Packed>::new(universe)),
        Box::new(Lists::<codec::Roaring>::new(universe)),
        Box::new(Lists::<codec::EliasFano>::new(universe)),
        Box::new(Lists::<codec::Hybrid>::new(universe)),
        Box::new(Lists::<codec::Smallest>::new(universe)),
        Box::new(Lists::<codec::Partitioned>::new(universe)),
    ];
    let mut wanted = HashSet::new();
    queries
        .iter()
        .for_each(|query| trigrams(query, &mut wanted));
    for index in 0..shard.trigram_count() as u32 {
        let trigram = shard.trigram(index).expect("a sound shard");
        let list = shard.postings(trigram).expect("a sound shard");
        let list = list.expect("it is in the dictionary");
        let ids = list.within(slice::from_ref(&(0..universe)));
        for layout in &mut layouts {
            layout.add(trigram, &ids, wanted.contains(&trigram));
        }
    }
    layouts.iter_mut().for_each(|layout| layout.pad());
    layouts
}

fn trigrams(query: &TrigramQuery, found: &mut HashSet<Trigram>) {
    match query {
        TrigramQuery::All | TrigramQuery::None => {}
        TrigramQuery::Trigram(trigram) => drop(found.insert(*trigram)),
        TrigramQuery::And(parts) | TrigramQuery::Or(parts) => {
            parts.iter().for_each(|part| trigrams(part, found));
        }
    }
}

trait Layout {
    fn name(&self) -> &'static str;
    fn bytes(&self) -> usize;
    fn add(&mut self, trigram: Trigram, ids: &[u32], keep: bool);
    /// Pads the end, since bytes after the last list may be read.
    fn pad(&mut self);
    fn candidates(&self, query: &TrigramQuery) -> Option<Vec<u32>>;
}

struct Lists<C> {
    universe: u32,
    bytes: usize,
    /// Length and offset in `kept`.
    lists: HashMap<Trigram, (u32, usize)>,
    kept: Vec<u8>,
    codec: PhantomData<C>,
}

/// Longer lists in relation to the candidates are not read. (`Shard::candidates` counts bytes.)
const WORTH_READING_RATIO: u64 = 1000;

impl<C: Codec> Lists<C> {
    fn new(universe: u32) -> Self {
        Lists {
            universe,
            bytes: 0,
            lists: HashMap::new(),
            kept: Vec::new(),
            codec: PhantomData,
        }
    }

    /// Visits the ids of a list; single ids are stored as in the dictionary.
    fn for_each(&self, trigram: Trigram, mut take: impl FnMut(u32)) {
        match self.lists.get(&trigram) {
            None => {}
            Some(&(1, id)) => take(id as u32),
            Some(&(_, at)) => C::for_each(&self.kept[at..], self.universe, take),
        }
    }

    fn cost(&self, query: &TrigramQuery) -> u64 {
        match query {
            TrigramQuery::All => u64::MAX,
            TrigramQuery::None => 0,
            TrigramQuery::Trigram(trigram) => self.lists.get(trigram).map_or(0, |&(n, _)| n.into()),
            TrigramQuery::And(parts) => parts.iter().map(|part| self.cost(part)).min().unwrap_or(0),
            TrigramQuery::Or(parts) => parts.iter().map(|part| self.cost(part)).sum(),
        }
    }

    fn all_of(&self, parts: &[TrigramQuery]) -> Option<Vec<u32>> {
        let mut parts: Vec<(u64, &TrigramQuery)> =
            parts.iter().map(|part| (self.cost(part), part)).collect();
        parts.sort_by_key(|&(cost, _)| cost);
        let mut parts = parts.into_iter();
        let (_, first) = parts.next().expect("at least two");
        let mut blocks = self.candidates(first)?;
        for (cost, part) in parts {
            if cost / WORTH_READING_RATIO > blocks.len() as u64 {
                break;
            }
            self.restrict(&mut blocks, part);
        }
        Some(blocks)
    }

    fn restrict(&self, blocks: &mut Vec<u32>, part: &TrigramQuery) {
        if let TrigramQuery::Trigram(trigram) = part
            && let Some(&(2.., at)) = self.lists.get(trigram)
        {
            C::intersect(blocks, &self.kept[at..], self.universe);
        } else if let Some(other) = self.candidates(part) {
            blocks.retain(|block| other.binary_search(block).is_ok());
        }
    }

    fn one_of(&self, parts: &[TrigramQuery]) -> Option<Vec<u32>> {
        let mut bits = vec![0_u64; self.universe.div_ceil(64) as usize];
        let mut set = |id: u32| bits[id as usize / 64] |= 1 << (id % 64);
        for part in parts {
            match part {
                TrigramQuery::Trigram(trigram) => self.for_each(*trigram, &mut set),
                part => self.candidates(part)?.into_iter().for_each(&mut set),
            }
        }
        let mut blocks = Vec::new();
        for (base, mut word) in (0..).step_by(64).zip(bits) {
            while word != 0 {
                blocks.push(base + word.trailing_zeros());
                word &= word - 1;
            }
        }
        Some(blocks)
    }
}

impl<C: Codec> Layout for Lists<C> {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn add(&mut self, trigram: Trigram, ids: &[u32], keep: bool) {
        let start = self.kept.len();
        if let [id] = ids {
            self.lists.insert(trigram, (1, *id as usize));
            return;
        }
        C::encode(ids, self.universe, &mut self.kept);
        self.bytes += self.kept.len() - start;
        if keep {
            self.lists.insert(trigram, (ids.len() as u32, start));
        } else {
            self.kept.truncate(start);
        }
    }

    fn pad(&mut self) {
        self.kept.extend([0; index::posting::PADDING_BYTES]);
    }

    fn candidates(&self, query: &TrigramQuery) -> Option<Vec<u32>> {
        match query {
            TrigramQuery::All => None,
            TrigramQuery::None => Some(Vec::new()),
            TrigramQuery::Trigram(trigram) => {
                let mut blocks = Vec::new();
                self.for_each(*trigram, |id| blocks.push(id));
                Some(blocks)
            }
            TrigramQuery::And(parts) => self.all_of(parts),
            TrigramQuery::Or(parts) => self.one_of(parts),
        }
    }
}
