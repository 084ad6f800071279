//! Addresses within the site. Every value is percent-encoded.

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

/// Returns the address of a file at a line; of its beginning if the line is 0.
pub(super) fn show_href(package: &[u8], path: &[u8], line: u32) -> String {
    let (package, path) = (encode(package), encode(path));
    match line {
        0 => format!("/show?package={package}&path={path}"),
        line => format!("/show?package={package}&path={path}&line={line}#L{line}"),
    }
}

/// Returns the address of a file from a line on.
pub(super) fn window_href(package: &[u8], path: &[u8], first: u32) -> String {
    let (package, path) = (encode(package), encode(path));
    format!("/show?package={package}&path={path}&first={first}")
}

/// Returns the address of a file's bytes.
pub(super) fn file_href(package: &[u8], path: &[u8]) -> String {
    format!(
        "/api/v2/file?package={}&path={}",
        encode(package),
        encode(path)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_every_byte_of_a_value() {
        assert_eq!(
            show_href(b"p_1", b"x/\xff#", 3),
            "/show?package=p_1&path=x/%FF%23&line=3#L3"
        );
    }
}
