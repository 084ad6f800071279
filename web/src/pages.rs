//! HTML pages for users: search results, files and problems. Programs use the API.
//!
//! A handler parses the request and asks the coordinator; a struct holds the data of the page; a
//! template in `web/templates` holds its markup. Pages work without the script, which follows a
//! running search ([`live`]) and saves keystrokes.
//!
//! **Invariant:** markup is only in templates, and askama escapes every text in them; [`markdown`]
//! is the only exception. [`visible`] replaces invisible characters by escapes, and [`links`]
//! percent-encodes every value in an address.

mod boxes;
mod commit;
mod directory;
mod facets;
mod file;
mod filters;
mod form;
mod help;
mod history;
mod live;
mod markdown;
mod matches;
mod narrowed;
mod nothing;
mod open_search;
mod package;
mod packages;
mod page_links;
mod parts;
mod place;
mod problem;
mod reference;
mod results;
mod running;
mod search;
mod selected;
mod sign_in;
mod skipped;
mod start;
mod status;
mod tree;
mod visible;

pub(crate) use commit::commit;
pub(crate) use directory::directory;
pub(crate) use facets::fragment as facets;
pub(crate) use file::show;
pub(crate) use form::Form;
pub(crate) use help::help;
pub(crate) use history::history;
pub(crate) use live::live;
pub(crate) use open_search::description as open_search;
pub(crate) use packages::packages;
pub(crate) use problem::{by_address, kind, kinds, page as problem_page};
pub(crate) use reference::Reference;
pub(crate) use running::match_list;
pub(crate) use search::search;
pub(crate) use sign_in::{form as sign_in_form, sign_in, sign_out};
pub(crate) use skipped::skipped;
pub(crate) use start::start;
pub(crate) use status::page as status_page;
