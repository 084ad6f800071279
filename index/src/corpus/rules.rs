//! Which files git excludes from a work tree: `.gitignore` and `.git/info/exclude`.
//!
//! [`Rules`] are a chain, deepest `.gitignore` first, the work tree's `info/exclude` last; the
//! first file with a pattern that matches decides, and in a file the last such pattern. The
//! patterns are matched by the `ignore` crate, which follows gitignore(5) but for a few corners
//! that [`pattern`] rewrites: there it excluded what git does not.
//!
//! Three things are deliberately not git's. The index is not read, so a file that is tracked
//! although a pattern matches it counts as excluded. A directory that somebody named as a source
//! is never excluded itself, even when a rule above it says so; the rules are asked about what is
//! inside. And any `.git` makes a work tree, be it a valid repository or not.
//!
//! What cannot be parsed or read (a pattern that is not UTF-8, an unreadable file) excludes
//! nothing: it errs towards being searchable.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// What of a file of patterns is read. A real one has some KiB (the Linux kernel's: 3); the bound
/// keeps a hostile one from becoming a matcher of any size.
const PATTERNS_BYTES_MAX: u64 = 1 << 20;

/// What of a `.git` or `commondir` file is read: a path and a keyword.
const LINK_BYTES_MAX: u64 = 8 << 10;

/// The rules in force in one directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    in_work_tree: bool,
    deepest: Option<Rc<Level>>,
}

/// The patterns of one file, and the files that are asked after it. A chain is dropped level by
/// level on the thread's stack, which is safe: a path of at most 4,096 bytes has 2,048 levels.
#[derive(Debug)]
struct Level {
    matcher: Gitignore,
    /// How many bytes of an absolute path are the directory that the patterns are relative to,
    /// with its last `/`.
    base: usize,
    next: Option<Rc<Level>>,
}

impl Rules {
    /// The rules that the directories above `source` bring, up to the root of its work tree.
    /// None when `source` is the root of a work tree itself, or in no work tree.
    pub(super) fn above(source: &Path) -> Rules {
        let depth = source.ancestors().position(holds_git).unwrap_or(0);
        let parents: Vec<&Path> = source.ancestors().take(depth + 1).skip(1).collect();
        let mut rules = Rules::default();
        for (index, parent) in parents.iter().enumerate().rev() {
            rules = rules.enter(parent, "../".repeat(index + 1).as_bytes());
        }
        rules
    }

    /// The rules inside `directory`, which is where these rules are in force. `label` is how a
    /// person calls the directory: empty, or a relative path that ends with `/`.
    pub(super) fn enter(&self, directory: &Path, label: &[u8]) -> Rules {
        let mut rules = self.clone();
        if holds_git(directory) {
            rules = Rules {
                in_work_tree: true,
                deepest: None,
            };
            let label = [label, b".git/info/exclude"].concat();
            if let Some(exclude) = exclude_file(&directory.join(".git")) {
                rules.push(directory, bounded(&exclude, PATTERNS_BYTES_MAX), &label);
            }
        }
        if rules.in_work_tree {
            let file = directory.join(".gitignore");
            // As git does, so that a link cannot make a pattern of any file of the machine.
            let is_regular = fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file());
            let text = is_regular
                .then(|| bounded(&file, PATTERNS_BYTES_MAX))
                .flatten();
            rules.push(directory, text, &[label, b".gitignore"].concat());
        }
        rules
    }

    /// The rule that excludes the file or directory at this absolute path, if one does:
    /// `file:line:pattern`.
    ///
    /// Only its own path is looked at: that no directory above it is excluded is for the caller
    /// to know, who walks from the top.
    pub(super) fn excludes(&self, absolute: &Path, is_directory: bool) -> Option<String> {
        let mut next = self.deepest.as_deref();
        while let Some(level) = next {
            let path = OsStr::from_bytes(&absolute.as_os_str().as_bytes()[level.base..]);
            match level.matcher.matched(path, is_directory) {
                Match::Ignore(glob) => {
                    // `parse` put the whole rule there.
                    return Some(glob.from().map(Path::to_string_lossy)?.into_owned());
                }
                Match::Whitelist(_) => return None,
                Match::None => next = level.next.as_deref(),
            }
        }
        None
    }

    fn push(&mut self, directory: &Path, text: Option<Vec<u8>>, label: &[u8]) {
        let matcher = text.map_or_else(Gitignore::empty, |text| parse(&text, label));
        if matcher.is_empty() {
            return;
        }
        let bytes = directory.as_os_str().as_bytes();
        let base = bytes.len() + usize::from(!bytes.ends_with(b"/"));
        self.deepest = Some(Rc::new(Level {
            matcher,
            base,
            next: self.deepest.take(),
        }));
    }
}

