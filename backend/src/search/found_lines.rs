//! Matching lines of a text with several documents: found once, emitted for each.

use super::document_matches::{DocumentMatches, LineSink, UnitResult};
use crate::pack::batch::LinePosition;
use index::shard::ShardError;
use schema::message::Want;
use std::ops::Range;
use std::rc::Rc;

pub(super) struct FoundLines {
    counts_only: bool,
    want: Want,
    count: u64,
    has_given_up: bool,
    lines: Vec<(LinePosition, Range<usize>)>,
    ranges: Vec<(usize, usize)>,
}

impl FoundLines {
    /// `counts_only` if no document sends lines.
    pub(super) fn new(counts_only: bool, want: Want) -> Self {
        FoundLines {
            counts_only,
            want,
            count: 0,
            has_given_up: false,
            lines: Vec::new(),
            ranges: Vec::new(),
        }
    }

    pub(super) fn replay(
        &self,
        matches: &mut DocumentMatches<'_>,
        out: &mut UnitResult,
    ) -> Result<(), ShardError> {
        matches.count(self.count, out);
        if self.has_given_up {
            matches.give_up();
        }
        if matches.counts_only() {
            return Ok(());
        }
        let (shard, texts) = (matches.task.shard, Rc::clone(&matches.texts));
        for (position, ranges) in &self.lines {
            let line = shard.text(position.start..position.end, &texts)?;
            matches.push(*position, &line, &self.ranges[ranges.clone()], out)?;
        }
        Ok(())
    }
}

impl LineSink for FoundLines {
    fn counts_only(&self) -> bool {
        self.counts_only
    }

    fn is_done(&self) -> bool {
        self.count > 0 && self.want == Want::Documents
    }

    fn count(&mut self, lines: u64, _: &mut UnitResult) {
        self.count += lines;
    }

    fn push(
        &mut self,
        position: LinePosition,
        _: &[u8],
        ranges: &[(usize, usize)],
        _: &mut UnitResult,
    ) -> Result<(), ShardError> {
        let first = self.ranges.len();
        self.ranges.extend_from_slice(ranges);
        self.lines.push((position, first..self.ranges.len()));
        Ok(())
    }

    fn give_up(&mut self) {
        self.has_given_up = true;
    }
}
