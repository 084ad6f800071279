//! Debian Code Search's API and addresses, for clients, scripts and links that were made for it: with
//! nothing but the host changed they work here.
//!
//! Names, shapes and status codes are its own, and so is the dialect of queries; what such a query
//! means here the native address says that a link is sent on to. Where its server is wrong in a way
//! that no client can rely on, this one is right: a query that cannot be understood is 400 and not 500,
//! packages come in the order of their best match and not in any, and an answer that is not whole says
//! so (`X-Codesearch-Complete: false`).
//! Not here: its event streams, its numbered result files, and handing out of keys.

mod api;
mod contract;
mod key;
mod links;
mod shapes;

pub(super) use api::{
    COMPLETE, FILES_TOTAL, PATHS, options, preflight, search, search_per_package,
};
pub(super) use contract::{json, yaml};
pub(super) use links::{results, results_per_package, search_page, show_page};
