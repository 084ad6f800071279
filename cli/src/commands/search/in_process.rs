//! Searches an index with a frontend in this process.

use crate::print::{Printer, ReadFile};
use crate::progress::{self, ProgressThread};
use crate::{in_process, units};
use anyhow::{Result, ensure};
use frontend::{
    Coordinator, Document, FoundText, Notice, ParsedQuery, RenderedMatches, Renderer, Scope,
    SearchError, SearchHandle, SearchRequest, SearchResult,
};
use schema::message::{FileRange, FileRequest, FileSource, TextOrder};
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use web::model::{ExportDone, ExportEnd};

/// Larger chunks decode frames of long documents less often; smaller ones reuse memory and avoid
/// page faults.
const RENDERED_BYTES_MAX: usize = 8 << 20;

pub(super) fn search(
    index: &Path,
    parsed: &ParsedQuery,
    printer: &mut Printer<'_>,
) -> Result<ExportDone> {
    in_process::runtime()?.block_on(search_and_print(index, parsed, printer))
}

async fn search_and_print(
    index: &Path,
    parsed: &ParsedQuery,
    printer: &mut Printer<'_>,
) -> Result<ExportDone> {
    let frontend = &in_process::frontend(index, !printer.options().streams())?;
    let mut query = parsed.query.clone();
    if printer.options().takes_first_range() {
        query = query.with_first_range();
    }
    if printer.options().is_plain() {
        query = query.with_text(if printer.options().streams() {
            TextOrder::Found
        } else {
            TextOrder::Ranked
        });
    }
    let request = SearchRequest {
        timeout: parsed.timeout,
        ..SearchRequest::new(&Scope::everything(), query)
    };
    let search = frontend.search(request).await?;
    let streams = printer.options().streams();
    let progress = (!streams).then(|| show_progress(&search));
    let read = |document: &Document, offset, count| read(frontend, document, offset, count);
    // This thread has no other task.
    if streams {
        tokio::task::block_in_place(|| stream(&search, printer, &read))?;
    }
    let answer = search.finished().await.map_err(|error| match error {
        SearchError::BadQuery(bad) => anyhow::Error::new(parsed.locate(bad)),
        other => other.into(),
    })?;
    drop(progress);
    tokio::task::block_in_place(|| {
        if !streams && printer.options().is_plain() {
            print_plain(&answer, printer, &read)?;
        } else if !streams {
            print(&answer, 0..answer.len(), printer, &read)?;
        }
        printer.end_matches(&read)
    })?;
    let notice = frontend.notice_of_revisions(&Scope::everything(), &parsed.query);
    let notices: Vec<Notice> = notice.into_iter().collect();
    Ok(ExportEnd::new(&answer, ("", 0), answer.len() as u64, &notices).done)
}

fn show_progress(search: &SearchHandle) -> Option<ProgressThread> {
    let progress = search.watch();
    let new_bar = || progress::bar("{bar:30} {percent:>3} %  {msg}  {elapsed}");
    progress::of_search(new_bar, move |bar| {
        let now = progress();
        bar.set_length(now.blocks_total);
        bar.set_position(now.blocks_done);
        bar.set_message(format!("{} found", units::count(now.matches)));
    })
}

fn stream(search: &SearchHandle, printer: &mut Printer<'_>, read: ReadFile<'_>) -> Result<()> {
    if printer.options().is_plain() {
        return search.follow_text(|followed| match followed {
            Some(FoundText::Lines(text)) => Ok(printer.print_bytes(text)?),
            Some(FoundText::Cut(matches)) => {
                (matches.into_iter()).try_for_each(|found| printer.add(found, read))
            }
            None => printer.flush(),
        });
    }
    search.follow(|followed| {
        let Some(matches) = followed else {
            return printer.flush();
        };
        for found in matches {
            printer.add(found, read)?;
        }
        printer.end_document(read)
    })
}

/// Prints all matches but partially sent ones.
fn print_plain(answer: &SearchResult, printer: &mut Printer<'_>, read: ReadFile<'_>) -> Result<()> {
    let mut print_texts = |texts: RenderedMatches| {
        texts.iter().try_for_each(|text| {
            if text.whole {
                Ok(printer.print_bytes(text.bytes)?)
            } else {
                print(answer, text.index..text.index + 1, printer, read)
            }
        })
    };
    let mut renderer = Renderer::text();
    let first = renderer.render(answer, 0, RENDERED_BYTES_MAX)?;
    let mut rendered = first.len();
    if rendered == answer.len() {
        return print_texts(first);
    }
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(0);
        scope.spawn(move || {
            while rendered < answer.len() {
                let texts = renderer.render(answer, rendered, RENDERED_BYTES_MAX);
                rendered = match &texts {
                    Ok(texts) => rendered + texts.len(),
                    Err(_) => answer.len(),
                };
                if sender.send(texts).is_err() {
                    return;
                }
            }
        });
        print_texts(first)?;
        let mut rest = receiver.into_iter();
        rest.try_for_each(|texts| print_texts(texts?))
    })
}

fn print(
    answer: &SearchResult,
    range: Range<usize>,
    printer: &mut Printer<'_>,
    read: ReadFile<'_>,
) -> Result<()> {
    let chunk_len = answer.chunk_len();
    for start in range.clone().step_by(chunk_len) {
        for found in answer.matches(start..range.end.min(start + chunk_len))? {
            printer.add(found, read)?;
        }
    }
    Ok(())
}

fn read(frontend: &Coordinator, document: &Document, offset: u64, count: u64) -> Result<Vec<u8>> {
    let request = FileRequest {
        package: document.package.clone(),
        path: document.path.clone(),
        range: FileRange::Bytes { offset, count },
        revision: document.revisions.commit.clone(),
        source: FileSource::Text,
        visible: None,
        definitions: false,
        inside: Vec::new(),
        symbol_line: 0,
        symbol_column: 0,
    };
    let scope = Scope::everything();
    let reply = frontend.file(&scope, &request);
    let reply = tokio::runtime::Handle::current().block_on(reply)?;
    let path = String::from_utf8_lossy(&document.path);
    ensure!(reply.found, "{path}: removed from the index; search again");
    let is_same = reply.hash == document.hash;
    ensure!(
        is_same,
        "{path}: the index changed during the search; search again"
    );
    Ok(reply.text)
}
