//! Messages and exit status of a search.

use crate::exit::Exit;
use crate::terminal::{complain, escaped, report};
use crate::units;
use web::model::{ExportDone, Overlaps};

pub(crate) fn report_search(done: &ExportDone, explain: bool) -> Exit {
    let has_all = report_missing(done.missing.iter().map(|it| (&it.backend, &it.reason)));
    let skipped = done.skipped.count;
    if skipped > 0 {
        let documents = units::plural(skipped, "document");
        complain(format!("incomplete: {documents} could not be searched"));
    }
    if done.pending > 0 {
        let (files, verb) = match done.pending {
            1 => ("1 file".to_owned(), "has changed and is"),
            pending => (units::plural(pending, "file"), "have changed and are"),
        };
        complain(format_args!(
            "note: {files} {verb} not searched yet; --fresh waits until then"
        ));
    }
    if let Some(overlaps) = &done.overlaps {
        complain(overlaps_in_words(overlaps));
    }
    if explain {
        let usage = &done.explain;
        // Filters alone select the candidates.
        report(plan_in_words(&usage.plan, usage.candidates));
        report(format_args!(
            "blocks verified: {}, {}; {} of them match",
            units::share(usage.candidates, usage.blocks),
            units::size(usage.verified_bytes),
            units::count(usage.matched_blocks),
        ));
        report(format_args!("matches: {}", units::count(done.found)));
    }
    Exit::found(done.found > 0).if_complete(has_all && skipped == 0)
}

/// True if none is missing.
pub(crate) fn report_missing<'a>(missing: impl Iterator<Item = (&'a String, &'a String)>) -> bool {
    let mut is_complete = true;
    for (backend, reason) in missing {
        is_complete = false;
        let (backend, reason) = (escaped(backend), escaped(reason));
        complain(format_args!("incomplete: {backend}: {reason}"));
    }
    is_complete
}

/// Names the first package.
pub(crate) fn overlaps_in_words(overlaps: &Overlaps) -> String {
    let packages = units::plural(overlaps.count, "package");
    let verb = if overlaps.count == 1 { "is" } else { "are" };
    let first = overlaps.packages.first().map_or(String::new(), |first| {
        let (package, searched) = (escaped(&first.package), escaped(&first.searched));
        let others = escaped(&first.superseded.join(", ")).to_string();
        format!(", such as {package} on {searched} (searched) and {others} (left out)")
    });
    format!("{packages} {verb} on several backends{first}; the newest build of each is searched")
}

/// `plan` is `index::plan::Query` as text.
pub(crate) fn plan_in_words(plan: &str, blocks: u64) -> String {
    match plan {
        "all" => format!(
            "plan: no trigram: all {} are scanned (the text that all matches share is shorter than \
             three bytes)",
            units::plural(blocks, "block"),
        ),
        "none" => "plan: none: no line can match".to_owned(),
        trigrams => format!("plan: {}", escaped(trigrams)),
    }
}
