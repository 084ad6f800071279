//! Searches an index directory in this process, over the frames that a server would get.

use super::{Explain, Printer, Summary};
use crate::place;
use anyhow::{Context, Result, bail};
use frontend::render::Match;
use frontend::{Answer, Config, Frontend, Query};
use schema::message::{FileRange, Want};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// What a search may have in memory before it writes to the disk: it is the only one here.
const RUN_MEMORY_BYTES: u64 = 64 << 20;

pub(super) fn search(index: &Path, query: Query, printer: &mut Printer) -> Result<Summary> {
    // It only passes on frames; what takes long has threads of its own.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let summary = runtime.block_on(async {
        let backend = crate::local::backend(index)?;
        let frontend = place::with_free_spool("search", |spool| {
            let config = Config {
                durable: false,
                run_memory_bytes: RUN_MEMORY_BYTES,
                query_memory_bytes: RUN_MEMORY_BYTES,
                ..Config::new(spool)
            };
            Frontend::start(config, vec![backend.clone()])
        })?;
        search_with(&frontend, query, printer).await
    });
    runtime.shutdown_background();
    summary
}

async fn search_with(
    frontend: &Arc<Frontend>,
    query: Query,
    printer: &mut Printer,
) -> Result<Summary> {
    let search = frontend.search(query).await?;
    let answer = search.finished().await.map_err(|error| match error {
        frontend::SearchError::BadQuery(bad) => anyhow::Error::new(bad),
        other => other.into(),
    })?;
    // Blocks this thread, which has nothing else to do.
    tokio::task::block_in_place(|| match printer.wants_bytes() {
        _ if answer.query().want() == Want::Count => Ok(()),
        true => print_bytes(frontend, &answer, printer),
        false => print_styled(frontend, &answer, printer),
    })?;
    let explain = answer.explain();
    Ok(Summary {
        matches: answer.found(),
        missing: answer
            .missing()
            .iter()
            .map(|missing| (missing.backend.clone(), missing.reason.clone()))
            .collect(),
        skipped: answer.skipped().count,
        explain: Explain {
            plan: explain.plan.clone(),
            blocks: explain.blocks,
            candidates: explain.candidates,
            matched_blocks: explain.matched_blocks,
            verified_bytes: explain.verified_bytes,
        },
    })
}

fn print_bytes(frontend: &Arc<Frontend>, answer: &Answer, printer: &mut Printer) -> Result<()> {
    answer.for_each_text(|texts| {
        texts.iter().try_for_each(|text| {
            if text.whole {
                return Ok(printer.print_bytes(text.bytes)?);
            }
            answer
                .matches(text.index..text.index + 1)?
                .iter()
                .try_for_each(|found| print(frontend, found, printer))
        })
    })
}

fn print_styled(frontend: &Arc<Frontend>, answer: &Answer, printer: &mut Printer) -> Result<()> {
    let chunk_len = answer.chunk_len();
    for start in (0..answer.len()).step_by(chunk_len) {
        answer
            .matches(start..answer.len().min(start + chunk_len))?
            .iter()
            .try_for_each(|found| print(frontend, found, printer))?;
    }
    Ok(())
}

fn print(frontend: &Arc<Frontend>, found: &Match, printer: &mut Printer) -> Result<()> {
    let runtime = tokio::runtime::Handle::current();
    let text = runtime.block_on(whole_line(frontend, found))?;
    Ok(printer.print(found, &text)?)
}

/// The line of a match, fetched when only a part of it came with the match.
async fn whole_line<'a>(frontend: &Arc<Frontend>, found: &'a Match) -> Result<Cow<'a, [u8]>> {
    let Some(window) = found.window else {
        return Ok(Cow::Borrowed(&found.text));
    };
    let mut line = Vec::new();
    while (line.len() as u64) < window.line_bytes {
        let done = line.len() as u64;
        let range = FileRange::Bytes {
            offset: found.offset + done,
            count: window.line_bytes - done,
        };
        let reply = frontend
            .file(&found.document.package, &found.document.path, range)
            .await?;
        let reply = reply.context("a file is gone from the index")?;
        if reply.text.is_empty() || reply.hash != found.document.hash {
            bail!("a file has changed in the index while it was searched");
        }
        line.extend_from_slice(&reply.text);
    }
    Ok(Cow::Owned(line))
}
