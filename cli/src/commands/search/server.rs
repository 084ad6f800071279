//! Searches with a server, then requests the export. Text and streamed matches need only an export;
//! its last line has the outcome.

use crate::client::{Client, RESPONSE_BYTES_MAX};
use crate::print::Printer;
use crate::progress::{self, ProgressThread};
use crate::query::TypedQuery;
use anyhow::{Context, Result, ensure};
use frontend::{Document, Match, Query};
use indicatif::ProgressBar;
use schema::message::Want;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::sync::Arc;
use web::model::{ExportDone, ExportEnd, Match as ModelMatch, Page};

const READ_BYTES: usize = 256 << 10;

const UNEXPECTED: &str = "unexpected answer; is this a Trawl server of the same version?";

const TEXT: [(&str, &[u8]); 2] = [("format", b"text"), ("end", b"true")];

const BROKE_OFF: &str = "the server broke off: not all matches are printed";

const END_BYTES_MAX: usize = 64 << 20;

/// Prefix of the last line, and of no JSON match.
const DONE: &str = r#"{"done":"#;

pub(super) fn search(
    server: &Client,
    typed: &TypedQuery<'_>,
    query: &Query,
    printer: &mut Printer<'_>,
) -> Result<ExportDone> {
    if printer.options().streams() || printer.options().is_plain() {
        return print_export(server, typed, query, printer);
    }
    let page = {
        let _progress = show_progress();
        let view: [(&str, &[u8]); 2] = [("per_page", b"1"), ("explain", b"true")];
        server.get_whole("/api/v2/search", &[&typed.parameters()[..], &view].concat())?
    };
    let page: Page<'_> = serde_json::from_slice(&page).context(UNEXPECTED)?;
    if page.total == 0 || query.want == Want::Count {
        return Ok(done(page));
    }
    // Other servers know the link, in case this one drains.
    let name = page.link.as_deref().filter(|_| page.complete);
    let name = name.unwrap_or(&page.id);
    let path = format!("/api/v2/search/{name}/export");
    let export = server.get(&path, &[])?;
    let (printed, _) = print(server, export, printer)?;
    check(printed, page.total)?;
    printer.end_matches(&|document, offset, count| read(server, document, offset, count))?;
    Ok(done(page))
}

fn print_export(
    server: &Client,
    typed: &TypedQuery<'_>,
    query: &Query,
    printer: &mut Printer<'_>,
) -> Result<ExportDone> {
    let is_plain = printer.options().is_plain();
    let mut form: Vec<(&str, &[u8])> = Vec::new();
    if printer.options().streams() {
        form.push(("order", b"found"));
    }
    if is_plain {
        form.extend(TEXT);
    }
    let export = {
        // The head arrives with the first match.
        let _progress = show_progress();
        server.get("/api/v2/export", &[&typed.parameters()[..], &form].concat())?
    };
    let (printed, done) = if is_plain {
        let (lines, done) = copy_to_end(export, printer)?;
        (lines, Some(done))
    } else {
        print(server, export, printer)?
    };
    let done = done.context(BROKE_OFF)?;
    // Matches have at least one line.
    let least = match query.limit {
        0 if done.complete => done.found,
        _ => 0,
    };
    check(printed, done.total.max(least))?;
    printer.end_matches(&|document, offset, count| read(server, document, offset, count))?;
    Ok(done)
}

fn show_progress() -> Option<ProgressThread> {
    progress::of_search(ProgressBar::new_spinner, |spinner| {
        spinner.set_message("the server is searching");
        spinner.tick();
    })
}

