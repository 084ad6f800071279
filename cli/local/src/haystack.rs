//! Files to search, found by walking directories with the rules of the ignore files.

use crate::arguments::{Arguments, Mode, Sort, SortKey, TypeChange};
use crate::diagnostics::Diagnostics;
use crate::input::Input;
use anyhow::Result;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{DirEntry, WalkBuilder};
use std::path::Path;
use std::time::SystemTime;

pub(crate) struct Haystack {
    entry: DirEntry,
    /// No path was named, so paths do not begin with `./`.
    is_implicit: bool,
}

impl Haystack {
    /// Searchable file of a step of the walk; reports its error.
    pub(crate) fn new(
        step: Result<DirEntry, ignore::Error>,
        is_implicit: bool,
        diagnostics: &Diagnostics,
    ) -> Option<Haystack> {
        let entry = match step {
            Ok(entry) => entry,
            Err(error) => {
                diagnostics.error(&error);
                return None;
            }
        };
        if let Some(error) = entry.error() {
            diagnostics.ignore_error(error);
        }
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let haystack = Haystack { entry, is_implicit };
        (haystack.is_named() || is_file).then_some(haystack)
    }

    pub(crate) fn path(&self) -> &Path {
        let path = self.entry.path();
        match path.strip_prefix("./") {
            Ok(rest) if self.is_implicit => rest,
            _ => path,
        }
    }

    pub(crate) fn is_stdin(&self) -> bool {
        self.entry.is_stdin()
    }

    /// Stdin, or a file on the command line: it is searched whatever it is.
    pub(crate) fn is_named(&self) -> bool {
        self.is_stdin() || (self.entry.depth() == 0 && !self.is_directory())
    }

    fn is_directory(&self) -> bool {
        let Some(kind) = self.entry.file_type() else {
            return false;
        };
        kind.is_dir() || (self.entry.path_is_symlink() && self.entry.path().is_dir())
    }

    fn time(&self, key: SortKey) -> Option<SystemTime> {
        let metadata = self.path().metadata().ok()?;
        let time = match key {
            SortKey::Modified => metadata.modified(),
            SortKey::Accessed => metadata.accessed(),
            SortKey::Created => metadata.created(),
            SortKey::Path => return None,
        };
        time.ok()
    }
}

/// Walk over the paths of a command line.
pub(crate) fn walk(
    arguments: &Arguments,
    input: &Input,
    threads: usize,
    diagnostics: &Diagnostics,
) -> Result<WalkBuilder> {
    let mut builder = WalkBuilder::new(&input.paths[0]);
    for path in &input.paths[1..] {
        builder.add(path);
    }
    if !arguments.no_ignore_files {
        for path in &arguments.ignore_file {
            if let Some(error) = builder.add_ignore(path) {
                diagnostics.ignore_error(&error);
            }
        }
    }
    let reads_git = !arguments.no_ignore_vcs;
    builder
        .max_depth(arguments.max_depth)
        .follow_links(arguments.follow)
        .max_filesize(arguments.max_filesize)
        .threads(threads)
        .same_file_system(arguments.one_file_system)
        .skip_stdout(matches!(arguments.mode, Mode::Search(_)))
        .overrides(globs(arguments, input)?)
        .types(types(arguments)?)
        .hidden(!arguments.hidden)
        .parents(!arguments.no_ignore_parent)
        .ignore(!arguments.no_ignore_dot)
        .git_global(reads_git && !arguments.no_ignore_global)
        .git_ignore(reads_git)
        .git_exclude(reads_git && !arguments.no_ignore_exclude)
        .require_git(!arguments.no_require_git)
        .ignore_case_insensitive(arguments.ignore_file_case_insensitive)
        .current_dir(&input.directory);
    if !arguments.no_ignore_dot {
        builder.add_custom_ignore_filename(".rgignore");
    }
    if arguments.sort.is_some_and(is_walked_in_order) {
        builder.sort_by_file_name(|a, b| a.cmp(b));
    }
    Ok(builder)
}

/// By component: `a/b` comes before `a+`.
pub(crate) fn is_walked_in_order(sort: Sort) -> bool {
    sort.key == SortKey::Path && !sort.is_reverse
}

/// Sorts the files of a walk in an order that is not its own. Files without a time are last, or
/// first in reverse.
pub(crate) fn sorted(haystacks: impl Iterator<Item = Haystack>, sort: Sort) -> Vec<Haystack> {
    if sort.key == SortKey::Path {
        let mut haystacks: Vec<_> = haystacks.collect();
        haystacks.sort_by(|a, b| b.path().cmp(a.path()));
        return haystacks;
    }
    let timed = haystacks.map(|haystack| (haystack.time(sort.key), haystack));
    let mut timed: Vec<_> = timed.collect();
    timed.sort_by(|(a, _), (b, _)| {
        let order = match (a, b) {
            (Some(a), Some(b)) => a.cmp(b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        if sort.is_reverse {
            order.reverse()
        } else {
            order
        }
    });
    timed.into_iter().map(|(_, haystack)| haystack).collect()
}

pub(crate) fn types(arguments: &Arguments) -> Result<Types> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for change in &arguments.type_changes {
        match change {
            TypeChange::Clear(name) => builder.clear(name),
            TypeChange::Select(name) => builder.select(name),
            TypeChange::Negate(name) => builder.negate(name),
            TypeChange::Add(definition) => {
                builder.add_def(definition)?;
                &mut builder
            }
        };
    }
    Ok(builder.build()?)
}

pub(crate) fn globs(arguments: &Arguments, input: &Input) -> Result<Override> {
    let mut builder = OverrideBuilder::new(&input.directory);
    builder.case_insensitive(arguments.glob_case_insensitive)?;
    for glob in &arguments.globs {
        builder.add(glob)?;
    }
    builder.case_insensitive(true)?;
    for glob in &arguments.iglobs {
        builder.add(glob)?;
    }
    Ok(builder.build()?)
}

/// Paths that `--pre` is for.
pub(crate) fn preprocessed(arguments: &Arguments, input: &Input) -> Result<Override> {
    let mut builder = OverrideBuilder::new(&input.directory);
    for glob in &arguments.pre_glob {
        builder.add(glob)?;
    }
    Ok(builder.build()?)
}
