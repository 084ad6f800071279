//! Names of packages, as every process must read them.
//!
//! A package is a directory whose name may end in a version. Names may hold any bytes but `/` and
//! NUL, so nothing here is a `str`.

/// Splits a package directory's name into the package's name and its version, if it has one:
/// `i3-wm_4.22` is `i3-wm` in version `4.22`.
///
/// Debian separates them with `_` and most others with `-`, and both characters also occur inside
/// names and versions. Candidates are the separators that a digit follows and a name precedes:
///
/// 1. the last `_`, if no other `_` precedes it: Debian's names have none, and
///    `make-dfsg_4.3-4.1` has its `-` in the version;
/// 2. else the last `-` that a dot follows: `md-5-0.10.6` is `md-5` in version 0.10.6, and
///    `windows_x86_64_gnu-0.52.6` has version 0.52.6;
/// 3. else the last `_`, else the first `-`: `foo-7` is `foo` in version 7.
///
/// A path, such as the name of a git repository below others, has no version: `team-1/tool` is not `team`.
pub fn split_version(directory: &[u8]) -> (&[u8], Option<&[u8]>) {
    if directory.contains(&b'/') {
        return (directory, None);
    }
    let has_dot = |&at: &usize| directory[at..].contains(&b'.');
    let underscore = separators(directory, b'_').last();
    let split = underscore
        .filter(|&at| !directory[..at].contains(&b'_'))
        .or_else(|| separators(directory, b'-').filter(has_dot).last())
        .or(underscore)
        .or_else(|| separators(directory, b'-').next());
    match split {
        Some(at) => (&directory[..at], Some(&directory[at + 1..])),
        None => (directory, None),
    }
}

/// Returns a package's name without its version: `i3-wm` for `i3-wm_4.22`.
pub fn package_name(directory: &[u8]) -> &[u8] {
    split_version(directory).0
}

/// Returns the offsets of `separator` that a digit follows, the first byte excluded; ascending.
fn separators(directory: &[u8], separator: u8) -> impl Iterator<Item = usize> {
    let pairs = directory.windows(2).enumerate().skip(1);
    pairs
        .filter(move |(_, pair)| pair[0] == separator && pair[1].is_ascii_digit())
        .map(|(at, _)| at)
}

/// Returns the short form of a ref's full name: without `refs/heads/`, `refs/tags/`, `refs/remotes/`, or
/// `refs/`.
pub fn revision_name(full: &[u8]) -> &[u8] {
    let prefixes: [&[u8]; 4] = [b"refs/heads/", b"refs/tags/", b"refs/remotes/", b"refs/"];
    let mut short = prefixes
        .iter()
        .filter_map(|prefix| full.strip_prefix(*prefix));
    short.next().unwrap_or(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_split_from_the_name() {
        let table: &[(&str, &str, Option<&str>)] = &[
            ("i3-wm_4.22", "i3-wm", Some("4.22")),
            ("serde_json-1.0.1", "serde_json", Some("1.0.1")),
            ("make-dfsg_4.3-4.1", "make-dfsg", Some("4.3-4.1")),
            ("re2_20220601+dfsg-1", "re2", Some("20220601+dfsg-1")),
            ("md-5-0.10.6", "md-5", Some("0.10.6")),
            (
                "windows_x86_64_gnu-0.52.6",
                "windows_x86_64_gnu",
                Some("0.52.6"),
            ),
            ("foo_bar_1.0-2", "foo_bar", Some("1.0-2")),
            (
                "wasi-0.11.0+wasi-snapshot-preview1",
                "wasi",
                Some("0.11.0+wasi-snapshot-preview1"),
            ),
            ("clap-3.0.0-beta.2", "clap", Some("3.0.0-beta.2")),
            (
                "node-express_4.18.2+~4.17.14-1",
                "node-express",
                Some("4.18.2+~4.17.14-1"),
            ),
            ("foo-7", "foo", Some("7")),
            ("foo-7-8", "foo", Some("7-8")),
            ("foo_1_2", "foo_1", Some("2")),
            ("a.b-7", "a.b", Some("7")),
            ("foo_7", "foo", Some("7")),
            ("linux", "linux", None),
            ("linux-", "linux-", None),
            ("linux_", "linux_", None),
            ("gtk-rs", "gtk-rs", None),
            ("base64", "base64", None),
            ("_1", "_1", None),
            ("-1", "-1", None),
            ("_1-2.0", "_1", Some("2.0")),
            ("team-1/tool", "team-1/tool", None),
            ("team/tool_1.0", "team/tool_1.0", None),
            ("", "", None),
        ];
        for &(directory, name, version) in table {
            let found = split_version(directory.as_bytes());
            assert_eq!(
                found,
                (name.as_bytes(), version.map(str::as_bytes)),
                "{directory}"
            );
        }
    }

    #[test]
    fn a_name_may_hold_any_bytes() {
        let split = split_version(b"\xff\xfe \n_1\xff");
        assert_eq!(split, (&b"\xff\xfe \n"[..], Some(&b"1\xff"[..])));
    }
}
