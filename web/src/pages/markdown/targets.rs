//! Targets of links and images of a Markdown file. Each is looked up, so that no link is dead.

use super::super::raw::is_image;
use crate::http::links::FileAddress;
use crate::http::site::BasePath;
use crate::suggest::Corpus;
use futures_util::future::join_all;
use percent_encoding::percent_decode_str;
use schema::message::{FileRange, FileReply, FileRequest, FileSource};
use std::collections::{BTreeSet, HashMap};

/// Further links stay text.
const ASKED_MAX: usize = 100;

const TOGETHER: usize = 10;

/// Enough to tell an image.
const HEAD_BYTES: u64 = 16;

/// Keeps the ids of headings apart from the page's.
const ID_PREFIX: &str = "md-";

/// Local addresses, by those in the text.
#[derive(Default)]
pub(super) struct Targets {
    links: HashMap<String, String>,
    images: HashMap<String, String>,
}

impl Targets {
    pub(super) fn link(&self, address: &str) -> Option<&str> {
        self.links.get(address).map(String::as_str)
    }

    pub(super) fn image(&self, address: &str) -> Option<String> {
        self.images.get(address).cloned()
    }

    pub(super) async fn find(
        base: &BasePath,
        corpus: Corpus<'_>,
        addresses: BTreeSet<String>,
        file: FileAddress<'_>,
    ) -> Targets {
        let named: Vec<(String, Named)> = (addresses.into_iter())
            .filter_map(|address| Named::new(&address, file.path).map(|named| (address, named)))
            .take(ASKED_MAX)
            .collect();
        let mut targets = Targets::default();
        for some in named.chunks(TOGETHER) {
            let found = some.iter().map(|(_, named)| named.find(corpus, file));
            for ((address, _), found) in some.iter().zip(join_all(found).await) {
                let (page, image) = found;
                let local = |href: String| (address.clone(), base.url(&href));
                targets.links.extend(page.map(local));
                targets.images.extend(image.map(local));
            }
        }
        targets
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Named {
    /// Path in the package; directories may end with `/`.
    path: Vec<u8>,
    fragment: String,
}

/// Addresses of a page, and of an image.
type Found = (Option<String>, Option<String>);

impl Named {
    /// Resolves an address in `file`; `None` if it is absolute or leaves the package.
    fn new(address: &str, file: &[u8]) -> Option<Named> {
        let (path, fragment) = address.split_once('#').unwrap_or((address, ""));
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        let first = path.split('/').next().unwrap_or_default();
        if path.is_empty() || path.starts_with("//") || first.contains(':') {
            return None;
        }
        let path: Vec<u8> = percent_decode_str(path).collect();
        let mut parts: Vec<&[u8]> = Vec::new();
        if path[0] != b'/' {
            parts = file.split(|&byte| byte == b'/').collect();
            parts.pop();
        }
        for part in path.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        let mut whole = parts.join(&b'/');
        if path.ends_with(b"/") && !whole.is_empty() {
            whole.push(b'/');
        }
        Some(Named {
            path: whole,
            fragment: fragment.to_owned(),
        })
    }

    async fn find(&self, corpus: Corpus<'_>, file: FileAddress<'_>) -> Found {
        let target = FileAddress {
            path: &self.path,
            query: "",
            ..file
        };
        if !self.path.is_empty()
            && !self.path.ends_with(b"/")
            && let Ok(reply) = corpus.file(&beginning(target)).await
            && reply.found
        {
            return self.file(target, &reply);
        }
        (corpus.directory_href(target).await, None)
    }

    fn file(&self, target: FileAddress<'_>, reply: &FileReply) -> Found {
        if reply.original {
            // Its page shows the kind of file.
            let image = is_image(reply).then(|| target.raw_href());
            return (Some(target.show_href(0)), image);
        }
        let line = self.fragment.strip_prefix('L').and_then(|rest| {
            let digits = rest.split(|it: char| !it.is_ascii_digit()).next()?;
            digits.parse().ok()
        });
        let page = match line {
            Some(line) if line > 0 => target.show_href(line),
            _ => target.show_href(0) + &fragment(&self.fragment),
        };
        (Some(page), None)
    }
}

pub(super) fn slug(heading: &str) -> String {
    let character = |character: char| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ if character.is_alphanumeric() => character.to_lowercase().next(),
        _ => None,
    };
    let characters = heading.chars().filter_map(character);
    format!("{ID_PREFIX}{}", characters.collect::<String>())
}

pub(super) fn fragment(heading: &str) -> String {
    if heading.is_empty() {
        String::new()
    } else {
        format!("#{}", slug(heading))
    }
}

pub(in super::super) fn beginning(target: FileAddress<'_>) -> FileRequest {
    let range = FileRange::Bytes {
        offset: 0,
        count: HEAD_BYTES,
    };
    FileRequest {
        source: FileSource::TextOrOriginal,
        ..FileRequest::new(target.package, target.path, target.revision, range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_relative_to_its_file_and_stays_in_the_package() {
        let named = |address: &str| {
            let named = Named::new(address, b"docs/guide/a.md")?;
            Some((String::from_utf8(named.path).unwrap(), named.fragment))
        };
        for (address, path, fragment) in [
            ("b.md", "docs/guide/b.md", ""),
            ("./b.md#Usage", "docs/guide/b.md", "Usage"),
            ("../x%20y/?raw=1", "docs/x y/", ""),
            ("../..", "", ""),
            ("/src/main.c#L10", "src/main.c", "L10"),
            ("x//y/../z", "docs/guide/x/z", ""),
        ] {
            assert_eq!(
                named(address),
                Some((path.into(), fragment.into())),
                "{address}"
            );
        }
        for address in [
            "",
            "#here",
            "?x",
            "../../../etc",
            "//evil.example/x",
            "javascript:alert(1)",
            "https://example.org/",
            "mailto:a@b",
            "data:text/html,x",
            "\tjavascript:x",
            "JaVaScRiPt:x",
        ] {
            assert_eq!(named(address), None, "{address}");
        }
    }
}
