//! Pieces of all objects.

use super::super::progress::words;
use crate::problem::Problem;
use async_graphql::{Context, Error, Result, SimpleObject};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tokio::sync::Semaphore;

pub(super) struct TextLeft {
    pub(super) bytes: AtomicU64,
    pub(super) turns: Semaphore,
}

/// Commits of all fields of a request.
const LOOKUPS_MAX: u32 = 2000;

pub(super) struct LookupsLeft(AtomicU32);

impl Default for LookupsLeft {
    fn default() -> LookupsLeft {
        LookupsLeft(AtomicU32::new(LOOKUPS_MAX))
    }
}

impl LookupsLeft {
    pub(super) fn take(ctx: &Context<'_>, count: u32) -> Result<()> {
        let LookupsLeft(left) = ctx.data_unchecked();
        let subtract = |left: u32| left.checked_sub(count);
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract);
        let detail = format!("a request reads at most {LOOKUPS_MAX} commits");
        taken.map_err(|_| refused(Problem::bad_request(detail)))?;
        Ok(())
    }
}

pub(super) fn refused(problem: impl Into<Problem>) -> Error {
    Error::new(words(&problem.into()))
}

#[derive(Clone, Default, SimpleObject)]
#[graphql(name = "Markdown")]
pub(super) struct Html {
    text: String,
    html: String,
}

impl Html {
    pub(super) fn of(text: String) -> Html {
        Html {
            html: String::new(),
            text,
        }
    }
}

#[derive(Clone, SimpleObject)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) character: u32,
}

#[derive(Clone, SimpleObject)]
pub(super) struct Range {
    pub(super) start: Position,
    pub(super) end: Position,
}

impl Range {
    pub(super) fn on_line(line: u32, columns: std::ops::Range<usize>) -> Range {
        let position = |column: usize| Position {
            line,
            character: u32::try_from(column).unwrap_or(u32::MAX),
        };
        Range {
            start: position(columns.start),
            end: position(columns.end),
        }
    }
}
