//! `trawl status`, `packages`, `skipped` and `explain`, from the HTTP API.

use super::api_printer::{ApiFlags, PER_RESPONSE, name, short};
use crate::exit::Exit;
use crate::print::{overlaps_in_words, plan_in_words, report_missing};
use crate::query::{QueryFlags, TypedQuery, report_notices};
use crate::terminal::{complain, escaped};
use crate::units;
use anyhow::Result;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use web::model::{
    CostClass, Explanation, IndexPackages, PackageState, PatternCost, RepositoryStatus, Status, Why,
};

const REVISIONS_SHOWN: usize = 8;

/// Show the size and age of the searched index, and the backends of a server
///
/// For git repositories, shows the indexed revisions with their commits, and the number of commits
/// that the repository has now and the index lacks.
///
/// Exit status: 0 success, 2 error, 3 a backend is not connected.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  trawl status\n  trawl status --index I --json")]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    api: ApiFlags,
}

/// List the packages that can be searched
///
/// Prints for each package the name of its directory, the number of documents and the bytes of
/// text, separated by tabs. Exit status: 0 success, 1 no package, 2 error, 3 a backend could not be
/// reached.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl packages
  trawl packages --index I lib | cut -f1   names that begin with lib")]
pub(crate) struct PackagesArguments {
    #[command(flatten)]
    api: ApiFlags,
    /// List only names that begin with PREFIX
    #[arg(value_name = "PREFIX")]
    prefix: Option<String>,
}

/// List the files that are not searchable, with the reasons
///
/// Prints PACKAGE/PATH, a tab and the reason for each file that was left out of the index. With
/// PATH, also tells if that file is indexed. Exit status: 0 something was printed, 1 nothing was
/// left out, or there is no such file or package, 2 error, 3 a backend could not be reached.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl skipped                     all files that were left out
  trawl skipped i3-wm               those of one package
  trawl skipped i3-wm build/x.o     reason for one file")]
pub(crate) struct SkippedArguments {
    #[command(flatten)]
    api: ApiFlags,
    /// Name of a package, with or without version
    #[arg(value_name = "PACKAGE")]
    package: Option<OsString>,
    /// Path in the package
    #[arg(value_name = "PATH", requires = "package")]
    path: Option<OsString>,
}

/// Show the interpretation and cost of a query, and cheaper forms
///
/// Reads the index and no text. Exit status: 0 success, 2 error, 3 a backend could not be reached.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl explain 'malloc lang:c -path:test'
  trawl explain --index I -e '[0-9]{3}-[0-9]{4}'
  trawl explain --json -F 'errno == EINTR'")]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    api: ApiFlags,
    #[command(flatten)]
    query: QueryFlags,
}

pub(super) fn status(arguments: &StatusArguments) -> Result<Exit> {
    let mut is_complete = true;
    let path = "/api/v2/status";
    (arguments.api).show(path, &[], |status: Status, out| {
        is_complete = status.complete;
        print_status(&status, out)?;
        Ok(None)
    })?;
    Ok(Exit::Success.if_complete(is_complete))
}

fn print_status(status: &Status, out: &mut dyn Write) -> io::Result<()> {
    let counts = [status.packages, status.documents, status.bytes];
    let (version, generation) = (escaped(&status.version), escaped(&status.generation));
    writeln!(out, "{}", contents(counts, status.shards, status.age_s))?;
    writeln!(out, "trawl {version}, generation {generation}")?;
    for backend in &status.backends {
        let name = escaped(&backend.name);
        let counts = [backend.packages, backend.documents, backend.bytes];
        let contents = contents(counts, backend.shards as u64, backend.age_s);
        match (&backend.reason, backend.connected) {
            (None, _) => writeln!(out, "{name}: {contents}")?,
            (Some(reason), true) => writeln!(out, "{name}: not searched: {}", escaped(reason))?,
            (Some(reason), false) => writeln!(out, "{name}: not connected: {}", escaped(reason))?,
        }
    }
    if let Some(overlaps) = &status.overlaps {
        writeln!(out, "{}", overlaps_in_words(overlaps))?;
    }
    for repository in &status.repositories {
        print_repository(repository, out)?;
    }
    if status.more_repositories {
        writeln!(out, "and more repositories")?;
    }
    Ok(())
}

fn print_repository(repository: &RepositoryStatus, out: &mut dyn Write) -> io::Result<()> {
    let package = name(&repository.package, repository.package_base64.as_deref());
    let revisions = units::plural(repository.revision_count.into(), "revision");
    let age = units::age(repository.age_s);
    let ago = |at: u64| units::age((repository.indexed + repository.age_s).saturating_sub(at));
    let fetched = (repository.fetched).map(|at| format!(", fetched {} ago", ago(at)));
    let fetched = fetched.unwrap_or_default();
    writeln!(out, "{package}: {revisions}, indexed {age} ago{fetched}")?;
    if let Some(problem) = &repository.problem {
        writeln!(out, "  not brought up to date: {}", escaped(problem))?;
    }
    for revision in repository.revisions.iter().take(REVISIONS_SHOWN) {
        let (revision_name, commit) = (escaped(&revision.name), short(&revision.commit));
        let behind = match revision.behind {
            None => String::new(),
            Some(0) => ", up to date".to_owned(),
            Some(count) => format!(", {} behind", units::plural(count.into(), "commit")),
        };
        writeln!(out, "  {revision_name} at {commit}{behind}")?;
    }
    let shown = repository.revisions.len().min(REVISIONS_SHOWN) as u64;
    let more = u64::from(repository.revision_count).saturating_sub(shown);
    if more > 0 {
        let more = units::count(more);
        writeln!(out, "  and {more} more (--json lists up to 64)")?;
    }
    Ok(())
}

