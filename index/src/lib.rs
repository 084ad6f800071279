//! From source directories to shards, and from a trigram query to candidate blocks.
//!
//! Indexing: [`corpus`] finds and reads files; `builder` cuts [`block`]s and collects (trigram,
//! block) pairs; `writer` merges them to [`posting`] lists and writes a shard in the
//! [`format`](mod@format). [`indexing`] drives this and writes an index [`directory`] with its
//! [`manifest`].
//!
//! Searching: [`plan`] turns a pattern into a [`TrigramQuery`](plan::TrigramQuery),
//! [`Filters`](filter::Filters) select documents, a [`Shard`](shard::Shard) returns
//! [`Candidates`](shard::Candidates) and text. Matches are verified by the caller.
//!
//! ```
//! use index::indexing::{BuildOptions, Progress, build};
//! use index::{corpus, directory::Index, filter::{Filters, Predicate, FilterExpr}, plan, shard::Candidates};
//!
//! let home = tempfile::tempdir().unwrap();
//! let source = home.path().join("hello_1.0");
//! std::fs::create_dir(&source).unwrap();
//! std::fs::write(source.join("hello.c"), "puts(\"hello\");\n").unwrap();
//!
//! let sources = corpus::sources(&[source], false).unwrap();
//! let out = home.path().join("index");
//! let report = build(sources, &out, &BuildOptions::default(), &Progress::default()).unwrap();
//! assert_eq!(report.documents, 1);
//!
//! let shard = &Index::open(&out).unwrap().shards[0];
//! let query = plan::plan("goodbye", false).unwrap();
//! assert_eq!(shard.candidates(&query).unwrap(), Candidates::Blocks(vec![]));
//! let query = plan::plan("h.llo|puts", false).unwrap();
//! assert_eq!(shard.candidates(&query).unwrap(), Candidates::Blocks(vec![0]));
//!
//! let mut filters = Filters::default();
//! filters.add(FilterExpr::Predicate(Predicate::language("Python").unwrap()));
//! let filtered = shard.filtered_candidates(&query, &filters, &|| false).unwrap();
//! assert_eq!(filtered, Some(Candidates::Blocks(vec![])));
//! ```

pub mod block;
mod builder;
pub mod change;
mod codec;
pub mod corpus;
pub mod directory;
pub mod document;
pub mod file;
pub mod filter;
pub mod format;
pub mod indexing;
pub mod manifest;
pub mod mapping;
pub mod plan;
pub mod posting;
pub mod precise;
pub mod revisions;
pub mod shard;
pub mod symbols;
pub mod trigram;
mod writer;

pub use codec::ContentCodec;
