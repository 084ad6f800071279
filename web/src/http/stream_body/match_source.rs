//! All matches of an answer, best first, in some format.

use super::{LongLine, PIECE_BYTES, ReadMemory, Source, lines_of};
use crate::model::ExportEnd;
use frontend::query::Notice;
use frontend::{RenderedMatches, Renderer, SearchResult, SpoolError, Take};
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

pub(crate) struct MatchSource {
    answer: Arc<SearchResult>,
    renderer: Renderer,
    /// Matches written as rendered. For others, the rest of the text is fetched.
    which: Take,
    line: Option<LongLine>,
    /// Search id, number of pending files, and notices, for a last line of JSON.
    end_of: Option<(String, u64, Vec<Notice>)>,
    lines: u64,
    /// Header of the format, until it is written.
    head: &'static [u8],
    written: usize,
    rendered: Option<RenderedMatches>,
    ahead: Option<JoinHandle<Window>>,
}

/// Some matches, and the renderer with their line lengths.
type Window = (Renderer, Result<RenderedMatches, SpoolError>);

impl MatchSource {
    /// Writes whole lines, then for `end_of` a last line of JSON.
    pub(crate) fn text(
        answer: Arc<SearchResult>,
        end_of: Option<(String, u64, Vec<Notice>)>,
    ) -> MatchSource {
        MatchSource {
            which: Take::Whole,
            end_of,
            ..MatchSource::new(answer, Renderer::text(), b"")
        }
    }

    pub(crate) fn new(
        answer: Arc<SearchResult>,
        renderer: Renderer,
        head: &'static [u8],
    ) -> MatchSource {
        MatchSource {
            answer,
            renderer,
            which: Take::All,
            line: None,
            end_of: None,
            lines: 0,
            head,
            written: 0,
            rendered: None,
            ahead: None,
        }
    }

    /// All of `rendered` was written.
    fn render(&mut self, memory: &Arc<ReadMemory>) -> Result<&RenderedMatches, SpoolError> {
        // Frees its memory first.
        self.rendered = None;
        let rendered = match self.ahead.take() {
            Some(thread) => {
                let window = thread.join();
                let (renderer, rendered) = window.unwrap_or_else(|panic| resume_unwind(panic));
                self.renderer = renderer;
                rendered?
            }
            None => self
                .renderer
                .render(&self.answer, self.written, memory.window_bytes())?,
        };
        let next = self.written + rendered.len();
        if memory.is_ahead() && next < self.answer.len() {
            // Rendered later if there is no thread.
            self.ahead = self.render_ahead(next, Arc::clone(memory)).ok();
        }
        Ok(self.rendered.insert(rendered))
    }

    fn render_ahead(
        &self,
        first: usize,
        memory: Arc<ReadMemory>,
    ) -> io::Result<JoinHandle<Window>> {
        let (answer, mut renderer) = (Arc::clone(&self.answer), self.renderer.clone());
        let span = tracing::Span::current();
        thread::Builder::new().spawn(move || {
            let rendered = span.in_scope(|| renderer.render(&answer, first, memory.window_bytes()));
            (renderer, rendered)
        })
    }
}

impl Source for MatchSource {
    fn is_quick(&self) -> bool {
        let is_rendered = self.rendered.as_ref().is_some_and(|rendered| {
            let is_read = self.which == Take::All || !rendered.has_cut();
            is_read && rendered.bytes_left() >= PIECE_BYTES
        });
        is_rendered || self.answer.is_in_memory()
    }

    fn piece(&mut self, memory: &Arc<ReadMemory>) -> Result<Option<Vec<u8>>, SpoolError> {
        let mut out = std::mem::take(&mut self.head).to_vec();
        while out.len() < PIECE_BYTES {
            let which = self.which;
            let rendered = self.rendered.as_mut();
            let written = rendered.and_then(|some| some.take(which, &mut out, PIECE_BYTES));
            if let Some(written) = written {
                self.written = written;
            } else if let Some(cut) = self.rendered.as_mut().and_then(RenderedMatches::take_cut) {
                self.written = cut + 1;
                for found in self.answer.matches(cut..cut + 1)? {
                    self.line = LongLine::begin(&found, &mut out);
                    self.lines += self.line.as_ref().map_or(0, |_| u64::from(found.lines));
                }
                if self.line.is_some() {
                    break;
                }
            } else if self.render(memory)?.is_empty() {
                break;
            }
        }
        if let Some((id, pending, notices)) = &self.end_of {
            self.lines += lines_of(&out);
            if out.len() < PIECE_BYTES && self.line.is_none() {
                let end = ExportEnd::new(&self.answer, (id, *pending), self.lines, notices);
                serde_json::to_writer(&mut out, &end).expect("an end is plain data");
                out.push(b'\n');
                self.end_of = None;
            }
        }
        Ok(Some(out).filter(|out| !out.is_empty()))
    }

    fn long_line(&mut self) -> Option<LongLine> {
        self.line.take()
    }

    fn forget(&mut self) {
        self.rendered = None;
        self.ahead = None;
    }
}