/// Returns the number of matches, and the last line.
fn print(
    server: &Client,
    export: impl Read,
    printer: &mut Printer<'_>,
) -> Result<(u64, Option<ExportDone>)> {
    let read = |document: &Document, offset, count| read(server, document, offset, count);
    let (mut printed, mut document) = (0, Arc::new(Document::default()));
    let mut export = BufReader::with_capacity(READ_BYTES, export);
    let mut line = String::new();
    loop {
        if export.buffer().is_empty() {
            // The next part may take long.
            printer.flush()?;
        }
        line.clear();
        let mut next = export.by_ref().take(RESPONSE_BYTES_MAX as u64);
        let bytes = next.read_line(&mut line).context(BROKE_OFF)?;
        ensure!(bytes < RESPONSE_BYTES_MAX, UNEXPECTED);
        if bytes == 0 {
            return Ok((printed, None));
        }
        if line.starts_with(DONE) {
            let last: ExportEnd = serde_json::from_str(&line).context(UNEXPECTED)?;
            return Ok((printed, Some(last.done)));
        }
        let found: ModelMatch<'_> = serde_json::from_str(&line).context(UNEXPECTED)?;
        let mut found = Match::try_from(found).context(UNEXPECTED)?;
        if *found.document == *document {
            found.document = Arc::clone(&document);
        }
        document = Arc::clone(&found.document);
        printer.add(found, &read)?;
        printed += 1;
    }
}

/// Prints all but the last line. Returns the number of lines.
fn copy_to_end(mut text: impl Read, printer: &mut Printer<'_>) -> Result<(u64, ExportDone)> {
    // `held` starts like the last line. A matching line may too, but another one follows.
    let (mut held, mut lines, mut is_in_line) = (Vec::new(), 0, false);
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let bytes = match text.read(&mut buffer) {
            Ok(0) => break,
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error).context(BROKE_OFF),
        };
        held.extend_from_slice(&buffer[..bytes]);
        let start = memchr::memrchr(b'\n', &held[..held.len() - 1]).map_or(0, |end| end + 1);
        let last = &held[start..];
        let is_start = start > 0 || !is_in_line;
        let may_be_end = is_start && last.iter().zip(DONE.as_bytes()).all(|(a, b)| a == b);
        let shown = if may_be_end { start } else { held.len() };
        ensure!(held.len() - shown <= END_BYTES_MAX, UNEXPECTED);
        if shown > 0 {
            is_in_line = held[shown - 1] != b'\n';
            lines += memchr::memchr_iter(b'\n', &held[..shown]).count() as u64;
            printer.print_bytes(&held[..shown])?;
            held.drain(..shown);
        }
        // The next part may take long.
        printer.flush()?;
    }
    let end: ExportEnd = serde_json::from_slice(&held).context(BROKE_OFF)?;
    Ok((lines, end.done))
}

fn read(server: &Client, document: &Document, offset: u64, count: u64) -> Result<Vec<u8>> {
    let (start, length) = (offset.to_string(), count.to_string());
    let mut parameters = vec![
        ("package", &document.package[..]),
        ("path", &document.path),
        ("offset", start.as_bytes()),
        ("count", length.as_bytes()),
    ];
    let commit = document.revisions.commit.as_bytes();
    if !commit.is_empty() {
        parameters.push(("rev", commit));
    }
    let mut part = Vec::new();
    let mut answer = server.get("/api/v2/file", &parameters)?.take(count);
    answer.read_to_end(&mut part)?;
    Ok(part)
}

fn check(printed: u64, total: u64) -> Result<()> {
    ensure!(
        printed == total,
        "the server sent {printed} of {total} matches; search again"
    );
    Ok(())
}

fn done(page: Page<'_>) -> ExportDone {
    ExportDone {
        id: page.id.into_owned(),
        generation: page.generation.into_owned(),
        complete: page.complete,
        pending: page.pending,
        missing: page.missing,
        skipped: page.skipped,
        overlaps: page.overlaps,
        searched: page.searched.unwrap_or_default(),
        reached: page.reached,
        found: page.found.unwrap_or(page.total),
        total: page.total,
        documents: page.documents,
        packages: page.packages,
        explain: page.explain.unwrap_or_default(),
        notices: page.notices,
    }
}
