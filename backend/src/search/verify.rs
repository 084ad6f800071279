//! Verifies candidate blocks: finds the matching lines in their bytes.

use super::line_locator::LineLocator;
use super::request::Interrupted;
use super::shard_task::ShardTask;
use super::unit_result::{DocumentMatches, UnitResult};
use crate::batch::{BatchBuffers, Packed};
use crate::line_matcher::LineMatcher;
use crate::scan;
use index::shard::{DocId, Document, Package, ShardError};
use std::mem;
use std::ops::{ControlFlow, Range};

/// Verifies blocks, and keeps its buffers from one document to the next.
pub(super) struct Verifier<'a> {
    pub(super) task: ShardTask<'a>,
    /// The package of the last document.
    package: Option<Package<'a>>,
    /// The ranges of the current line.
    pub(super) ranges: Vec<(usize, usize)>,
    /// Reused by the next packer.
    buffers: BatchBuffers,
    /// The text of the current blocks.
    pub(super) text: Vec<u8>,
}

impl<'a> Verifier<'a> {
    pub(super) fn new(task: ShardTask<'a>) -> Self {
        Verifier {
            task,
            package: None,
            ranges: Vec::new(),
            buffers: BatchBuffers::default(),
            text: Vec::new(),
        }
    }

    pub(super) fn begin(
        &mut self,
        document: Document<'a>,
    ) -> Result<DocumentMatches<'a>, Interrupted> {
        let package = self.package_of(document.id)?.directory;
        let buffers = mem::take(&mut self.buffers);
        Ok(DocumentMatches::new(self.task, document, package, buffers))
    }

    pub(super) fn end(
        &mut self,
        matches: DocumentMatches<'a>,
        out: &mut Packed,
    ) -> Result<(), ShardError> {
        self.buffers = matches.finish(out)?;
        Ok(())
    }

    /// Verifies consecutive blocks of one document.
    pub(super) fn verify(
        &mut self,
        matcher: &LineMatcher,
        blocks: Range<u32>,
        matches: &mut DocumentMatches<'a>,
        out: &mut UnitResult,
    ) -> Result<(), Interrupted> {
        let ShardTask { shard, request, .. } = self.task;
        let mut buffer = mem::take(&mut self.text);
        let text = shard.read_text(shard.text_range(blocks.clone())?, &mut buffer)?;
        out.verified_bytes += text.len() as u64;
        let mut locator = LineLocator::new(shard, blocks)?;
        let mut result = Ok(());
        let _ = scan::matching_lines(matcher, text, |line| {
            matches.matched = true;
            out.lines += 1;
            result = if matches.counts_only {
                locator.enter(&line)
            } else {
                locator.locate(text, &line).and_then(|position| {
                    let line = &text[line];
                    scan::ranges(&matcher.finder, scan::without_end(line), &mut self.ranges);
                    matches.push(position, line, &self.ranges, out)
                })
            };
            if result.is_err() || matches.is_done() || request.cancel.is_cancelled() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        out.matched_blocks += locator.matched_blocks;
        self.text = buffer;
        Ok(result?)
    }

    pub(super) fn package_of(&mut self, document: DocId) -> Result<Package<'a>, Interrupted> {
        match &self.package {
            Some(package) if package.documents.contains(&document.0) => Ok(package.clone()),
            _ => {
                let id = self.task.shard.package_of(document)?;
                let package = self.task.shard.package(id)?;
                self.package = Some(package.clone());
                Ok(package)
            }
        }
    }
}
