//! Tools of the Model Context Protocol over a frontend: search and reading for coding agents.
//!
//! [`Server`] answers the calls of one client: `trawl mcp` runs it with [`serve_stdio`], and `web`
//! with [`handle`]. Mistakes of the model are errors of a tool; only an unknown tool is one of the
//! protocol. Without the feature `protocol`, there is none.
//!
//! **Invariant:** no answer shows anything outside of the scope, or exceeds its `max_tokens`.

#[cfg(not(feature = "protocol"))]
mod absent;
mod reply;
#[cfg(feature = "protocol")]
mod server;

#[cfg(not(feature = "protocol"))]
pub use absent::{Server, handle, serve_stdio};
pub use reply::Reply;
#[cfg(feature = "protocol")]
pub use server::{Server, handle, serve, serve_stdio};
