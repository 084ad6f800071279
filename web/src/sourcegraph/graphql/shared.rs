//! Pieces of all objects.

use super::super::progress::words;
use crate::problem::Problem;
use async_graphql::{Error, SimpleObject};
use std::sync::atomic::AtomicU64;
use tokio::sync::Semaphore;

pub(super) struct TextLeft {
    pub(super) bytes: AtomicU64,
    pub(super) turns: Semaphore,
}

pub(super) fn refused(problem: impl Into<Problem>) -> Error {
    Error::new(words(&problem.into()))
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
