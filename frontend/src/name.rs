//! Names of packages, from those of their directories.
//!
//! Backends split them in the same way (`index::document::split_version` says by which rule and why);
//! `cli/tests` compare the two.

/// What stands before the version in the name of a package's directory: `i3-wm` of `i3-wm_4.22`.
pub fn package_name(directory: &[u8]) -> &[u8] {
    let underscore = separators(directory, b'_').last();
    let split = underscore
        .filter(|&at| !directory[..at].contains(&b'_'))
        .or_else(|| {
            let has_dot = |&at: &usize| directory[at..].contains(&b'.');
            separators(directory, b'-').filter(has_dot).last()
        })
        .or(underscore)
        .or_else(|| separators(directory, b'-').next());
    split.map_or(directory, |at| &directory[..at])
}

/// Where `separator` stands before a digit and behind at least one byte.
fn separators(directory: &[u8], separator: u8) -> impl Iterator<Item = usize> {
    let pairs = directory.windows(2).enumerate().skip(1);
    pairs
        .filter(move |(_, pair)| pair[0] == separator && pair[1].is_ascii_digit())
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::package_name;

    #[test]
    fn a_name_stands_before_its_version() {
        for (directory, name) in [
            ("i3-wm_4.22", "i3-wm"),
            ("make-dfsg_4.3-4.1", "make-dfsg"),
            ("windows_x86_64_gnu-0.52.6", "windows_x86_64_gnu"),
            ("md-5-0.10.6", "md-5"),
            ("foo-7-8", "foo"),
            ("foo_1_2", "foo_1"),
            ("linux", "linux"),
            ("_1", "_1"),
            ("", ""),
        ] {
            assert_eq!(package_name(directory.as_bytes()), name.as_bytes());
        }
    }
}
