//! Files that git excludes from a work tree: `.gitignore` and `.git/info/exclude`.
//!
//! [`Rules`] are a chain from the deepest `.gitignore` to `info/exclude`. The first file with a
//! match decides, by its last match. The `ignore` crate matches; [`pattern`] rewrites what it reads
//! differently from gitignore(5). Tracked files are always searchable; without a readable git index
//! the patterns decide alone.
//!
//! Deliberate differences from git:
//! - a directory given as a source is never excluded itself;
//! - any `.git` marks a work tree, even of an invalid repository;
//! - `core.excludesFile` is not read: the same tree gives the same result for every user.
//!
//! Unreadable or invalid input excludes nothing.

use super::work_tree::{WorkTree, base, bounded};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes read of a pattern file. Real ones have some KiB (Linux kernel: 3).
const PATTERNS_BYTES_MAX: u64 = 1 << 20;

#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    work_tree: Option<Arc<WorkTree>>,
    deepest: Option<Arc<Level>>,
    /// Rule that excludes the directory; only tracked files count.
    excluded_by: Option<Arc<str>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Searchable,
    /// Excluded directory with tracked files.
    PartlyTracked(String),
    /// Excluding rule: `file:line:pattern`.
    Excluded(String),
}

/// Dropped recursively, at most 2,048 levels of a 4,096-byte path.
#[derive(Debug)]
struct Level {
    matcher: Gitignore,
    /// Bytes of the directory with its last `/`.
    base: usize,
    next: Option<Arc<Level>>,
}

impl Rules {
    pub(super) fn above(source: &Path) -> Rules {
        let mut rules = Rules::default();
        for (index, parent) in parents(source).iter().enumerate().rev() {
            rules = rules.enter(parent, "../".repeat(index + 1).as_bytes());
        }
        rules
    }

    /// `label`: name of the directory in messages, empty or with a final `/`.
    pub(super) fn enter(&self, directory: &Path, label: &[u8]) -> Rules {
        let mut rules = self.clone();
        if let Some(work_tree) = WorkTree::at(directory, label) {
            let text = bounded(&work_tree.exclude_file(), PATTERNS_BYTES_MAX);
            rules = Rules {
                work_tree: Some(Arc::new(work_tree)),
                ..Rules::default()
            };
            rules.push(directory, text, &[label, b".git/info/exclude"].concat());
        }
        if rules.work_tree.is_some() {
            let file = directory.join(".gitignore");
            // As in git: a link could load any file.
            let is_regular = fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file());
            let text = is_regular.then(|| bounded(&file, PATTERNS_BYTES_MAX));
            rules.push(directory, text.flatten(), &[label, b".gitignore"].concat());
        }
        rules
    }

    pub(super) fn excluded_by(mut self, rule: &str) -> Rules {
        self.excluded_by = Some(rule.into());
        self
    }

    pub(super) fn work_tree(&self) -> Option<&Arc<WorkTree>> {
        self.work_tree.as_ref()
    }

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

    fn pattern_of(&self, absolute: &Path, is_directory: bool) -> Option<String> {
        let mut next = self.deepest.as_deref();
        while let Some(level) = next {
            let path = OsStr::from_bytes(&absolute.as_os_str().as_bytes()[level.base..]);
            match level.matcher.matched(path, is_directory) {
                Match::Ignore(glob) => {
                    // Stored there by `parse`.
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
        self.deepest = Some(Arc::new(Level {
            matcher,
            base: base(directory),
            next: self.deepest.take(),
        }));
    }
}

pub(super) fn parents(source: &Path) -> Vec<&Path> {
    let holds_git = |directory: &Path| fs::symlink_metadata(directory.join(".git")).is_ok();
    let depth = source.ancestors().position(holds_git).unwrap_or(0);
    source.ancestors().take(depth + 1).skip(1).collect()
}

/// Drops invalid patterns.
fn parse(text: &[u8], label: &[u8]) -> Gitignore {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let label = String::from_utf8_lossy(label);
    let mut builder = GitignoreBuilder::new("");
    // In git, an unclosed `[` matches nothing.
    builder.allow_unclosed_class(false);
    for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let Ok(line) = str::from_utf8(line) else {
            continue;
        };
        let line = line.strip_suffix('\r').unwrap_or(line);
        let Some(pattern) = pattern(line) else {
            continue;
        };
        // The whole rule, since the pattern is stored rewritten.
        let rule = format!("{label}:{}:{}", index + 1, trim(line));
        // In git, invalid patterns match nothing.
        let _ = builder.add_line(Some(PathBuf::from(rule)), &pattern);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Rewrites a line of a `.gitignore` so that the `ignore` crate reads it as git does:
///
/// - only unescaped trailing spaces are trimmed;
/// - `{a,b}` is literal: git has no alternatives;
/// - `***` is `**`; `**` within a component is `*`;
/// - classes support `[:alpha:]` and `\]`, and `[!a]` does not match a slash.
///
/// Returns `None` for comments and impossible patterns: `/`, `a//b`, an unclosed class.
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
    // Only its own slash binds a pattern, not one added by `class`.
    let unbind = if has_slash(&rewritten) && !has_slash(body) {
        "**/"
    } else {
        ""
    };
    Some([sign, unbind, &rewritten].concat())
}

fn has_slash(body: &str) -> bool {
    body.strip_suffix('/').unwrap_or(body).contains('/')
}

/// Keeps an escaped space.
fn trim(line: &str) -> &str {
    let trimmed = line.trim_end_matches(' ');
    let bytes = trimmed.bytes().rev();
    let backslashes = bytes.take_while(|&byte| byte == b'\\').count();
    let is_escaped = backslashes % 2 == 1 && trimmed.len() < line.len();
    &line[..trimmed.len() + usize::from(is_escaped)]
}

fn literal(next: char, rewritten: &mut String) {
    match next {
        '{' | '}' => rewritten.extend(['\\', next]),
        // Protected from trimming by the builder.
        _ if next.is_whitespace() => rewritten.extend(['[', next, ']']),
        _ => rewritten.push(next),
    }
}

fn escaped<'a>(rest: &'a str, rewritten: &mut String) -> Option<&'a str> {
    let next = rest.chars().next()?;
    match next {
        _ if next.is_whitespace() => literal(next, rewritten),
        // git removes the final slash first: a lone backslash.
        '/' if rest.len() == 1 => return None,
        // No path begins with a slash.
        '/' if rewritten.is_empty() => return None,
        // Adjacent stars then form a component.
        '/' => rewritten.push('/'),
        _ => rewritten.extend(['\\', next]),
    }
    Some(&rest[next.len_utf8()..])
}

/// Writes a run of stars that starts before `rest` and returns the text after. A whole component of
/// several crosses directories; otherwise they are one.
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

/// Writes a class and returns the text after `]`; `None` if unclosed or with a slash.
fn class<'a>(mut rest: &'a str, rewritten: &mut String) -> Option<&'a str> {
    let negated = rest.starts_with(['!', '^']);
    rest = &rest[usize::from(negated)..];
    // `]` is literal only at the beginning, `-` only at the end.
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
            // In git no class matches a slash.
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
