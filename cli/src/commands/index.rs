//! `trawl index`: builds or updates an index of directories.

mod build;
mod git;
mod popularity;
mod progress;
mod publish;
mod recorded;
mod summary;

pub(super) use build::BuildFlags;
pub(super) use git::{GitFlags, GivenRepositories, check_names};
use publish::PublishFlags;

use super::listener::on_interrupt;
use super::mirror::FetchFlags;
use crate::exit::Exit;
use crate::{terminal, units};
use anyhow::{Result, bail, ensure};
use index::corpus::{Packages, Source};
use index::directory::IndexError;
use index::indexing::{self, BuildError, BuildOptions, Changes, Progress, Report, Verified};
use schema::message::RecordedSource;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Wait for another process that updates the index.
const LOCKED_MAX: Duration = Duration::from_secs(60);

const LOCKED_PAUSE: Duration = Duration::from_millis(50);

/// Build or update an index of directories and git repositories
///
/// Each SOURCE is a package, named after its directory. With --each, every directory inside SOURCE
/// is a package; other entries of SOURCE are left out and counted.
///
/// Every regular file is indexed, except: .git; in a git work tree, files that .gitignore or
/// .git/info/exclude excludes and git does not track; binary files (a NUL byte in the first 8,000
/// bytes); and files that cannot be read. Symbolic links are not followed. A summary at the end
/// counts the files left out; `trawl inspect --index DIR --skipped` lists them.
///
/// With --git, a git repository is a package: the files of its default branch, or of the revisions
/// chosen by --ref. They are read from its objects and never checked out; .gitignore does not
/// apply. A file of several revisions is stored once. A SOURCE that is a git work tree is indexed
/// as it is on disk.
///
/// With --scip, or from a new `index.scip` in the directory of a SOURCE, the symbols that a SCIP
/// indexer resolved are imported: definitions and references of files that did not change since are
/// then precise.
///
/// If the index exists, only new and changed packages are read. Packages that are not given stay in
/// the index, unless --prune or --remove drops them, or --replace-versions drops them as other
/// versions of given packages: with --each, a directory `foo_1.0` or `foo-1.0` is a version of
/// `foo`.
///
/// The last line names dropped packages. The old index stays in use until the new one is complete,
/// also if the build is interrupted.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl index --index I ~/src/linux          build, or update changed packages
  trawl index --index I --each --no-ignore /srv/debian-sources
  trawl index --index I --each --replace-versions --dry-run /srv/debian-sources
                                           show packages that would be dropped
  trawl index --index I --remove i3-wm --remove sed_4.9
  trawl index --index I --verify ~/src/linux  compare every byte, repair differences
  trawl index --index I --update              update all sources of the index
  trawl index --index I --git ~/src/linux     committed files of the default branch
  trawl index --index I --git https://example.org/x.git
  trawl index --index I --git-dir-each /srv/git --ref HEAD --ref 'v*'
  trawl index --index I --scip web.scip ~/src/web
                                           with symbols by scip-typescript
  trawl index --index I --store s3://code/index ~/src/linux
                                           and publish it for `trawl backend --store`
  trawl index --index I --store /srv/store --claim --each /srv/sources
                                           share the packages with other machines")]
#[command(group(clap::ArgGroup::new("given").args(["sources", "git", "git_dir_each"]).multiple(true)))]
#[command(group(clap::ArgGroup::new("read").args(["sources", "git", "git_dir_each", "update"]).multiple(true)))]
#[command(group(clap::ArgGroup::new("repositories").args(["git", "git_dir_each", "update"]).multiple(true)))]
pub(crate) struct IndexArguments {
    /// Index directory; created if needed
    #[arg(long, value_name = "DIR")]
    index: PathBuf,
    /// Drop the package of this directory name; without a version, all its versions
    #[arg(long, value_name = "NAME")]
    remove: Vec<OsString>,
    /// Drop all packages that are not among the SOURCEs, or with --update no longer in them
    #[arg(long, requires = "read")]
    prune: bool,
    /// Drop other versions of the packages that are given with --each; without it they stay, and
    /// are listed
    #[arg(long)]
    replace_versions: bool,
    /// List packages that would be added, dropped, kept beside other versions, or renamed; change
    /// nothing and fetch nothing
    #[arg(long, conflicts_with_all = ["store", "verify"])]
    dry_run: bool,
    /// Update all sources that the index was built of: directories, and repositories with their
    /// --ref patterns. Needs no SOURCE
    #[arg(long, conflicts_with_all = ["given", "each", "no_ignore", "no_versions", "block_size"])]
    update: bool,
    /// Import the symbols of this SCIP file. Its package is the SOURCE with the file or with its
    /// project root, or else the only one; its symbols replace those of the package
    #[arg(long, value_name = "FILE", requires = "read", conflicts_with = "claim")]
    scip: Vec<PathBuf>,
    /// Compare the bytes of all files with the index, even if their size and times are unchanged;
    /// read differing files again, and list them
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    git: GitFlags,
    #[command(flatten)]
    fetch: FetchFlags,
    /// Memory that this process may use, approximately [default: 512M]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    memory: Option<u64>,
    #[command(flatten)]
    build: BuildFlags,
    #[command(flatten)]
    store: PublishFlags,
    /// Directories of source code
    #[arg(value_name = "SOURCE", required_unless_present_any = ["remove", "verify", "git", "git_dir_each", "update", "store"])]
    sources: Vec<PathBuf>,
}

