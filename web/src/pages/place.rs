//! Location of a file or directory, with links to its parents.

use super::visible;
use crate::http::links::FileAddress;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Crumb {
    pub(super) name: String,
    pub(super) href: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) above: Vec<Crumb>,
    /// Last name; of an empty path the package.
    pub(super) name: String,
}

impl Place {
    /// Directories end with `/`.
    pub(super) fn new(package: &[u8], path: &[u8], revision: &str) -> Place {
        let href = |path| {
            FileAddress::current(package, path)
                .at(revision)
                .directory_href()
        };
        let whole = path.strip_suffix(b"/").unwrap_or(path);
        if whole.is_empty() {
            return Place {
                above: Vec::new(),
                name: visible::plain(package),
            };
        }
        let mut above = vec![Crumb {
            name: visible::plain(package),
            href: href(b""),
        }];
        let mut start = 0;
        for end in (0..whole.len()).filter(|&at| whole[at] == b'/') {
            above.push(Crumb {
                name: visible::plain(&whole[start..end]),
                href: href(&whole[..=end]),
            });
            start = end + 1;
        }
        Place {
            above,
            name: visible::plain(&whole[start..]),
        }
    }
}

/// Directory of a path, with `/`; empty: the package.
pub(super) fn directory_of(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|&byte| byte == b'/');
    &path[..slash.map_or(0, |at| at + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_directory_above_a_path_is_a_link() {
        let place = Place::new(b"p_1", b"src/<a>/x.c", "");
        let above: Vec<_> = (place.above.iter())
            .map(|crumb| (&crumb.name[..], &crumb.href[..]))
            .collect();
        assert_eq!(
            above,
            [
                ("p_1", "/p/p_1/"),
                ("src", "/p/p_1/src/"),
                ("<a>", "/p/p_1/src/%3Ca%3E/")
            ]
        );
        assert_eq!(place.name, "x.c");
        let place = Place::new(b"p_1", b"src/", "v1");
        assert_eq!(
            (&place.above[0].href[..], &place.name[..]),
            ("/p/p_1/?rev=v1", "src")
        );
        let place = Place::new(b"p_1", b"", "");
        assert_eq!((place.above.len(), &place.name[..]), (0, "p_1"));
        assert_eq!(directory_of(b"a/b/c"), b"a/b/");
        assert_eq!(directory_of(b"c"), b"");
    }
}
