//! Last line of `trawl index`: counts and package names.

use crate::{terminal, units};
use index::indexing::{Outcome, ReadStats, Report};
use index::precise::Imported;
use std::path::Path;
use std::time::Duration;

/// A longer list hides the rest of the line.
const NAMES_MAX: usize = 10;

pub(super) fn of(
    report: &Report,
    out: &Path,
    elapsed: Duration,
    problems: &[(String, String)],
) -> String {
    let (size, shards) = (
        units::size(report.file_bytes),
        units::plural(report.shards, "shard"),
    );
    let index = format!("{size} in {shards}");
    let named = what_changed(report, problems);
    if report.outcome == Outcome::Unchanged {
        let packages = units::plural(report.packages, "package");
        let left_out = if report.beside.is_empty() {
            String::new()
        } else {
            format!("; {}", what_was_left_out(report, out))
        };
        let out = out.display();
        return format!(
            "the index in {out} is up to date, nothing was read ({packages}, {index}){left_out}{named}"
        );
    }
    let read = &report.read;
    let mut line = String::new();
    if report.outcome == Outcome::Rebuilt {
        line.push_str(
            "the index had been built with other options, so everything was read again\n",
        );
    }
    line.push_str(&what_was_read(read, elapsed));
    if report.outcome != Outcome::Built {
        line.push_str(&format!(
            "; packages: {} read, {} kept, {}, {} merged",
            units::count(read.packages),
            units::count(report.kept),
            counted(&report.dropped, "dropped"),
            units::count(report.merged),
        ));
    }
    if report.upgraded > 0 {
        let upgraded = units::plural(report.upgraded, "shard");
        line.push_str(&format!("; {upgraded} upgraded: symbols"));
    }
    if report.outdated > 0 {
        let outdated = units::count(report.outdated);
        line.push_str(&format!(", {outdated} left for the next update"));
    }
    let left_out = what_was_left_out(report, out);
    format!("{line}; {index}; {left_out}{named}")
}

pub(super) fn of_import(imported: &Imported) -> String {
    let fit = imported.documents - imported.stale;
    let documents = units::plural(imported.documents, "document");
    let file = imported.file.display();
    let package = lossy(&imported.package);
    let stale = match imported.stale {
        0 => String::new(),
        stale => {
            let stale = units::count(stale);
            let paths = listed(&imported.stale_paths, imported.stale);
            format!("; {stale} left out, of another text or not indexed: {paths}")
        }
    };
    format!("{file}: symbols of {fit} of {documents} in {package}{stale}")
}

pub(super) fn of_preview(report: &Report, problems: &[(String, String)]) -> String {
    format!(
        "dry run, nothing was written; packages: {}, {}{}",
        counted(&report.new, "new"),
        counted(&report.dropped, "to be dropped"),
        what_changed(report, problems)
    )
}

/// Patterns without wildcards and without a match are likely misspelled.
pub(super) fn misspelled(report: &Report) -> impl Iterator<Item = (String, String)> {
    let unmatched = report.unmatched.iter();
    let misspelled = unmatched.filter(|it| {
        it.is_everywhere && it.pattern != "all" && !it.pattern.contains(['*', '?', '['])
    });
    misspelled.map(|it| (format!("--ref {}", it.pattern), it.reason.clone()))
}

/// Each kind follows a semicolon.
fn what_changed(report: &Report, problems: &[(String, String)]) -> String {
    let moved = report.moved.iter();
    let moved = moved.map(|it| format!("{} ({}, was {})", lossy(&it.package), it.now, it.before));
    let versions = report.kept_versions.iter();
    let versions =
        versions.map(|(other, given)| format!("{} beside {}", lossy(other), lossy(given)));
    let renamed = report.renamed.iter();
    let renamed = renamed.map(|it| format!("{} (was {})", lossy(&it.directory), lossy(&it.before)));
    let unmatched = report.unmatched.iter();
    let unmatched = unmatched.map(|it| {
        let noun = match it.repositories.len() {
            1 => "repository",
            _ => "repositories",
        };
        let among = counted(&it.repositories, noun);
        format!("{} in {among}", it.pattern)
    });
    let failed = problems.iter().map(|(name, _)| name.clone());
    let mut text = String::new();
    let mut add = |before: &str, names: Vec<String>, after: &str| {
        if !names.is_empty() {
            text.push_str(&format!(
                "; {before}{}{after}",
                listed(&names, names.len() as u64)
            ));
        }
    };
    add("read from another place: ", moved.collect(), "");
    let drops = "; --replace-versions drops them";
    add("other versions kept: ", versions.collect(), drops);
    let whole = "the whole directory is the name from now on: ";
    add(whole, renamed.collect(), "");
    add("no revision for ", unmatched.collect(), "");
    let above = ", for the reason above";
    add("not indexed as asked: ", failed.collect(), above);
    text
}