pub(super) fn run(arguments: &IndexArguments) -> Result<Exit> {
    let mut options = arguments.build.options(arguments.memory)?;
    let (out, replaces) = (&arguments.index, arguments.replace_versions);
    let has_changes = !arguments.sources.is_empty()
        || !arguments.remove.is_empty()
        || arguments.verify
        || arguments.update
        || arguments.git.is_given();
    if arguments.store.store.is_some() && !has_changes {
        publish::publish(&arguments.store, out, replaces)?;
        return Ok(Exit::Success);
    }
    if arguments.store.claim {
        // Builds packages that no other machine builds.
        let build = |claimed| {
            let changes = Changes {
                replace_versions: replaces,
                ..Changes::default()
            };
            update(claimed, changes, out, &options, Vec::new()).map(drop)
        };
        let packages = arguments.build.packages(&arguments.sources)?;
        publish::share(&arguments.store, out, &packages, replaces, &build)?;
        return Ok(Exit::Success);
    }
    let (packages, given, recorded) = if arguments.update {
        let (git, fetch) = (&arguments.git, &arguments.fetch);
        let found = recorded::read_again(out, git, fetch, arguments.dry_run)?;
        // Pruning would drop the packages of missing sources.
        ensure!(
            !arguments.prune || found.repositories.problems.is_empty(),
            "--prune drops nothing while a source cannot be read: {}",
            found.repositories.said()
        );
        options.options = found.options;
        (found.packages, found.repositories, found.recorded)
    } else {
        let packages = arguments.build.packages(&arguments.sources)?;
        let recorded = recorded::sources(&arguments.sources, &arguments.build, &arguments.git);
        let given = if arguments.dry_run {
            arguments.git.known(&arguments.fetch)?
        } else {
            arguments.git.fetched(&arguments.fetch)?
        };
        (packages, given, recorded)
    };
    check_names(&packages.sources, &given.sources)?;
    let note = git::note_on_work_trees(&packages.sources);
    note.into_iter().for_each(terminal::report);
    let problems = given.problems.clone();
    let changes = arguments.changes(given, recorded);
    if arguments.dry_run {
        return preview(&packages, &changes, out, &options, problems);
    }
    let problems = update(packages, changes, out, &options, problems)?;
    publish::publish(&arguments.store, out, replaces)?;
    Ok(Exit::Success.if_complete(problems.is_empty()))
}

impl IndexArguments {
    fn changes(&self, given: GivenRepositories, recorded: Vec<RecordedSource>) -> Changes {
        let remove = self.remove.iter().cloned();
        Changes {
            remove: remove.map(OsStringExt::into_vec).collect(),
            prune: self.prune,
            replace_versions: self.replace_versions,
            verify: self.verify,
            repositories: given.sources,
            parents: given.parents,
            beside: given.beside,
            recorded,
            scip: self.scip.clone(),
            ..Changes::default()
        }
    }
}

/// Updates an index, with progress, problems and a summary on standard error. Returns the problems.
pub(super) fn update(
    packages: Packages,
    mut changes: Changes,
    out: &Path,
    options: &BuildOptions,
    mut problems: Vec<(String, String)>,
) -> Result<Vec<(String, String)>> {
    let started = Instant::now();
    let notes = notes(&packages, out)?;
    changes.parents.extend(packages.parents);
    changes.beside.extend(packages.beside);
    let report = update_silently(&packages.sources, &changes, out, options)?;
    notes.into_iter().for_each(terminal::report);
    if let Some(verified) = &report.verified {
        terminal::report(what_was_verified(verified));
    }
    let imported = report.imported.iter();
    imported.map(summary::of_import).for_each(terminal::report);
    problems.extend(report.problems.iter().cloned());
    problems.extend(summary::misspelled(&report));
    report_problems(&problems);
    summarize(&report, out, started.elapsed(), &problems);
    Ok(problems)
}

