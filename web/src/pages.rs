//! HTML pages for users: search results, files and problems. Programs use the API.
//!
//! A struct holds the data of a page, a template in `web/templates` its markup. Pages work without
//! the script, which follows a running search ([`live`]) and saves keystrokes.
//!
//! **Invariant:** markup is only in templates, and askama escapes every text in them; [`markdown`]
//! is the only exception. [`visible`] replaces invisible characters by escapes, and [`links`]
//! percent-encodes every value in an address.

mod boxes;
mod commit;
mod diff;
mod directory;
mod facets;
mod file;
mod filters;
mod form;
mod live;
mod markdown;
mod nothing;
mod packages;
mod parts;
mod problem;
mod raw;
mod reference;
mod results;
mod running;
mod search;
mod selected;
mod sign_in;
mod status;
mod symbol;
mod tree;
mod versions;
mod visible;

pub(crate) use commit::{commit, history};
pub(crate) use diff::diff;
pub(crate) use directory::directory;
pub(crate) use facets::fragment as facets;
pub(crate) use file::show;
pub(crate) use form::Form;
pub(crate) use live::live;
pub(crate) use packages::{packages, skipped};
pub(crate) use problem::{Shape, ShapeOf, by_address, kind, kinds, page as problem_page};
pub(crate) use raw::file as raw;
pub(crate) use reference::Reference;
pub(crate) use running::match_list;
pub(crate) use search::search;
pub(crate) use sign_in::{form as sign_in_form, sign_in, sign_out};
pub(crate) use status::{help, open_search, page as status_page, start};
pub(crate) use symbol::symbol;
