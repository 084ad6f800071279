//! Patterns, checked against a table and git itself.

use std::collections::BTreeSet;
use std::process::Command;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::corpus::{sources, walk};

fn excluded(text: &[u8], path: &str) -> Option<String> {
    let mut rules = Rules::default();
    rules.push(Path::new("/top"), Some(text.to_vec()), b".gitignore");
    let absolute = Path::new("/top").join(path.trim_end_matches('/'));
    rules.pattern_of(&absolute, path.ends_with('/'))
}

#[test]
fn patterns_exclude() {
    let table: &[(&str, &[&str], &[&str])] = &[
        ("*.o", &["a.o", "x/y/a.o", ".o"], &["a.oo", "a"]),
        ("/a", &["a", "a/"], &["x/a"]),
        ("a/b", &["a/b"], &["x/a/b", "b"]),
        ("**/a/b", &["a/b", "x/y/a/b"], &["b"]),
        ("a/**", &["a/b", "a/b/c"], &["a/", "b"]),
        ("a/**/b", &["a/b", "a/x/y/b"], &["a"]),
        ("d/", &["d/", "x/d/"], &["d", "x/d"]),
        ("a*b", &["ab", "axb"], &["a/b"]),
        ("a?", &["ab"], &["a", "a/"]),
        ("[a-c]x", &["ax", "cx"], &["dx"]),
        ("[!a-]x", &["bx"], &["ax", "-x", "y/x"]),
        ("[-[\\]a]x", &["-x", "[x", "]x", "ax"], &["bx"]),
        ("[!a]x", &["bx", "y/bx"], &["ax", "x", "y/x"]),
        ("y[!a]x", &["ybx"], &["y/x", "yax"]),
        ("a***b", &["axb"], &["a/b"]),
        ("/***/b", &["b", "x/y/b"], &["bb"]),
        ("[]-]x", &["]x", "-x"], &["ax"]),
        ("[\\]a]x", &["]x", "ax"], &["\\x"]),
        ("[a\\-c]x", &["ax", "-x", "cx"], &["bx"]),
        ("[[:digit:]_]x", &["7x", "_x"], &["dx", ":x"]),
        ("x[/a]y", &[], &["x/y", "xay"]),
        ("a[", &[], &["a[", "a"]),
        ("*.{c,h}", &["x.{c,h}"], &["x.c", "x.h"]),
        ("\\#a", &["#a"], &["a"]),
        ("#a", &[], &["#a", "a"]),
        ("\\!a", &["!a"], &["a"]),
        ("a  ", &["a"], &["a  "]),
        ("a\\ ", &["a "], &["a"]),
        ("a\\  ", &["a "], &["a", "a  "]),
        ("a b", &["a b"], &["ab"]),
        ("a\t", &["a\t"], &["a"]),
        ("a\r\nb\r", &["a", "b"], &["c"]),
        ("a\\", &[], &["a", "a\\"]),
        ("\u{feff}a", &["a"], &["\u{feff}a"]),
        ("!\n/\n!/\n//\n", &[], &["a", "a/"]),
        ("*\n!a\n!b/", &["b", "c", "a/c"], &["a", "b/", "c/a"]),
        ("!a\na", &["a"], &[]),
    ];
    for (text, ins, outs) in table {
        for path in *ins {
            assert!(
                excluded(text.as_bytes(), path).is_some(),
                "{text:?} excludes {path:?}"
            );
        }
        for path in *outs {
            assert_eq!(
                excluded(text.as_bytes(), path),
                None,
                "{text:?} lets {path:?} in"
            );
        }
    }
}

#[test]
fn reports_the_rule_as_it_was_written() {
    let rule = |text: &[u8], path| excluded(text, path).unwrap();
    assert_eq!(rule(b"# o\n\n*.{o} \r\n", "a.{o}"), ".gitignore:3:*.{o}");
    assert_eq!(rule(b"[\\]]\n", "]"), ".gitignore:1:[\\]]");
}

#[test]
fn an_invalid_line_does_not_affect_the_others() {
    assert!(excluded(b"[z-a]\n\xff\xfe\nb", "b").is_some());
}

#[test]
fn patterns_beyond_the_limit_are_not_read() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("patterns");
    fs::write(&file, vec![b'x'; 100]).unwrap();
    assert_eq!(bounded(&file, 10).unwrap().len(), 10);
    assert_eq!(bounded(&root.path().join("none"), 10), None);
    assert_eq!(bounded(root.path(), 10), None);
}

