//! Compares matching lines with `rg -a --crlf`, if installed.
//!
//! `\z` is left to the oracle: ripgrep keeps the `\n` of lines without `\r`, so `a\z` finds "a\r\n"
//! but not "a\n". For Trawl both end a line. `\B` beside invalid UTF-8 is not tested: its result
//! depends on lines around, and differs for ripgrep's `--mmap`.

use crate::corpus::{Built, LONG_LINE_BYTES, builds, corpora};
use crate::found::{How, find};
use crate::naive::{self, Document};
use crate::query::{Query, recipes};
use backend::CompiledQuery;
use backend::LINE_BYTES_MAX;
use proptest::prelude::*;
use schema::message::{Expr, Syntax};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// By document and number, without ends.
type Lines = BTreeMap<(PathBuf, u32), Vec<u8>>;

const VERSION_MIN: u32 = 14;

proptest! {
    #![proptest_config(crate::cases(24))]

    #[test]
    fn lines_are_those_of_ripgrep(
        corpus in corpora(LONG_LINE_BYTES),
        how in builds(),
        recipes in prop::collection::vec(recipes(), 6),
    ) {
        if version().is_none_or(|version| version < VERSION_MIN) {
            return Ok(());
        }
        let built = Built::new(&corpus, how);
        let documents = naive::documents(&built.source());
        let is_utf8 = documents.iter().all(|document| std::str::from_utf8(&document.text).is_ok());
        for (recipe, ignore_case) in recipes {
            let query = recipe.query(&documents, ignore_case);
            let text = &query.pattern.text;
            let is_comparable = !text.contains(['\0', '\r'])
                && !text.contains(r"\z")
                && (is_utf8 || !text.contains(r"\B"));
            if is_comparable {
                let (ours, theirs) = (ours(&built, &query), theirs(&built, &documents, &query));
                let [more, less] = [(&ours, &theirs), (&theirs, &ours)].map(|(a, b)| without(a, b));
                prop_assert!(ours == theirs, "{query:?}: only ours {more:?}, only ripgrep's {less:?}");
            }
        }
    }
}

fn version() -> Option<u32> {
    let output = Command::new("rg").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.strip_prefix("ripgrep ")?
        .split('.')
        .next()?
        .parse()
        .ok()
}

fn without<'a>(a: &'a Lines, b: &Lines) -> Vec<(&'a (PathBuf, u32), &'a Vec<u8>)> {
    let is_new = |(key, text): &(&(PathBuf, u32), &Vec<u8>)| b.get(*key) != Some(*text);
    a.iter().filter(is_new).collect()
}

fn ours(built: &Built, query: &Query) -> Lines {
    let expr = Expr::Pattern(query.pattern.clone());
    let compiled =
        CompiledQuery::new(&expr, false).unwrap_or_else(|bad| panic!("{query:?}: {bad}"));
    let found = find(&built.index.shards, &compiled, How::all(0));
    let mut lines = Lines::new();
    for batch in found.batches() {
        let path = Path::new(OsStr::from_bytes(&batch.package));
        let path = path.join(OsStr::from_bytes(&batch.path));
        for line in batch.lines {
            lines.insert((path.clone(), line.number), line.text);
        }
    }
    comparable(lines)
}

fn theirs(built: &Built, documents: &[Document], query: &Query) -> Lines {
    let mut command = Command::new("rg");
    command
        .args(["--no-config", "-a", "--crlf", "--no-ignore", "--hidden"])
        .args(["-n", "--no-heading", "--null", "--color=never"]);
    if query.pattern.syntax == Syntax::Literal {
        command.arg("-F");
    }
    if query.pattern.ignore_case {
        command.arg("-i");
    }
    command.arg("-e").arg(&query.pattern.text).arg(".");
    let output = command.current_dir(built.source()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() < Some(2), "{query:?}: {said}");
    let searchable: BTreeSet<PathBuf> = documents
        .iter()
        .map(|document| {
            let path = Path::new(OsStr::from_bytes(&document.package));
            path.join(OsStr::from_bytes(&document.path))
        })
        .collect();
    let mut lines = parse(&output.stdout);
    lines.retain(|(path, _), _| searchable.contains(path));
    comparable(lines)
}

/// Records of path, NUL, number, colon, line.
fn parse(mut output: &[u8]) -> Lines {
    let mut lines = Lines::new();
    while !output.is_empty() {
        let mut until = |end| {
            let at = output
                .iter()
                .position(|&byte| byte == end)
                .expect("a whole record");
            let (before, behind) = output.split_at(at);
            output = &behind[1..];
            before
        };
        let path = Path::new(OsStr::from_bytes(until(0)))
            .strip_prefix(".")
            .unwrap();
        let number = str::from_utf8(until(b':')).unwrap().parse().unwrap();
        lines.insert((path.to_owned(), number), until(b'\n').to_vec());
    }
    lines
}

/// Removes known differences: windows of long lines (the oracle checks them), and ripgrep's `\r\n`
/// on a last line without end. No corpus line is near the limit.
fn comparable(mut lines: Lines) -> Lines {
    for text in lines.values_mut() {
        if text.len() >= LINE_BYTES_MAX {
            text.clear();
        }
        while text.pop_if(|byte| *byte == b'\r').is_some() {}
    }
    lines
}
