//! Which files git excludes from a work tree: `.gitignore` and `.git/info/exclude`.
//!
//! [`Rules`] are a chain: the deepest `.gitignore` first, the work tree's `info/exclude` last. The
//! first file with a matching pattern decides, and inside a file the last such pattern. The `ignore`
//! crate matches the patterns. It follows gitignore(5) except in a few cases, where it would exclude
//! files that git does not; [`pattern`] rewrites those.
//!
//! A file that git tracks is searchable whatever the patterns say, as git searches it: they only tell git
//! what not to add. [`WorkTree`] reads the git index when a pattern matches. Without a readable index the
//! patterns decide alone.
//!
//! Three things deliberately differ from git. A directory that was given as a source is never excluded
//! itself, even by a rule above it; rules apply to its content. Any `.git` marks a work tree, whether or not
//! it is a valid repository. And `core.excludesFile` is not read: it is a setting of the user, and the same tree
//! gives the same result for every user.
//!
//! Input that cannot be parsed or read (a pattern that is not UTF-8, an unreadable file) excludes
//! nothing: in doubt a file is searchable.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::work_tree::{WorkTree, base, bounded};

/// Bytes of a pattern file that are read. Real ones have some KiB (the Linux kernel's: 3); the bound
/// limits the matcher that a hostile file can cause.
const PATTERNS_BYTES_MAX: u64 = 1 << 20;

/// The rules in force in one directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    work_tree: Option<Rc<WorkTree>>,
    deepest: Option<Rc<Level>>,
    /// The rule that excludes the directory itself, in which only tracked files count.
    excluded_by: Option<Rc<str>>,
}

/// What the rules say of a file or directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Searchable,
    /// It is a directory that this rule excludes, but something below it is tracked.
    PartlyTracked(String),
    /// This rule excludes it: `file:line:pattern`.
    Excluded(String),
}

/// The patterns of one file, and the next file of the chain. A chain is dropped recursively, which is
/// safe: a path of at most 4,096 bytes has at most 2,048 levels.
#[derive(Debug)]
struct Level {
    matcher: Gitignore,
    /// Length in bytes of the directory that the patterns are relative to, with its last `/`.
    base: usize,
    next: Option<Rc<Level>>,
}

impl Rules {
    /// Returns the rules of the directories above `source`, up to the root of its work tree. There are
    /// none when `source` is the root of a work tree itself, or in no work tree.
    pub(super) fn above(source: &Path) -> Rules {
        let mut rules = Rules::default();
        for (index, parent) in parents(source).iter().enumerate().rev() {
            rules = rules.enter(parent, "../".repeat(index + 1).as_bytes());
        }
        rules
    }