/// Repeats an update while another process updates the index, for at most [`LOCKED_MAX`].
pub(super) fn while_locked<T>(
    mut update: impl FnMut() -> Result<T, BuildError>,
) -> Result<T, BuildError> {
    let until = Instant::now() + LOCKED_MAX;
    loop {
        match update() {
            Err(BuildError::Directory(IndexError::Locked(_))) if Instant::now() < until => {
                sleep(LOCKED_PAUSE);
            }
            updated => return updated,
        }
    }
}

/// Updates an index, with progress on a terminal.
pub(super) fn update_silently(
    sources: &[Source],
    changes: &Changes,
    out: &Path,
    options: &BuildOptions,
) -> Result<Report, BuildError> {
    let progress = Arc::new(Progress::default());
    let _shown = progress::show(Arc::clone(&progress));
    let (abandoned, building) = (out.to_owned(), Arc::clone(&progress));
    let _interrupt = on_interrupt(move || abandon(&abandoned, &building));
    indexing::update(sources.to_vec(), changes, out, options, &progress)
}

/// Prints the counts of an update. The problems were printed.
pub(super) fn summarize(
    report: &Report,
    out: &Path,
    elapsed: Duration,
    problems: &[(String, String)],
) {
    terminal::report(summary::of(report, out, elapsed, problems));
}

pub(super) fn report_problems(problems: &[(String, String)]) {
    for (name, reason) in problems {
        let (name, reason) = (terminal::escaped(name), terminal::escaped(reason));
        terminal::complain(format_args!("{name}: {reason}"));
    }
}

fn preview(
    packages: &Packages,
    changes: &Changes,
    out: &Path,
    options: &BuildOptions,
    problems: Vec<(String, String)>,
) -> Result<Exit> {
    let preview = indexing::preview(&packages.sources, changes, out, options)?;
    report_problems(&problems);
    terminal::report(summary::of_preview(&preview, &problems));
    Ok(Exit::Success.if_complete(problems.is_empty()))
}

/// Removes partial files, and exits.
fn abandon(out: &Path, progress: &Progress) -> ! {
    let shown = out.display();
    terminal::complain(match indexing::abandon(out, progress) {
        Ok(true) => format!("interrupted: the index in {shown} is whole, without these changes"),
        Ok(false) => format!("interrupted: no index was built, and nothing is left in {shown}"),
        Err(error) => format!(
            "interrupted: {shown} could not be cleaned up: {error}; the next `trawl index` does it"
        ),
    });
    Exit::Interrupted.now()
}

/// Fails if the index would be its own source.
fn notes(packages: &Packages, out: &Path) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    let out = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
    let out = out.canonicalize().unwrap_or(out);
    let directories = packages.sources.iter().map(|source| &source.directory);
    for directory in directories.clone().chain(&packages.parents) {
        let shown = directory.display();
        if *directory == out {
            bail!("{shown}: this is a source, so the index cannot be here; choose another --out");
        }
        if out.starts_with(directory) {
            let out = out.display();
            notes.push(format!(
                "the index in {out} is inside {shown}: its files are not searched"
            ));
        }
    }
    let is_bare = |directory: &&PathBuf| {
        let holds = |name| directory.join(name).is_dir();
        directory.join("HEAD").is_file() && holds("objects") && holds("refs")
    };
    for directory in directories.filter(is_bare) {
        let shown = directory.display();
        notes.push(format!(
            "{shown} is a bare git repository: this indexes git's own files, not the source in it; \
             `--git {shown}` indexes what its revisions have"
        ));
    }
    Ok(notes)
}

fn what_was_verified(verified: &Verified) -> String {
    let mut text = String::new();
    for name in &verified.differing_listed {
        let name = terminal::escaped(name);
        text.push_str(&format!("differs from the index: {name}\n"));
    }
    let more = verified.differing - verified.differing_listed.len() as u64;
    if more > 0 {
        text.push_str(&format!("... and {} more\n", units::count(more)));
    }
    let files = units::plural(verified.files, "unchanged file");
    text.push_str(&match (verified.differing, verified.damaged_shards) {
        (0, 0) => format!("verified {files} and all checksums: nothing differs"),
        (differing, damaged) => format!(
            "verified {files}: {} and {}, read again",
            units::plural(differing, "difference"),
            units::plural(damaged, "damaged shard"),
        ),
    });
    text
}
