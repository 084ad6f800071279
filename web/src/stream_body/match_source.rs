//! All matches of an answer, best first, in some format.

use super::{PIECE_BYTES, ReadMemory, Source};
use frontend::{RenderedMatches, Renderer, SearchResult, SpoolError};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// Renders the matches of an answer.
pub(crate) struct MatchSource {
    answer: Arc<SearchResult>,
    renderer: Renderer,
    /// What precedes the first match, until it is written.
    head: &'static [u8],
    /// The number of matches that were written.
    written: usize,
    /// Matches that were rendered, and may not all be written.
    rendered: Option<RenderedMatches>,
    /// A thread that renders the matches after `rendered`, while those are sent.
    ahead: Option<JoinHandle<Window>>,
}

/// Some matches, and the renderer that knows how long they were.
type Window = (Renderer, Result<RenderedMatches, SpoolError>);

impl MatchSource {
    /// Writes `head`, then the matches.
    pub(crate) fn new(
        answer: Arc<SearchResult>,
        renderer: Renderer,
        head: &'static [u8],
    ) -> MatchSource {
        MatchSource {
            answer,
            renderer,
            head,
            written: 0,
            rendered: None,
            ahead: None,
        }
    }

    /// Replaces `rendered`, of which all was written, by the matches after it.
    fn render(&mut self, memory: &Arc<ReadMemory>) -> Result<&RenderedMatches, SpoolError> {
        // Its memory is needed now.
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
            self.ahead = Some(self.render_ahead(next, Arc::clone(memory)));
        }
        Ok(self.rendered.insert(rendered))
    }

    /// Renders matches from `first` on while others are sent.
    fn render_ahead(&self, first: usize, memory: Arc<ReadMemory>) -> JoinHandle<Window> {
        let (answer, mut renderer) = (Arc::clone(&self.answer), self.renderer.clone());
        let span = tracing::Span::current();
        thread::spawn(move || {
            let rendered = span.in_scope(|| renderer.render(&answer, first, memory.window_bytes()));
            (renderer, rendered)
        })
    }
}

impl Source for MatchSource {
    fn is_quick(&self) -> bool {
        let rendered = self.rendered.as_ref();
        let is_rendered = rendered.is_some_and(|rendered| rendered.bytes_left() >= PIECE_BYTES);
        is_rendered || self.answer.is_in_memory()
    }

    fn piece(&mut self, memory: &Arc<ReadMemory>) -> Result<Option<Vec<u8>>, SpoolError> {
        let mut out = std::mem::take(&mut self.head).to_vec();
        while out.len() < PIECE_BYTES {
            let rendered = self.rendered.as_mut();
            if let Some(written) = rendered.and_then(|some| some.take(&mut out, PIECE_BYTES)) {
                self.written = written;
            } else if self.render(memory)?.is_empty() {
                break;
            }
        }
        Ok(Some(out).filter(|out| !out.is_empty()))
    }

    fn forget(&mut self) {
        self.rendered = None;
        // The thread ends soon, and what it rendered is dropped then.
        self.ahead = None;
    }
}
