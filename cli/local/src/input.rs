//! Patterns and paths of a command line.

use crate::arguments::{Arguments, Mode, PatternSource};
use anyhow::{Context, Result, bail, ensure};
use std::collections::HashSet;
use std::env;
use std::path::{Path, PathBuf};

const STDIN: &str = "-";

pub(crate) struct Input {
    /// Empty if nothing is searched, or if all files of patterns are empty.
    pub(crate) patterns: Vec<String>,
    pub(crate) paths: Vec<PathBuf>,
    /// The command line names no path.
    pub(crate) is_implicit: bool,
    /// A single file or stdin: paths are not printed.
    pub(crate) is_one_file: bool,
    pub(crate) directory: PathBuf,
}

impl Input {
    pub(crate) fn new(arguments: &mut Arguments) -> Result<Input> {
        let mut is_stdin_read = false;
        let patterns = patterns(arguments, &mut is_stdin_read)?;
        let mut input = Input {
            patterns,
            paths: arguments.positional.drain(..).map(PathBuf::from).collect(),
            is_implicit: false,
            is_one_file: false,
            directory: directory()?,
        };
        if is_stdin_read && input.paths.iter().any(|path| is_stdin(path)) {
            bail!("error: attempted to read patterns from stdin while also searching stdin");
        }
        if let [path] = &input.paths[..] {
            input.is_one_file = is_stdin(path) || !path.is_dir();
        }
        if input.paths.is_empty() {
            let is_search = matches!(arguments.mode, Mode::Search(_));
            let from_stdin = is_search && !is_stdin_read && grep::cli::is_readable_stdin();
            input.is_implicit = true;
            input.is_one_file = from_stdin;
            let path = if from_stdin { STDIN } else { "./" };
            input.paths.push(PathBuf::from(path));
        }
        Ok(input)
    }

    pub(crate) fn is_only_stdin(&self) -> bool {
        matches!(&self.paths[..], [path] if is_stdin(path))
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new(STDIN)
}

/// The first positional argument, unless flags name patterns. Each pattern once.
fn patterns(arguments: &mut Arguments, is_stdin_read: &mut bool) -> Result<Vec<String>> {
    if !matches!(arguments.mode, Mode::Search(_)) {
        return Ok(Vec::new());
    }
    if arguments.patterns.is_empty() {
        ensure!(
            !arguments.positional.is_empty(),
            "ripgrep requires at least one pattern to execute a search"
        );
        let pattern = arguments.positional.remove(0).into_string();
        let pattern = pattern.ok().context("pattern given is not valid UTF-8")?;
        return Ok(vec![pattern]);
    }
    let mut patterns = Vec::new();
    for source in arguments.patterns.drain(..) {
        match source {
            PatternSource::Regexp(pattern) => patterns.push(pattern),
            PatternSource::File(path) if is_stdin(&path) => {
                ensure!(
                    !*is_stdin_read,
                    "error reading -f/--file from stdin: stdin has already been consumed"
                );
                *is_stdin_read = true;
                patterns.extend(grep::cli::patterns_from_stdin()?);
            }
            PatternSource::File(path) => patterns.extend(grep::cli::patterns_from_path(path)?),
        }
    }
    let mut seen = HashSet::new();
    patterns.retain(|pattern| seen.insert(pattern.clone()));
    Ok(patterns)
}

fn directory() -> Result<PathBuf> {
    env::current_dir().or_else(|error| {
        let named = env::var_os("PWD").filter(|path| !path.is_empty());
        named.map(PathBuf::from).with_context(|| {
            format!("failed to get current working directory: {error}\ndid your CWD get deleted?")
        })
    })
}
