//! Addresses of raw files. Names of packages and files need not be UTF-8.

use crate::http::path::decode_path;
use crate::problem::Problem;
use axum::http::Uri;
use schema::message::{FileRange, FileRequest, FileSource};

const REVISION_BYTES_MAX: usize = 1 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileName {
    pub(super) package: Vec<u8>,
    revision: String,
    pub(super) path: Vec<u8>,
    pub(super) source: FileSource,
}

impl FileName {
    /// `/raw/p/{package}/{path}`
    pub(super) fn in_package(uri: &Uri) -> Result<FileName, Problem> {
        let expected = "expected /raw/p/PACKAGE/PATH";
        let [package, path] = parts(uri, "/raw/p/", expected)?;
        Ok(FileName {
            package: decode_path(package)?,
            revision: String::new(),
            path: decode_path(path)?,
            source: FileSource::TextOrOriginal,
        })
    }

    /// `/raw/g/{repository}/{revision}/{path}`
    pub(super) fn in_repository(uri: &Uri) -> Result<FileName, Problem> {
        let expected = "expected /raw/g/REPOSITORY/REVISION/PATH, where %2F is a slash in the name of a repository or a \
                        revision, and HEAD the default branch";
        let [package, revision, path] = parts(uri, "/raw/g/", expected)?;
        let revision = decode_path(revision)?;
        let revision = String::from_utf8(revision)
            .map_err(|_| Problem::bad_request("the revision is not UTF-8"))?;
        if revision.len() > REVISION_BYTES_MAX {
            let detail = format!("the revision has more than {REVISION_BYTES_MAX} bytes");
            return Err(Problem::bad_request(detail));
        }
        Ok(FileName {
            package: decode_path(package)?,
            revision,
            path: decode_path(path)?,
            source: FileSource::Original,
        })
    }

    /// Request for zero bytes.
    pub(super) fn request(&self) -> FileRequest {
        let nothing = FileRange::Bytes {
            offset: 0,
            count: 0,
        };
        FileRequest {
            source: self.source,
            ..FileRequest::new(&self.package, &self.path, &self.revision, nothing)
        }
    }
}

/// The last part may have slashes.
fn parts<'a, const N: usize>(
    uri: &'a Uri,
    prefix: &str,
    expected: &str,
) -> Result<[&'a str; N], Problem> {
    if uri.query().is_some_and(|query| !query.is_empty()) {
        let problem = Problem::bad_request("the address of a raw file has no parameters");
        return Err(problem.hint("write %3F for a question mark in a name"));
    }
    let rest = uri.path().strip_prefix(prefix).unwrap_or_default();
    let parts: Vec<&str> = rest.splitn(N, '/').collect();
    if parts.contains(&"") || rest.ends_with('/') {
        return Err(Problem::missing("the address names no file").hint(expected));
    }
    parts
        .try_into()
        .map_err(|_| Problem::missing("the address names no file").hint(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(address: &str) -> Result<FileName, Problem> {
        FileName::in_package(&address.parse().unwrap())
    }

    fn repository(address: &str) -> Result<FileName, Problem> {
        FileName::in_repository(&address.parse().unwrap())
    }

    #[test]
    fn names_are_bytes_and_only_paths_have_slashes() {
        let name = package("/raw/p/i3-wm_4.22/src/a%ff+b%2fc").unwrap();
        assert_eq!(
            (&name.package[..], &name.path[..]),
            (&b"i3-wm_4.22"[..], &b"src/a\xff+b/c"[..])
        );
        let name = repository("/raw/g/tools%2Ftrawl/feature%2fx/src/%F0.c").unwrap();
        assert_eq!(
            (&name.package[..], &name.revision[..], &name.path[..]),
            (&b"tools/trawl"[..], "feature/x", &b"src/\xf0.c"[..])
        );
    }

    #[test]
    fn a_malformed_address_is_refused_with_what_is_expected() {
        for address in ["/raw/p/a", "/raw/p/a/", "/raw/p//a", "/raw/p/a/b/"] {
            let problem = package(address).unwrap_err();
            assert_eq!(problem.kind.name, "not-found", "{address}");
            assert!(problem.hint.unwrap().starts_with("expected /raw/p/"));
        }
        for address in ["/raw/g/a/b", "/raw/g/a//c", "/raw/g/a/b/c/"] {
            let problem = repository(address).unwrap_err();
            assert_eq!(problem.kind.name, "not-found", "{address}");
        }
        for address in [
            "/raw/p/a/%",
            "/raw/p/a/%4",
            "/raw/p/%zz/a",
            "/raw/p/a/b?c",
            "/raw/p/a/b?download=1",
        ] {
            assert_eq!(package(address).unwrap_err().kind.name, "bad-request");
        }
        let long = format!("/raw/g/a/{}/c", "x".repeat(REVISION_BYTES_MAX + 1));
        for address in ["/raw/g/a/%ff/c", &long] {
            assert_eq!(repository(address).unwrap_err().kind.name, "bad-request");
        }
    }
}