fn contents([packages, documents, bytes]: [u64; 3], shards: u64, age_s: Option<u64>) -> String {
    let counts = [
        units::plural(packages, "package"),
        units::plural(documents, "document"),
        units::size(bytes),
        units::plural(shards, "shard"),
    ];
    let age = age_s.map(|age| format!(", indexed {} ago", units::age(age)));
    counts.join(", ") + &age.unwrap_or_default()
}

pub(super) fn packages(arguments: &PackagesArguments) -> Result<Exit> {
    let prefix = arguments.prefix.as_deref().unwrap_or_default();
    let parameters = [("prefix", prefix.as_bytes()), PER_RESPONSE];
    let (mut is_complete, mut any) = (true, false);
    let path = "/api/v2/index/packages";
    (arguments.api).show(path, &parameters, |list: IndexPackages, out| {
        is_complete &= report_missing(list.missing.iter().map(|it| (&it.backend, &it.reason)));
        any |= !list.packages.is_empty();
        for package in &list.packages {
            let name = name(&package.package, package.package_base64.as_deref());
            writeln!(out, "{name}\t{}\t{}", package.documents, package.bytes)?;
        }
        Ok(list.next)
    })?;
    Ok(Exit::found(any).if_complete(is_complete))
}

pub(super) fn skipped(arguments: &SkippedArguments) -> Result<Exit> {
    let given = [("package", &arguments.package), ("path", &arguments.path)].into_iter();
    let given = given.filter_map(|(name, value)| Some((name, value.as_ref()?.as_bytes())));
    let parameters: Vec<_> = given.chain([PER_RESPONSE]).collect();
    let asks_file = arguments.path.is_some();
    let (mut is_complete, mut any) = (true, false);
    let path = "/api/v2/skipped";
    (arguments.api).show(path, &parameters, |why: Why, out| {
        is_complete &= report_missing(why.missing.iter().map(|it| (&it.backend, &it.reason)));
        any |= !why.skipped.is_empty() || (asks_file && why.state == Some(PackageState::Indexed));
        print_skipped(&why, asks_file, out)?;
        if why.state == Some(PackageState::Unknown) && !arguments.api.json {
            complain_of_unknown(&why, asks_file);
        }
        Ok(why.next)
    })?;
    Ok(Exit::found(any).if_complete(is_complete))
}

fn print_skipped(why: &Why, asks_file: bool, out: &mut dyn Write) -> io::Result<()> {
    for file in &why.skipped {
        let package = name(&file.package, file.package_base64.as_deref());
        let path = name(&file.path, file.path_base64.as_deref());
        writeln!(out, "{package}/{path}\t{}", escaped(&file.words))?;
    }
    if asks_file && why.skipped.is_empty() && why.state == Some(PackageState::Indexed) {
        writeln!(out, "indexed")?;
    }
    Ok(())
}

fn complain_of_unknown(why: &Why, asks_file: bool) {
    let what = if asks_file { "file" } else { "package" };
    let similar: Vec<_> = why.similar.iter().map(escaped).collect();
    let mean = match &similar[..] {
        [] => String::new(),
        similar => format!("; did you mean {}?", similar.join(" or ")),
    };
    complain(format_args!("the index has no such {what}{mean}"));
}

pub(super) fn explain(arguments: &ExplainArguments) -> Result<Exit> {
    let query = TypedQuery::new(&arguments.query, arguments.api.work_tree().as_ref())?;
    report_notices(&query.parse()?.notices);
    let mut missing = Vec::new();
    let path = "/api/v2/explain";
    let parameters = query.parameters();
    let shown = (arguments.api).show(path, &parameters, |explanation: Explanation, out| {
        print_explanation(&explanation, out)?;
        missing = explanation.missing;
        Ok(None)
    });
    shown.map_err(|error| query.locate(error))?;
    let is_complete = report_missing(missing.iter().map(|it| (&it.backend, &it.reason)));
    Ok(Exit::Success.if_complete(is_complete))
}

fn print_explanation(explanation: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    let cost = &explanation.cost;
    writeln!(out, "query: {}", escaped(&explanation.interpreted_as))?;
    writeln!(out, "{}", plan_in_words(&explanation.plan, cost.blocks))?;
    if explanation.patterns.len() > 1 {
        for pattern in &explanation.patterns {
            print_pattern(pattern, cost.of, out)?;
        }
    }
    writeln!(
        out,
        "blocks to read: {}, {}; about {} of processor time: {}",
        units::share(cost.blocks, cost.of),
        units::size(cost.bytes),
        units::duration(cost.milliseconds),
        match cost.class {
            CostClass::Light => "light",
            CostClass::Heavy => "heavy",
        }
    )?;
    for hint in &explanation.cheaper {
        writeln!(out, "cheaper: {}", escaped(hint))?;
    }
    Ok(())
}

fn print_pattern(cost: &PatternCost, of: u64, out: &mut dyn Write) -> io::Result<()> {
    let text = escaped(&cost.pattern.text);
    let text = if cost.pattern.syntax == "regexp" {
        format!("/{text}/")
    } else {
        format!("\"{text}\"")
    };
    let share = units::share(cost.blocks, of);
    writeln!(out, "  {text} alone: {share}, by {}", escaped(&cost.plan))
}
