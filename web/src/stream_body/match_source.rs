//! All matches of an answer, best first, in some format.

use super::{PIECE_BYTES, Source};
use frontend::{RenderedMatches, Renderer, SearchResult, SpoolError};
use std::sync::Arc;

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
}

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
        }
    }
}

impl Source for MatchSource {
    fn is_small(&self) -> bool {
        self.answer.is_in_memory()
    }

    fn piece(&mut self, bytes_max: usize) -> Result<Option<Vec<u8>>, SpoolError> {
        let mut out = std::mem::take(&mut self.head).to_vec();
        while out.len() < PIECE_BYTES {
            let rendered = self.rendered.as_mut();
            if let Some(written) = rendered.and_then(|some| some.take(&mut out, PIECE_BYTES)) {
                self.written = written;
                continue;
            }
            // Given back before more is rendered.
            self.rendered = None;
            let more = self
                .renderer
                .render(&self.answer, self.written, bytes_max)?;
            if more.is_empty() {
                break;
            }
            self.rendered = Some(more);
        }
        Ok(Some(out).filter(|out| !out.is_empty()))
    }

    fn forget(&mut self) {
        self.rendered = None;
    }
}
