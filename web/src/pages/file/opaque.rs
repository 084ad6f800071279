//! Page of a repository's file without lines: an image, or other bytes.

use super::super::form::{Form, Layout};
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
    let address = FileAddress {
        revision: &reply.commit,
        ..FileAddress::current(package, asked.path)
    };
    let page = OpaquePage {
        layout: Layout::new(Form {
            has_key: asked.params.has_key,
            ..Form::default()
        }),
        package: visible::plain(package),
        path: visible::plain(asked.path),
        place: Place::new(package, asked.path, asked.revision),
        bytes: reply.total_bytes,
        raw: address.raw_href(),
        is_image: is_image(reply),
    };
    page.render().expect("a page fits in memory")
}
