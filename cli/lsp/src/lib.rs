//! Server of the Language Server Protocol over a corpus: definitions, references and symbols.
//!
//! [`serve`] answers one editor. It knows names, not types: a word stands for all definitions of
//! it, the nearest first. A [`Corpus`] is searched by the caller of this crate; texts of open
//! buffers and of files on disk are lexed here. Without the feature `protocol`, there is no server.
//!
//! **Invariant:** bytes from the editor and from the corpus are hostile. They neither panic nor
//! write outside of the cache directory.

#[cfg(not(feature = "protocol"))]
mod absent;
mod corpus;
#[cfg(feature = "protocol")]
mod server;

#[cfg(not(feature = "protocol"))]
pub use absent::serve;
pub use corpus::{Corpus, CorpusError, Ended, Found, Named, Place, Workspace};
#[cfg(feature = "protocol")]
pub use server::serve;
