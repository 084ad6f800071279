//! Addresses within the site. Every value is percent-encoded.

use frontend::Document;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// The characters that are encoded in the value of a parameter.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'/');

pub(crate) fn encode(bytes: &[u8]) -> String {
    percent_encode(bytes, ESCAPED).to_string()
}

/// A file, as addresses name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileAddress<'a> {
    pub(crate) package: &'a [u8],
    pub(crate) path: &'a [u8],
    /// A name or a commit id; empty: what is current.
    pub(crate) revision: &'a str,
}

impl<'a> FileAddress<'a> {
    /// The address of a document that lasts: of a repository, at the commit that was indexed.
    pub(crate) fn of(document: &'a Document) -> FileAddress<'a> {
        FileAddress {
            package: &document.package,
            path: &document.path,
            revision: &document.revisions.commit,
        }
    }

    /// Returns the address of its page at a line; of its beginning if the line is 0.
    pub(crate) fn show_href(self, line: u32) -> String {
        match line {
            0 => format!("/show?{}", self.parameters()),
            line => format!("/show?{}&line={line}#L{line}", self.parameters()),
        }
    }

    /// Returns the address of its page from a line on.
    pub(crate) fn window_href(self, first: u32) -> String {
        format!("/show?{}&first={first}", self.parameters())
    }

    /// Returns the address of its bytes.
    pub(crate) fn file_href(self) -> String {
        format!("/api/v2/file?{}", self.parameters())
    }

    /// Returns the address of the file as it is.
    pub(crate) fn raw_href(self) -> String {
        let part = |name: &[u8]| encode(name).replace('/', "%2F");
        let (package, path) = (part(self.package), encode(self.path));
        match self.revision {
            "" => format!("/raw/p/{package}/{path}"),
            revision => format!("/raw/g/{package}/{}/{path}", part(revision.as_bytes())),
        }
    }

    fn parameters(self) -> String {
        let (package, path) = (encode(self.package), encode(self.path));
        match self.revision {
            "" => format!("package={package}&path={path}"),
            revision => format!(
                "package={package}&path={path}&rev={}",
                encode(revision.as_bytes())
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_every_byte_of_a_value() {
        let mut address = FileAddress {
            package: b"p_1",
            path: b"x/\xff#",
            revision: "",
        };
        let expected = "/show?package=p_1&path=x/%FF%23&line=3#L3";
        assert_eq!(address.show_href(3), expected);
        address.revision = "a&b";
        let expected = "/api/v2/file?package=p_1&path=x/%FF%23&rev=a%26b";
        assert_eq!(address.file_href(), expected);
        assert_eq!(address.raw_href(), "/raw/g/p_1/a%26b/x/%FF%23");
        (address.revision, address.package) = ("", b"a/b");
        assert_eq!(address.raw_href(), "/raw/p/a%2Fb/x/%FF%23");
    }
}
