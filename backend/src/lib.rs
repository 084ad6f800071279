//! Source backend: searches the shards of an index, and streams matches.
//!
//! - [`CompiledQuery`] is matched by line ([`line_matcher`]) or document ([`document_matcher`]),
//!   with expressions from [`pattern`].
//! - [`search::Request`] verifies candidate blocks, ranks matches ([`rank`]), and packs them with
//!   context for a [`search::Sink`], in an order independent of workers.
//! - [`LiveShards`] are the shards of an index directory, replaced by each new manifest.
//! - [`Backend`] serves them: HELLO, SEARCH, FILE, LIST, LOOKUP ([`server`]).
//! - [`LookUp`] answers look-ups of commits.
//!
//! **Invariant:** memory does not grow with the number of matches: workers wait for the sink, and
//! frames for the other end to read.
//!
//! # Example
//!
//! ```
//! # use std::error::Error;
//! use backend::CompiledQuery;
//! use backend::search::{Cancel, Request, Sink, Stopped};
//! use index::{corpus, directory::Index, indexing};
//! use schema::message::{Expr, Pattern, Progress, Search};
//!
//! /// Counts the bytes of frames.
//! struct Bytes(usize);
//!
//! impl Sink for Bytes {
//!     fn frames(&mut self, frames: Vec<u8>, _: &Progress) -> Result<(), Stopped> {
//!         self.0 += frames.len();
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn Error>> {
//! let directory = tempfile::tempdir()?;
//! let (source, index) = (directory.path().join("hello_1"), directory.path().join("index"));
//! std::fs::create_dir(&source)?;
//! std::fs::write(source.join("hello.c"), "int main(void)\n{\n}\n")?;
//! let sources = corpus::sources(&[source], false)?;
//! indexing::build(sources, &index, &Default::default(), &Default::default())?;
//!
//! let pattern = Pattern { text: "main".to_owned(), ..Pattern::default() };
//! let request = Request {
//!     shards: &Index::open(&index)?.shards,
//!     query: &CompiledQuery::new(&Expr::Pattern(pattern), false)?,
//!     search: &Search { context_lines: 2, ..Search::default() },
//!     workers: 1,
//!     cancel: &Cancel::default(),
//! };
//! let plan = request.plan(true).expect("not cancelled");
//! let mut bytes = Bytes(0);
//! let ends = request.run(plan, &mut bytes).expect("not stopped by the sink");
//! assert_eq!(ends[0].matches, 1);
//! assert!(bytes.0 > 0);
//! # Ok(())
//! # }
//! ```

mod live;
mod lookup;
mod matcher;
mod metrics;
mod pack;
pub mod rank;
pub mod search;
pub mod server;

pub use live::{Generation, LiveShards};
pub use lookup::{LookUp, WantedFile};
pub use matcher::bad_expr::BadExpr;
pub use matcher::compiled_query::CompiledQuery;
pub use matcher::{
    compiled_query, compiler, document_matcher, line_matcher, long_line, pattern, place,
};
pub use pack::LINE_BYTES_MAX;
pub use server::Backend;
