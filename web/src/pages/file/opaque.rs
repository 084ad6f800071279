//! Page of a repository's file without lines: an image, or other bytes.

use super::super::form::Layout;
use super::super::place::Place;
use super::super::{filters, visible};
use super::asked::AskedFile;
use crate::http::links::FileAddress;
use crate::source::file_content::is_image;
use crate::source::file_range::Fetched;
use askama::Template;

#[derive(Template)]
#[template(path = "opaque.html")]
struct OpaquePage {
    layout: Layout,
    package: String,
    path: String,
    place: Place,
    bytes: u64,
    raw: String,
    is_image: bool,
}

pub(super) fn render(asked: &AskedFile<'_>, Fetched { package, reply }: &Fetched) -> String {
    let address = FileAddress::current(package, asked.path).at(&reply.commit);
    let page = OpaquePage {
        layout: Layout::of(&asked.params.site),
        package: visible::plain(package),
        path: visible::plain(asked.path),
        place: Place::new(package, asked.path, asked.revision),
        bytes: reply.total_bytes,
        raw: address.raw_href(),
        is_image: is_image(reply),
    };
    asked.params.site.render(&page)
}