/// Whether a work tree begins here.
fn holds_git(directory: &Path) -> bool {
    fs::symlink_metadata(directory.join(".git")).is_ok()
}

/// Where the `info/exclude` of the repository behind a `.git` is: in the directory itself, or,
/// when `.git` is a file (`gitdir: PATH`: a submodule or a linked work tree), in the repository
/// that it names, or rather in the one that shares its data with that (`commondir`).
fn exclude_file(git: &Path) -> Option<PathBuf> {
    let mut repository = git.to_owned();
    if git.is_file() {
        let text = bounded(git, LINK_BYTES_MAX)?;
        let target = text.strip_prefix(b"gitdir:")?.trim_ascii();
        repository = git.parent()?.join(OsStr::from_bytes(target));
    }
    if let Some(text) = bounded(&repository.join("commondir"), LINK_BYTES_MAX) {
        repository = repository.join(OsStr::from_bytes(text.trim_ascii()));
    }
    Some(repository.join("info/exclude"))
}

/// The first bytes of a regular file, or of what a link to one points to.
fn bounded(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    // Asked before it is opened: opening a pipe would wait for its other end.
    if !path.is_file() {
        return None;
    }
    let mut text = Vec::new();
    fs::File::open(path)
        .ok()?
        .take(bytes_max)
        .read_to_end(&mut text)
        .ok()?;
    Some(text)
}

/// The patterns of a file, relative to its directory. Those that cannot be parsed are left out.
fn parse(text: &[u8], label: &[u8]) -> Gitignore {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let label = String::from_utf8_lossy(label);
    let mut builder = GitignoreBuilder::new("");
    // To git, a `[` without its `]` matches nothing.
    builder.allow_unclosed_class(false);
    for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let Ok(line) = str::from_utf8(line) else {
            continue;
        };
        let line = line.strip_suffix('\r').unwrap_or(line);
        let Some(pattern) = pattern(line) else {
            continue;
        };
        // The builder keeps the name of the file with the pattern. We give it the whole rule
        // for a name: the pattern as it keeps it is the one that was rewritten.
        let rule = format!("{label}:{}:{}", index + 1, trim(line));
        // Invalid patterns are left out: git, too, only has them match nothing.
        let _ = builder.add_line(Some(PathBuf::from(rule)), &pattern);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// A line of a `.gitignore` as the `ignore` crate has to be given it to read it as git does:
///
/// - only spaces are trimmed at the end, and only those that are not escaped;
/// - `{a,b}` is literal: git has no alternatives;
/// - `***` is `**`, and `**` is `*` where it is but a part of a component;
/// - classes know `[:alpha:]` and `\]`, and `[!a]` is not a slash.
///
/// `None` for a comment, and for what never matches: `/`, `a//b`, a class that is not closed.
fn pattern(line: &str) -> Option<String> {
    let line = trim(line);
    if line.starts_with('#') {
        return None;
    }
    let body = line.strip_prefix('!').unwrap_or(line);
    if matches!(body, "" | "/") || body.contains("//") {
        return None;
    }
    let mut rewritten = String::new();
    let mut rest = body;
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        match next {
            '[' => rest = class(rest, &mut rewritten)?,
            '\\' => rest = escaped(rest, &mut rewritten)?,
            '*' => rest = stars(rest, &mut rewritten),
            _ => literal(next, &mut rewritten),
        }
    }
    let sign = &line[..line.len() - body.len()];
    // The slash of a class (see `class`) is none of the pattern's own, which would bind it to
    // the directory of its file.
    let unbind = if has_slash(&rewritten) && !has_slash(body) {
        "**/"
    } else {
        ""
    };
    Some([sign, unbind, &rewritten].concat())
}

/// Whether a pattern is bound to the directory of its file.
fn has_slash(body: &str) -> bool {
    body.strip_suffix('/').unwrap_or(body).contains('/')
}

