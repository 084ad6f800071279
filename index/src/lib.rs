//! From directories of source to shards, and from a trigram query to the blocks that may match.
//!
//! The way in: [`corpus`] finds and reads files; `builder` cuts their text into [`block`]s and
//! collects (trigram, block) pairs; `writer` merges those to posting lists and lays out a shard as
//! [`format`](mod@format) draws it; [`indexing`] drives all of it and leaves an index
//! [`directory`], which a [`manifest`] names the shards of.
//! The way out: [`plan`] turns a pattern to a trigram query, a [`filter`] says which documents are
//! searched, and a [`shard`] answers both with candidates and gives the text to verify them on.
//! Verifying is not done here.
//!
//! ```
//! use index::indexing::{BuildOptions, Progress, build};
//! use index::{corpus, directory::Index, filter::{Filters, Predicate, FilterExpr}, plan, shard::Candidates};
//!
//! let there = tempfile::tempdir().unwrap();
//! let source = there.path().join("hello_1.0");
//! std::fs::create_dir(&source).unwrap();
//! std::fs::write(source.join("hello.c"), "puts(\"hello\");\n").unwrap();
//!
//! let sources = corpus::sources(&[source], false).unwrap();
//! let out = there.path().join("index");
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
//! let left = shard.filtered_candidates(&query, &filters, &|| false).unwrap();
//! assert_eq!(left, Some(Candidates::Blocks(vec![])));
//! ```

pub mod block;
mod builder;
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
pub mod shard;
pub mod trigram;
mod writer;
