//! Parts of a path that say what a file is: directories, file name, extension.

/// Splits a path into its directories and its last component.
pub fn split_name(path: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b'/', path) {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// Extension without dot. A leading dot makes a hidden file, not an extension.
pub fn extension(name: &[u8]) -> Option<&[u8]> {
    match memchr::memrchr(b'.', name) {
        None | Some(0) => None,
        Some(at) => Some(&name[at + 1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_are_taken_from_the_last_component() {
        assert_eq!(split_name(b"a.d/b/c"), (&b"a.d/b"[..], &b"c"[..]));
        assert_eq!(split_name(b"c"), (&b""[..], &b"c"[..]));
        assert_eq!(extension(b"a.tar.gz"), Some(&b"gz"[..]));
        assert_eq!(extension(b".bashrc"), None);
        assert_eq!(extension(b"Makefile"), None);
        assert_eq!(extension(b"odd."), Some(&b""[..]));
    }
}