/// Without the spaces at the end; `\ ` keeps its own.
fn trim(line: &str) -> &str {
    let trimmed = line.trim_end_matches(' ');
    let backslashes = trimmed
        .bytes()
        .rev()
        .take_while(|&byte| byte == b'\\')
        .count();
    let is_escaped = backslashes % 2 == 1 && trimmed.len() < line.len();
    &line[..trimmed.len() + usize::from(is_escaped)]
}

/// Writes one character of a pattern, which is not in a class nor escaped.
fn literal(next: char, rewritten: &mut String) {
    match next {
        '{' | '}' => rewritten.extend(['\\', next]),
        // In a class, so that the builder does not trim it.
        _ if next.is_whitespace() => rewritten.extend(['[', next, ']']),
        _ => rewritten.push(next),
    }
}

/// Writes what follows a backslash, and returns the rest.
fn escaped<'a>(rest: &'a str, rewritten: &mut String) -> Option<&'a str> {
    let next = rest.chars().next()?;
    match next {
        _ if next.is_whitespace() => literal(next, rewritten),
        // git takes the slash at the end away first, and is left with a backslash of nothing.
        '/' if rest.len() == 1 => return None,
        // No path begins with one.
        '/' if rewritten.is_empty() => return None,
        // So that stars before it, or behind it, are a component.
        '/' => rewritten.push('/'),
        _ => rewritten.extend(['\\', next]),
    }
    Some(&rest[next.len_utf8()..])
}

/// Writes the run of stars whose first stands before `rest`, and returns what follows it. Two or
/// more cross directories if they are a component by themselves, else they are one.
fn stars<'a>(rest: &'a str, rewritten: &mut String) -> &'a str {
    let after = rest.trim_start_matches('*');
    let begins = rewritten.is_empty() || rewritten.ends_with('/');
    let ends = after.is_empty() || after.starts_with('/') || after.starts_with("\\/");
    let crosses = begins && ends && after.len() < rest.len();
    rewritten.push_str(if crosses { "**" } else { "*" });
    after
}

/// POSIX's classes of characters, as they stand in the C locale.
const CLASSES: &[(&str, &str)] = &[
    ("[:alnum:]", "a-zA-Z0-9"),
    ("[:alpha:]", "a-zA-Z"),
    ("[:blank:]", " \t"),
    ("[:digit:]", "0-9"),
    ("[:lower:]", "a-z"),
    ("[:space:]", " \t\r\n\u{b}\u{c}"),
    ("[:upper:]", "A-Z"),
    ("[:xdigit:]", "0-9a-fA-F"),
];

/// Writes the class that `rest` begins behind its `[`, and returns what follows its `]`.
/// `None` if it has none, or holds a slash.
fn class<'a>(mut rest: &'a str, rewritten: &mut String) -> Option<&'a str> {
    let negated = rest.starts_with(['!', '^']);
    rest = &rest[usize::from(negated)..];
    // A `]` is only literal at the beginning, a `-` only at the end.
    let (mut has_bracket, mut has_hyphen, mut body) = (false, false, String::new());
    let mut is_first = true;
    while !rest.starts_with(']') || is_first {
        is_first = false;
        if let Some((name, range)) = CLASSES.iter().find(|(name, _)| rest.starts_with(name)) {
            body.push_str(range);
            rest = &rest[name.len()..];
            continue;
        }
        let is_escaped = rest.starts_with('\\');
        rest = &rest[usize::from(is_escaped)..];
        let next = rest.chars().next()?;
        rest = &rest[next.len_utf8()..];
        match next {
            // No class matches it; the builder's would.
            '/' => return None,
            ']' => has_bracket = true,
            '-' if is_escaped || body.is_empty() || rest.starts_with(']') => has_hyphen = true,
            _ => body.push(next),
        }
    }
    rewritten.push_str(if negated { "[!" } else { "[" });
    rewritten.push_str(if has_bracket { "]" } else { "" });
    rewritten.push_str(&body);
    rewritten.push_str(if negated { "/" } else { "" });
    rewritten.push_str(if has_hyphen { "-]" } else { "]" });
    Some(&rest[1..])
}

#[cfg(test)]
pub(super) mod tests;
