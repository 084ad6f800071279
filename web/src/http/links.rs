//! Addresses within the site, in which every value is percent-encoded, and parts of requested ones.

use crate::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use frontend::Document;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, percent_encode};
use serde::de::DeserializeOwned;

const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'/');

pub(crate) fn encode(bytes: &[u8]) -> String {
    percent_encode(bytes, ESCAPED).to_string()
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FileAddress<'a> {
    pub(crate) package: &'a [u8],
    pub(crate) path: &'a [u8],
    pub(crate) revision: &'a str,
    /// Parameters of its page, such as `q=x&case=no`, or empty.
    pub(crate) query: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RepositoryAddress<'a> {
    pub(crate) repo: &'a str,
    pub(crate) rev: &'a str,
}

impl RepositoryAddress<'_> {
    pub(crate) fn commit_href(self) -> String {
        format!("/commit?{}", self.parameters())
    }

    /// Of everything if the path is empty.
    pub(crate) fn history_href(self, path: &[u8]) -> String {
        match path {
            b"" => format!("/log?{}", self.parameters()),
            path => format!("/log?{}&path={}", self.parameters(), encode(path)),
        }
    }

    fn parameters(self) -> String {
        at_revision(
            '&',
            format!("repo={}", encode(self.repo.as_bytes())),
            self.rev,
        )
    }
}

/// Adds the parameter of a revision after `separator`, except of the current one.
fn at_revision(separator: char, address: String, revision: &str) -> String {
    match revision {
        "" => address,
        revision => format!("{address}{separator}rev={}", encode(revision.as_bytes())),
    }
}

pub(crate) fn package_href(package: &[u8]) -> String {
    format!("/p/{}/", encode_part(package))
}

fn encode_part(name: &[u8]) -> String {
    encode(name).replace('/', "%2F")
}

impl<'a> FileAddress<'a> {
    /// Permanent address: at the indexed commit.
    pub(crate) fn of(document: &'a Document) -> FileAddress<'a> {
        let current = FileAddress::current(&document.package, &document.path);
        current.at(&document.revisions.commit)
    }

    pub(crate) fn current(package: &'a [u8], path: &'a [u8]) -> FileAddress<'a> {
        FileAddress {
            package,
            path,
            revision: "",
            query: "",
        }
    }

    pub(crate) fn at(self, revision: &'a str) -> FileAddress<'a> {
        FileAddress { revision, ..self }
    }

    pub(crate) fn with_query(self, query: &'a str) -> FileAddress<'a> {
        FileAddress { query, ..self }
    }

    /// The path ends with `/` or is empty.
    pub(crate) fn directory_href(self) -> String {
        let href = format!("{}{}", package_href(self.package), encode(self.path));
        at_revision('?', href, self.revision)
    }

    /// At its beginning if the line is 0.
    pub(crate) fn show_href(self, line: u32) -> String {
        match line {
            0 => self.page_href(),
            line => format!("{}&line={line}#L{line}", self.page_href()),
        }
    }

    /// Page from its start, at lines that it may not have.
    pub(crate) fn near_href(self, fragment: &str) -> String {
        format!("{}{fragment}", self.page_href())
    }

    pub(crate) fn window_href(self, first: u32) -> String {
        format!("{}&first={first}", self.page_href())
    }

    fn page_href(self) -> String {
        let separator = if self.query.is_empty() { "" } else { "&" };
        format!("/show?{}{separator}{}", self.parameters(), self.query)
    }

    pub(crate) fn symbol_href(self) -> String {
        format!("/symbol?{}", self.parameters())
    }

    pub(crate) fn file_href(self) -> String {
        format!("/api/v2/file?{}", self.parameters())
    }

    pub(crate) fn raw_href(self) -> String {
        let (package, path) = (encode_part(self.package), encode(self.path));
        match self.revision {
            "" => format!("/raw/p/{package}/{path}"),
            revision => {
                let revision = encode_part(revision.as_bytes());
                format!("/raw/g/{package}/{revision}/{path}")
            }
        }
    }

    fn parameters(self) -> String {
        let (package, path) = (encode(self.package), encode(self.path));
        at_revision('&', format!("package={package}&path={path}"), self.revision)
    }
}

/// Like axum's, with problems as errors.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::from_request_parts(parts, state).await;
        path.map(|axum::extract::Path(path)| Path(path))
            .map_err(|_| Problem::bad_request("the address is not UTF-8"))
    }
}

pub(crate) fn decode_path(text: &str) -> Result<Vec<u8>, Problem> {
    let bytes = text.as_bytes();
    let is_escape = |at: usize| {
        let digits = bytes.get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let mut signs = (0..bytes.len()).filter(|&at| bytes[at] == b'%');
    if signs.any(|at| !is_escape(at)) {
        let detail = format!("{text}: expected two hexadecimal digits after %");
        return Err(Problem::bad_request(detail).hint("write %25 for a percent sign"));
    }
    Ok(percent_decode(bytes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_every_byte_of_a_value() {
        let mut address = FileAddress::current(b"p_1", b"x/\xff#");
        let expected = "/show?package=p_1&path=x/%FF%23&line=3#L3";
        assert_eq!(address.show_href(3), expected);
        address.query = "q=%26&case=no";
        let expected = "/show?package=p_1&path=x/%FF%23&q=%26&case=no&line=3#L3";
        assert_eq!(address.show_href(3), expected);
        address.revision = "a&b";
        let expected = "/api/v2/file?package=p_1&path=x/%FF%23&rev=a%26b";
        assert_eq!(address.file_href(), expected);
        assert_eq!(address.raw_href(), "/raw/g/p_1/a%26b/x/%FF%23");
        (address.revision, address.package) = ("", b"a/b");
        assert_eq!(address.raw_href(), "/raw/p/a%2Fb/x/%FF%23");
        assert_eq!(
            FileAddress::current(b"a/b", b"x/").directory_href(),
            "/p/a%2Fb/x/"
        );
        (address.path, address.revision) = (b"x/", "v1&2");
        assert_eq!(address.directory_href(), "/p/a%2Fb/x/?rev=v1%262");
    }
}