    /// Returns the rules inside `directory`, to which these rules apply. `label` is the directory's name
    /// in messages: empty, or a relative path that ends with `/`.
    pub(super) fn enter(&self, directory: &Path, label: &[u8]) -> Rules {
        let mut rules = self.clone();
        if let Some(work_tree) = WorkTree::at(directory, label) {
            let text = bounded(&work_tree.exclude_file(), PATTERNS_BYTES_MAX);
            rules = Rules {
                work_tree: Some(Rc::new(work_tree)),
                ..Rules::default()
            };
            rules.push(directory, text, &[label, b".git/info/exclude"].concat());
        }
        if rules.work_tree.is_some() {
            let file = directory.join(".gitignore");
            // Like git: otherwise a link could make patterns of any file of the machine.
            let is_regular = fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file());
            let text = is_regular
                .then(|| bounded(&file, PATTERNS_BYTES_MAX))
                .flatten();
            rules.push(directory, text, &[label, b".gitignore"].concat());
        }
        rules
    }

    /// The same rules in a directory that one of them excludes.
    pub(super) fn excluded_by(mut self, rule: &str) -> Rules {
        self.excluded_by = Some(rule.into());
        self
    }

    /// The innermost work tree.
    pub(super) fn work_tree(&self) -> Option<&Rc<WorkTree>> {
        self.work_tree.as_ref()
    }

    /// Judges the file or directory at this absolute path. Directories above it are not checked: the caller
    /// walks from the top.
    pub(super) fn judge(&self, absolute: &Path, is_directory: bool) -> Verdict {
        let above = self.excluded_by.as_deref().map(str::to_owned);
        let Some(rule) = above.or_else(|| self.pattern_of(absolute, is_directory)) else {
            return Verdict::Searchable;
        };
        let work_tree = self.work_tree.as_ref();
        if !work_tree.is_some_and(|tree| tree.tracks(absolute, is_directory)) {
            Verdict::Excluded(rule)
        } else if is_directory {
            Verdict::PartlyTracked(rule)
        } else {
            Verdict::Searchable
        }
    }

    /// Returns the rule that matches a path, if one does.
    fn pattern_of(&self, absolute: &Path, is_directory: bool) -> Option<String> {
        let mut next = self.deepest.as_deref();
        while let Some(level) = next {
            let path = OsStr::from_bytes(&absolute.as_os_str().as_bytes()[level.base..]);
            match level.matcher.matched(path, is_directory) {
                Match::Ignore(glob) => {
                    // `parse` has stored the whole rule there.
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
        self.deepest = Some(Rc::new(Level {
            matcher,
            base: base(directory),
            next: self.deepest.take(),
        }));
    }
}

/// Returns the directories above `source` in its work tree, the nearest first.
pub(super) fn parents(source: &Path) -> Vec<&Path> {
    let holds_git = |directory: &Path| fs::symlink_metadata(directory.join(".git")).is_ok();
    let depth = source.ancestors().position(holds_git).unwrap_or(0);
    source.ancestors().take(depth + 1).skip(1).collect()
}

/// Parses the patterns of a file, which are relative to its directory. Invalid ones are dropped.
fn parse(text: &[u8], label: &[u8]) -> Gitignore {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let label = String::from_utf8_lossy(label);
    let mut builder = GitignoreBuilder::new("");
    // In git, a `[` without `]` matches nothing.
    builder.allow_unclosed_class(false);
    for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let Ok(line) = str::from_utf8(line) else {
            continue;
        };
        let line = line.strip_suffix('\r').unwrap_or(line);
        let Some(pattern) = pattern(line) else {
            continue;
        };
        // The builder stores a file name with each pattern. It gets the whole rule as the name, because
        // it stores the pattern in its rewritten form.
        let rule = format!("{label}:{}:{}", index + 1, trim(line));
        // Invalid patterns are dropped; in git they match nothing.
        let _ = builder.add_line(Some(PathBuf::from(rule)), &pattern);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Rewrites a line of a `.gitignore` so that the `ignore` crate reads it as git does:
///
/// - only spaces are trimmed at the end, and only unescaped ones;
/// - `{a,b}` is literal: git has no alternatives;
/// - `***` is `**`, and `**` is `*` when it is only a part of a component;
/// - classes support `[:alpha:]` and `\]`, and `[!a]` does not match a slash.
///
/// Returns `None` for a comment and for a pattern that never matches: `/`, `a//b`, an unclosed class.
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
    // A slash that `class` has added must not bind the pattern to the directory of its file, as a slash
    // of its own would.
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

/// Trims spaces at the end, except an escaped one.
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

/// Writes a character that is neither in a class nor escaped.
fn literal(next: char, rewritten: &mut String) {
    match next {
        '{' | '}' => rewritten.extend(['\\', next]),
        // A class, so that the builder does not trim it.
        _ if next.is_whitespace() => rewritten.extend(['[', next, ']']),
        _ => rewritten.push(next),
    }
}

/// Writes an escaped character and returns the rest.
fn escaped<'a>(rest: &'a str, rewritten: &mut String) -> Option<&'a str> {
    let next = rest.chars().next()?;
    match next {
        _ if next.is_whitespace() => literal(next, rewritten),
        // git removes the slash at the end first, which leaves a backslash without a character.
        '/' if rest.len() == 1 => return None,
        // No path begins with a slash.
        '/' if rewritten.is_empty() => return None,
        // Unescaped, so that stars before or behind it form a component.
        '/' => rewritten.push('/'),
        _ => rewritten.extend(['\\', next]),
    }
    Some(&rest[next.len_utf8()..])
}

/// Writes consecutive stars, the first of which precedes `rest`, and returns the text behind them. Two
/// or more cross directories when they form a whole component; otherwise they are one star.
fn stars<'a>(rest: &'a str, rewritten: &mut String) -> &'a str {
    let after = rest.trim_start_matches('*');
    let begins = rewritten.is_empty() || rewritten.ends_with('/');
    let ends = after.is_empty() || after.starts_with('/') || after.starts_with("\\/");
    let crosses = begins && ends && after.len() < rest.len();
    rewritten.push_str(if crosses { "**" } else { "*" });
    after
}

/// POSIX character classes in the C locale.
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

/// Writes the class whose `[` precedes `rest` and returns the text behind its `]`. Returns `None` when
/// it is not closed or holds a slash.
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
            // No class matches a slash in git; in the `ignore` crate it would.
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
