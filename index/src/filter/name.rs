//! Name patterns: regular expressions, whole names, globs.

use crate::plan::{self, BadPattern};
use globset::{GlobBuilder, GlobMatcher};
use regex::bytes::{Regex, RegexBuilder};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Bytes of a compiled regular expression, and again of its lazy DFA. `\w{10}` takes 0.4 MB.
pub const FILTER_BYTES_MAX: usize = 1 << 20;

/// Pattern for a name.
#[derive(Clone, Copy, Debug)]
pub enum NamePattern<'a> {
    /// Case-sensitive regular expression, unanchored.
    Regexp(&'a str),
    /// Case-insensitive regular expression.
    RegexpIgnoringCase(&'a str),
    /// Whole name; for a package, also its directory name.
    Exact(&'a str),
    /// Glob of the whole name; without `/`, of the last path component.
    Glob(&'a str),
}

#[derive(Debug)]
pub(super) enum NameMatcher {
    Regexp(Regex),
    Exact(Vec<u8>),
    /// The flag: match the last path component only.
    Glob(GlobMatcher, bool),
}

impl NameMatcher {
    pub(super) fn compile(value: NamePattern<'_>) -> Result<NameMatcher, BadPattern> {
        match value {
            NamePattern::Exact(text) => Ok(NameMatcher::Exact(text.as_bytes().to_vec())),
            NamePattern::Regexp(text) => NameMatcher::regexp(text, false),
            NamePattern::RegexpIgnoringCase(text) => NameMatcher::regexp(text, true),
            NamePattern::Glob(text) => {
                let glob = compile_glob(text, true)?;
                Ok(NameMatcher::Glob(glob, !text.contains('/')))
            }
        }
    }

    fn regexp(text: &str, ignore_case: bool) -> Result<NameMatcher, BadPattern> {
        // Reports the offset of a mistake; `regex` only renders it.
        plan::parse(text, false)?;
        RegexBuilder::new(text)
            .case_insensitive(ignore_case)
            .nest_limit(plan::NESTING_MAX)
            .size_limit(FILTER_BYTES_MAX)
            .dfa_size_limit(FILTER_BYTES_MAX)
            .build()
            .map(NameMatcher::Regexp)
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => too_large(),
                other => BadPattern::new(other.to_string()),
            })
    }

    pub(super) fn matches(&self, name: &[u8]) -> bool {
        match self {
            NameMatcher::Regexp(regexp) => regexp.is_match(name),
            NameMatcher::Exact(exact) => name == exact,
            NameMatcher::Glob(glob, of_last) => {
                let name = if *of_last { last_component(name) } else { name };
                glob.is_match(Path::new(OsStr::from_bytes(name)))
            }
        }
    }
}

pub(super) fn last_component(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// Compiles a glob; with `separates`, `*` does not match `/`.
pub(super) fn compile_glob(text: &str, separates: bool) -> Result<GlobMatcher, BadPattern> {
    let glob = GlobBuilder::new(text)
        .literal_separator(separates)
        .backslash_escape(true)
        .build();
    let glob = glob.map_err(|error| BadPattern::new(format!("not a glob: {}", error.kind())))?;
    // Alternatives multiply: same limit as a regular expression.
    NameMatcher::regexp(glob.regex(), false).map_err(|_| too_large())?;
    Ok(glob.compile_matcher())
}

fn too_large() -> BadPattern {
    BadPattern::new(format!(
        "too large: it may compile to at most {FILTER_BYTES_MAX} bytes (FILTER_BYTES_MAX)"
    ))
}