fn counted(names: &[Vec<u8>], what: &str) -> String {
    let count = units::count(names.len() as u64);
    if names.is_empty() {
        return format!("{count} {what}");
    }
    let names: Vec<String> = names.iter().map(|name| lossy(name)).collect();
    format!("{count} {what} ({})", listed(&names, names.len() as u64))
}

/// First of all names, which may contain line feeds.
fn listed(names: &[String], all: u64) -> String {
    let names = &names[..names.len().min(NAMES_MAX)];
    let more = all - names.len() as u64;
    let listed = names.join(", ");
    let listed = terminal::escaped(&listed).replace('\n', "\\n");
    match more {
        0 => listed,
        _ => format!("{listed} and {} more", units::count(more)),
    }
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

fn what_was_read(read: &ReadStats, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(0.001);
    let rate = units::size((read.text_bytes as f64 / seconds) as u64);
    let history = match read.history_documents {
        0 => String::new(),
        count => format!(" and {} of histories", units::plural(count, "document")),
    };
    format!(
        "indexed {}{history} of {}, {} of text ({} unique), in {seconds:.1} s ({rate}/s)",
        units::plural(read.documents, "file"),
        units::plural(read.packages, "package"),
        units::size(read.text_bytes),
        units::size(read.unique_bytes),
    )
}

/// Counts skipped files in packages and outside.
fn what_was_left_out(report: &Report, out: &Path) -> String {
    let mut counts = report.read.skipped.clone();
    for (reason, count) in &report.beside {
        *counts.entry(reason.clone()).or_default() += count;
    }
    let left_out: u64 = counts.values().sum();
    if left_out == 0 {
        return "nothing was left out".to_owned();
    }
    let reasons: Vec<String> = counts
        .iter()
        .map(|(reason, &count)| format!("{} {reason}", units::count(count)))
        .collect();
    let (left_out, reasons) = (units::count(left_out), reasons.join(", "));
    let list = format!("trawl inspect --index {} --skipped", out.display());
    format!("left out: {left_out} ({reasons}), listed by `{list}`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use index::indexing::{Moved, Renamed, SourcePlace, Unmatched};

    fn names(names: &[&str]) -> Vec<Vec<u8>> {
        names.iter().map(|name| name.as_bytes().to_vec()).collect()
    }

    #[test]
    fn the_last_line_names_what_was_dropped_kept_moved_renamed_and_not_found() {
        let place = |is_repository, location: &str| SourcePlace {
            is_repository,
            location: location.into(),
        };
        let report = Report {
            outcome: Outcome::Updated,
            dropped: names(&["a", "b\n"]),
            upgraded: 1,
            outdated: 2,
            kept_versions: vec![(b"foo_1.0".to_vec(), b"foo_1.1".to_vec())],
            moved: vec![Moved {
                package: b"tool".to_vec(),
                before: place(true, "/a/tool"),
                now: place(false, "/b/tool"),
            }],
            renamed: vec![Renamed {
                directory: b"log4j-2".to_vec(),
                before: b"log4j".to_vec(),
            }],
            unmatched: vec![Unmatched {
                pattern: "v*".to_owned(),
                repositories: names(&["x"]),
                reason: String::new(),
                is_everywhere: true,
            }],
            ..Report::default()
        };
        let problems = [("bad".to_owned(), "why".to_owned())];
        let line = of(&report, Path::new("I"), Duration::ZERO, &problems);
        for said in [
            "0 kept, 2 dropped (a, b\\n), 0 merged; 1 shard upgraded: symbols, 2 left for the next update",
            "; read from another place: tool (directory /b/tool, was git repository /a/tool)",
            "; other versions kept: foo_1.0 beside foo_1.1; --replace-versions drops them",
            "; the whole directory is the name from now on: log4j-2 (was log4j)",
            "; no revision for v* in 1 repository (x)",
            "; not indexed as asked: bad, for the reason above",
        ] {
            assert!(line.contains(said), "{line}");
        }
        assert!(!line.contains('\n'), "{line}");
    }

    #[test]
    fn a_long_list_is_cut_and_a_misspelled_name_of_a_branch_is_a_problem() {
        let many: Vec<String> = (0..13).map(|number| format!("p{number}")).collect();
        assert!(listed(&many, 13).ends_with("p9 and 3 more"));
        let unmatched = |pattern: &str, is_everywhere| Unmatched {
            pattern: pattern.to_owned(),
            repositories: names(&["x"]),
            reason: "no commit has this name".to_owned(),
            is_everywhere,
        };
        let report = Report {
            unmatched: vec![
                unmatched("v*", true),
                unmatched("main", false),
                unmatched("topik", true),
            ],
            ..Report::default()
        };
        let found: Vec<_> = misspelled(&report).collect();
        let expected = (
            "--ref topik".to_owned(),
            "no commit has this name".to_owned(),
        );
        assert_eq!(found, [expected]);
    }
}
