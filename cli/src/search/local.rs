//! Searches an index directory in this process, over the frames that a server would get.

use super::output::Output;
use super::progress::Shown;
use super::summary::{Explain, Summary};
use super::whole::Whole;
use crate::client;
use anyhow::{Context, Result, bail};
use frontend::{Coordinator, MatchEvent, ParsedQuery, Search, SearchError, SearchResult};
use frontend::{Document, Match};
use schema::message::FileRange;
use std::path::Path;
use std::sync::Arc;

pub(super) fn search(index: &Path, parsed: &ParsedQuery, output: &mut Output) -> Result<Summary> {
    let runtime = client::runtime()?;
    let summary = runtime.block_on(async {
        let frontend = client::over(index)?;
        search_with(&frontend, parsed, output).await
    });
    runtime.shutdown_background();
    summary
}

async fn search_with(
    frontend: &Arc<Coordinator>,
    parsed: &ParsedQuery,
    output: &mut Output,
) -> Result<Summary> {
    let search = frontend
        .search_within(parsed.query.clone(), None, parsed.timeout)
        .await?;
    let streams = output.look().follows();
    let shown = match streams {
        true => Shown::nothing(),
        false => Shown::of(&search),
    };
    if streams {
        tokio::task::block_in_place(|| follow(frontend, &search, output))?;
    }
    let answer = search.finished().await.map_err(|error| match error {
        SearchError::BadQuery(bad) => anyhow::Error::new(parsed.locate(bad)),
        other => other.into(),
    })?;
    shown.end().await;
    // Blocks this thread, which has nothing else to do.
    tokio::task::block_in_place(|| match output.look().is_plain() {
        _ if streams => Ok(()),
        true => print_plain(frontend, &answer, output),
        false => print(frontend, &answer, 0..answer.len(), output),
    })?;
    Ok(summary(&answer))
}

/// Prints what is found as it is found.
fn follow(frontend: &Arc<Coordinator>, search: &Search, output: &mut Output) -> Result<()> {
    let whole = Whole::new(search.query(), output.look());
    let read = |document: &Document, offset, count| {
        read(frontend, document, FileRange::Bytes { offset, count })
    };
    search.follow(|followed| {
        let MatchEvent::Matches(matches) = followed else {
            return output.flush();
        };
        for found in matches {
            output.take(whole.make(found, &read)?)?;
        }
        output.end_document()
    })
}

fn summary(answer: &SearchResult) -> Summary {
    let explain = answer.explain();
    let missing = answer.missing().iter();
    Summary {
        found: answer.found(),
        documents: explain.shard_documents,
        missing: missing
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
    }
}

/// Matches as they are in the answer's text, but for those of which it has only a part.
fn print_plain(
    frontend: &Arc<Coordinator>,
    answer: &SearchResult,
    output: &mut Output,
) -> Result<()> {
    answer.for_each_text(|texts| {
        texts.iter().try_for_each(|text| match text.whole {
            true => Ok(output.print_bytes(text.bytes)?),
            false => print(frontend, answer, text.index..text.index + 1, output),
        })
    })
}

fn print(
    frontend: &Arc<Coordinator>,
    answer: &SearchResult,
    range: std::ops::Range<usize>,
    output: &mut Output,
) -> Result<()> {
    let whole = Whole::new(answer.query(), output.look());
    let chunk_len = answer.chunk_len();
    for start in range.clone().step_by(chunk_len) {
        let matches: Vec<Match> = answer.matches(start..range.end.min(start + chunk_len))?;
        for found in matches {
            let read = |document: &Document, offset, count| {
                read(frontend, document, FileRange::Bytes { offset, count })
            };
            output.take(whole.make(found, &read)?)?;
        }
    }
    Ok(())
}

fn read(frontend: &Arc<Coordinator>, document: &Document, range: FileRange) -> Result<Vec<u8>> {
    let asked = frontend.file(&document.package, &document.path, range);
    let reply = tokio::runtime::Handle::current().block_on(asked)?;
    let reply = reply.context("a file is gone from the index")?;
    if reply.hash != document.hash {
        bail!("a file has changed in the index while it was searched");
    }
    Ok(reply.text)
}