/// Runs git without user configuration; `None` without git.
pub(in crate::corpus) fn git(directory: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new("git");
    command
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    command
        .env("HOME", directory)
        .current_dir(directory)
        .args(arguments);
    let output = command.output().ok()?;
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    Some(output.stdout)
}

/// Files that git tracks or would add.
pub(in crate::corpus) fn files_of_git(directory: &Path) -> Option<BTreeSet<Vec<u8>>> {
    let listed = git(directory, &["ls-files", "-co", "--exclude-standard", "-z"])?;
    let paths = listed
        .split(|&byte| byte == 0)
        .filter(|path| !path.is_empty());
    Some(paths.map(<[u8]>::to_vec).collect())
}

fn files_of_walk(directory: &Path) -> BTreeSet<Vec<u8>> {
    let source = sources(&[directory.to_owned()], false).unwrap().remove(0);
    let files = walk(&source, false, 1).unwrap().files;
    files.into_iter().map(|file| file.path).collect()
}

const DIRECTORIES: [&str; 7] = ["", "a", "b", "a/b", "a/b/a", "ab", "{a,b}"];
const NAMES: [&str; 12] = [
    "aa", "ba", "a b", "a ", "a\t", "#a", "!a", "c]", "c[", "c\\", "-", "{b,c}",
];

/// `None` without git.
fn work_tree() -> Option<TempDir> {
    let root = tempfile::tempdir().unwrap();
    git(root.path(), &["init", "-q", "."])?;
    for directory in DIRECTORIES {
        let directory = root.path().join(directory);
        fs::create_dir_all(&directory).unwrap();
        for name in NAMES {
            fs::write(directory.join(name), "").unwrap();
        }
    }
    Some(root)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(64)
    })]

    /// Oracle: searchable files are those that git lists, tracked or not.
    #[test]
    fn random_patterns_exclude_what_git_excludes(
        outer in lines(),
        inner in lines(),
        exclude in lines(),
        tracked in prop::collection::vec(0..DIRECTORIES.len() * NAMES.len(), 0..5),
    ) {
        let Some(root) = work_tree() else { return Ok(()) };
        let path = |at: usize| Path::new(DIRECTORIES[at / NAMES.len()]).join(NAMES[at % NAMES.len()]);
        let tracked: Vec<PathBuf> = tracked.into_iter().map(path).collect();
        let tracked = tracked.iter().filter_map(|path| path.to_str());
        git(root.path(), &["update-index", "--add", "--"].into_iter().chain(tracked).collect::<Vec<_>>());
        fs::write(root.path().join(".gitignore"), &outer).unwrap();
        fs::write(root.path().join("a/.gitignore"), &inner).unwrap();
        fs::write(root.path().join(".git/info/exclude"), &exclude).unwrap();
        let (ours, theirs) = (files_of_walk(root.path()), files_of_git(root.path()).unwrap());
        let difference: Vec<_> =
            ours.symmetric_difference(&theirs).map(|path| String::from_utf8_lossy(path)).collect();
        prop_assert!(difference.is_empty(), "{difference:?}");
    }
}

fn lines() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b",
        "a",
        "b",
        "c",
        "*",
        "*",
        "?",
        "/",
        "/",
        "/**/",
        "/**",
        "[ab]",
        "[!a]",
        "[^b]",
        "[]c]",
        "[!a-]",
        "[-[\\]a]",
        "[\\]a]",
        "[a-b]",
        "[[:alpha:]]",
        "{a,b}",
        "{",
        "}",
        " ",
        "\\ ",
        "\\",
        "\\a",
        "#",
        "!",
        "-",
        "\t",
    ]);
    let line = (
        prop::bool::weighted(0.2),
        prop::collection::vec(piece, 1..5),
    )
        .prop_map(|(negated, pieces)| {
            ["", "!"][usize::from(negated)].to_owned() + &pieces.concat()
        });
    let line = line.prop_filter("is git's own", |line| !is_quirk(line));
    prop::collection::vec(line, 0..4).prop_map(|lines| lines.join("\n"))
}

/// Git deviates from its manual here: `a**/` (it strips `a` and then sees a leading `**/`), and
/// stars around an escaped slash.
fn is_quirk(line: &str) -> bool {
    let body = line.strip_prefix('!').unwrap_or(line);
    let mut runs = body
        .match_indices("**")
        .map(|(at, _)| body[..at].trim_end_matches('*'));
    line.contains("\\/") || runs.any(|before| !before.is_empty() && !before.ends_with('/'))
}
