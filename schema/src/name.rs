//! Names of packages, the same in every process.
//!
//! A directory of `--each` may end with a version. Names of repositories and of directories named
//! alone are their own, as recorded by the index. Names are bytes without NUL, not `str`.

/// Splits a package's directory into name and version, if any. There are two forms:
///
/// 1. Debian's `name_version`: a name without `_`, one `_`, and a version that begins with a digit.
///    `i3-wm_4.22` is `i3-wm` in version `4.22`, `make-dfsg_4.3-4.1` is `make-dfsg`;
/// 2. `name-version` with a version of digits and a dot, at the first such `-`: `serde_json-1.0.1`
///    is `serde_json` in version `1.0.1`, `md-5-0.10.6` is `md-5`.
///
/// All else is a name: `log4j-2`, `utf-8`, `windows_x86_64`. So is a path, such as `team-1.0/tool`.
pub fn split_version(directory: &[u8]) -> (&[u8], Option<&[u8]>) {
    if directory.contains(&b'/') {
        return (directory, None);
    }
    let at = debian_version(directory).or_else(|| dotted_version(directory));
    split_at(directory, at)
}

/// Package name without version: `i3-wm` for `i3-wm_4.22`.
pub fn package_name(directory: &[u8]) -> &[u8] {
    split_version(directory).0
}

/// Own name, else without version.
pub fn name_of(directory: &[u8], has_own_name: bool) -> &[u8] {
    if has_own_name {
        directory
    } else {
        package_name(directory)
    }
}

/// Name in indexes from before November 2026: any number after the last `_` or the first `-` was a
/// version.
pub fn former_name(directory: &[u8]) -> &[u8] {
    if directory.contains(&b'/') {
        return directory;
    }
    let has_dot = |&at: &usize| directory[at..].contains(&b'.');
    let underscore = separators(directory, b'_').last();
    let at = underscore
        .filter(|&at| !directory[..at].contains(&b'_'))
        .or_else(|| separators(directory, b'-').filter(has_dot).last())
        .or(underscore)
        .or_else(|| separators(directory, b'-').next());
    split_at(directory, at).0
}

fn split_at(directory: &[u8], at: Option<usize>) -> (&[u8], Option<&[u8]>) {
    match at {
        Some(at) => (&directory[..at], Some(&directory[at + 1..])),
        None => (directory, None),
    }
}

fn debian_version(directory: &[u8]) -> Option<usize> {
    let at = separators(directory, b'_').next()?;
    let others = directory.iter().filter(|&&byte| byte == b'_').count() - 1;
    (others == 0).then_some(at)
}

fn dotted_version(directory: &[u8]) -> Option<usize> {
    separators(directory, b'-').find(|at| {
        let version = &directory[at + 1..];
        let digits = version.iter().take_while(|byte| byte.is_ascii_digit());
        version.get(digits.count()) == Some(&b'.')
    })
}

/// Offsets of `separator` before a digit.
fn separators(directory: &[u8], separator: u8) -> impl Iterator<Item = usize> {
    let pairs = directory.windows(2).enumerate().skip(1);
    pairs
        .filter(move |(_, pair)| pair[0] == separator && pair[1].is_ascii_digit())
        .map(|(at, _)| at)
}

/// Short form of a ref: without `refs/heads/`, `refs/tags/`, `refs/remotes/`, or `refs/`.
pub fn revision_name(full: &[u8]) -> &[u8] {
    let prefixes: [&[u8]; 4] = [b"refs/heads/", b"refs/tags/", b"refs/remotes/", b"refs/"];
    let mut short = prefixes
        .iter()
        .filter_map(|prefix| full.strip_prefix(*prefix));
    short.next().unwrap_or(full)
}

/// True for a SCIP symbol of one text.
pub fn is_local_symbol(symbol: &[u8]) -> bool {
    symbol.starts_with(b"local ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_split_from_the_name() {
        let table: &[(&str, &str, Option<&str>)] = &[
            ("i3-wm_4.22", "i3-wm", Some("4.22")),
            ("base-files_12", "base-files", Some("12")),
            ("serde_json-1.0.1", "serde_json", Some("1.0.1")),
            ("make-dfsg_4.3-4.1", "make-dfsg", Some("4.3-4.1")),
            ("re2_20220601+dfsg-1", "re2", Some("20220601+dfsg-1")),
            ("md-5-0.10.6", "md-5", Some("0.10.6")),
            (
                "windows_x86_64_gnu-0.52.6",
                "windows_x86_64_gnu",
                Some("0.52.6"),
            ),
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
            ("openssl-3.0", "openssl", Some("3.0")),
            ("_1-2.0", "_1", Some("2.0")),
            ("foo_7", "foo", Some("7")),
            ("foo-7", "foo-7", None),
            ("foo-7-8", "foo-7-8", None),
            ("foo-7a.1", "foo-7a.1", None),
            ("foo-v1.2", "foo-v1.2", None),
            ("foo_1_2", "foo_1_2", None),
            ("foo_bar_1.0-2", "foo_bar_1.0-2", None),
            ("a.b-7", "a.b-7", None),
            ("log4j-2", "log4j-2", None),
            ("utf-8", "utf-8", None),
            ("linux", "linux", None),
            ("linux-", "linux-", None),
            ("linux_", "linux_", None),
            ("gtk-rs", "gtk-rs", None),
            ("base64", "base64", None),
            ("_1", "_1", None),
            ("-1", "-1", None),
            ("-1.0", "-1.0", None),
            ("team-1.0/tool", "team-1.0/tool", None),
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
    fn a_name_may_be_its_own_and_was_split_by_another_rule() {
        for (directory, former, name) in [
            ("i3-wm_4.22", "i3-wm", "i3-wm"),
            ("foo_bar_1.0-2", "foo_bar", "foo_bar_1.0-2"),
            ("windows_x86_64", "windows_x86", "windows_x86_64"),
            ("log4j-2", "log4j", "log4j-2"),
            ("foo_1_2", "foo_1", "foo_1_2"),
            ("foo-7-8", "foo", "foo-7-8"),
            ("a-1.0-2.0", "a-1.0", "a"),
            ("a-1/b", "a-1/b", "a-1/b"),
            ("linux", "linux", "linux"),
        ] {
            let directory = directory.as_bytes();
            assert_eq!(former_name(directory), former.as_bytes());
            assert_eq!(name_of(directory, false), name.as_bytes());
            assert_eq!(name_of(directory, true), directory);
        }
    }

    #[test]
    fn a_name_may_hold_any_bytes() {
        let split = split_version(b"\xff\xfe \n_1\xff");
        assert_eq!(split, (&b"\xff\xfe \n"[..], Some(&b"1\xff"[..])));
    }
}
