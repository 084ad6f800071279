//! Body of a file's page, rendered while it is sent.
//!
//! A file read in one piece is rendered at once. A longer file counts as an export; without room
//! for it, the page ends with the first piece.
//!
//! **Invariant:** all lines are of one text: if the file changes meanwhile, the page ends with a
//! notice.

use super::super::tree::{self, directory_of};
use super::super::versions;
use super::lines::{CHUNK_LINES, LinesView, first_lines};
use super::outline::render_outline;
use super::page::{FilePage, PAGE_BYTES_MAX, Rest};
use crate::http::stream_body::Export;
use crate::problem::Problem;
use crate::suggest::Corpus;
use crate::symbols;
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use schema::message::{FileRange, FileReply, FileRequest};
use std::convert::Infallible;

/// A backend sends at most 512 KiB.
pub(super) const PIECE_LINES: u32 = 5000;

enum Stage {
    Head,
    Lines,
    Done,
}

pub(super) struct PageBody {
    /// Pins the commit of the first piece.
    request: FileRequest,
    hash: Vec<u8>,
    commit: String,
    /// Access of its caller is checked before each piece.
    page: FilePage,
    view: LinesView,
    rendered: Option<String>,
    /// Whole lines, and rendered bytes.
    text: Vec<u8>,
    at: usize,
    next: u32,
    last: u32,
    bytes_left: u64,
    stage: Stage,
    export: Option<Export>,
}

impl PageBody {
    pub(super) fn new(
        request: FileRequest,
        reply: FileReply,
        last: u32,
        (page, view): (FilePage, LinesView),
        rendered: Option<String>,
    ) -> PageBody {
        PageBody {
            request,
            hash: reply.hash.clone(),
            commit: reply.commit.clone(),
            page,
            view,
            rendered,
            next: reply.first_line,
            last,
            bytes_left: PAGE_BYTES_MAX,
            text: whole_lines(reply),
            at: 0,
            stage: Stage::Head,
            export: None,
        }
    }

    pub(super) async fn send(mut self) -> Body {
        let (_, in_hand) = first_lines(&self.text, usize::MAX);
        let end = self.next.saturating_add(in_hand);
        if end <= self.last {
            match self.page.asked.call.exports.begin() {
                Ok(export) => self.export = Some(export),
                Err(_) => self.last = end.saturating_sub(1),
            }
        }
        if self.export.is_some() {
            return Body::from_stream(stream::unfold(self, Self::step));
        }
        let mut page = String::new();
        while let Some(part) = self.part().await {
            page.push_str(&part);
        }
        Body::from(page)
    }

    async fn step(mut self) -> Option<(Result<Bytes, Infallible>, PageBody)> {
        let part = self.part().await?;
        Some((Ok(part.into()), self))
    }

    async fn part(&mut self) -> Option<String> {
        match self.stage {
            Stage::Head => {
                self.stage = Stage::Lines;
                let (mut head, _) = self.page.around_lines();
                if let Some(rendered) = self.rendered.take() {
                    head.push_str(&rendered);
                    self.next = self.last.saturating_add(1);
                }
                Some(head)
            }
            Stage::Lines => match self.chunk().await {
                Ok(Some(chunk)) => Some(chunk),
                Ok(None) => Some(self.end(None).await),
                Err(problem) => Some(self.end(Some(problem)).await),
            },
            Stage::Done => None,
        }
    }

    async fn chunk(&mut self) -> Result<Option<String>, Problem> {
        if self.next > self.last || self.bytes_left == 0 {
            return Ok(None);
        }
        if self.at == self.text.len() {
            self.read().await?;
        }
        let most = CHUNK_LINES.min((self.last - self.next) as usize + 1);
        let text = &self.text[self.at..];
        let (bytes, lines) = first_lines(text, most);
        if lines == 0 {
            return Ok(None);
        }
        let site = &self.page.form.site;
        let html = self.view.render(site, self.next, &text[..bytes]);
        self.at += bytes;
        self.next += lines;
        self.bytes_left = self.bytes_left.saturating_sub(bytes as u64);
        Ok(Some(html))
    }

    async fn read(&mut self) -> Result<(), Problem> {
        let request = FileRequest {
            range: FileRange::Lines {
                first: self.next,
                count: PIECE_LINES,
            },
            ..self.request.clone()
        };
        let call = &self.page.asked.call;
        let scope = call.viewer.scope_of(&request.package).await?;
        let reply = call.coordinator.file(&scope, &request).await?;
        if !reply.found || reply.hash != self.hash || reply.first_line != self.next {
            let detail = "the file has changed while it was read; reload the page";
            return Err(Problem::unavailable(detail));
        }
        (self.text, self.at) = (whole_lines(reply), 0);
        Ok(())
    }

    async fn end(&mut self, problem: Option<Problem>) -> String {
        self.stage = Stage::Done;
        let (page, next) = (&self.page, self.next);
        let has_later = u64::from(next) <= page.total_lines && problem.is_none();
        let mut rest = Rest {
            later: has_later.then(|| page.address().window_href(next)),
            problem: problem.map(|problem| problem.document.detail),
            ..Rest::default()
        };
        let FileRequest { package, path, .. } = &self.request;
        if let Ok(scope) = page.asked.call.viewer.scope_of(package).await {
            let corpus = page.asked.call.corpus(&scope);
            let named = (&package[..], &page.asked.revision[..]);
            let tree = tree::list(corpus, named, directory_of(path), Vec::new(), path);
            rest.tree = tree.await.ok();
            let lines = page.asked.kept.lines.parameter();
            let shown = page.shown(&self.commit, &lines);
            rest.versions = versions::menu(&page.form.site, corpus, shown).await;
            rest.outline = outline(corpus, page, &self.request, &self.hash).await;
        }
        self.page.rest = rest;
        self.page.around_lines().1
    }
}

/// Empty beside a rendered file, which has no lines.
async fn outline(
    corpus: Corpus<'_>,
    page: &FilePage,
    request: &FileRequest,
    hash: &[u8],
) -> String {
    if page.is_rendered {
        return String::new();
    }
    let found = symbols::definitions_of(corpus, request.clone(), hash).await;
    let render = |found| render_outline(&page.form.site, &found, page.shown, page.address());
    found.map_or_else(String::new, render)
}

/// Drops an incomplete last line unless it is the only one.
fn whole_lines(reply: FileReply) -> Vec<u8> {
    let mut text = reply.text;
    let end = reply.offset + text.len() as u64;
    if end < reply.total_bytes
        && let Some(at) = text.iter().rposition(|&byte| byte == b'\n')
    {
        text.truncate(at + 1);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_line_is_left_for_the_next_piece_unless_it_is_alone() {
        let whole = |text: &[u8], total_bytes| {
            whole_lines(FileReply {
                text: text.to_vec(),
                total_bytes,
                ..FileReply::default()
            })
        };
        assert_eq!(whole(b"a\nb\nc", 100), b"a\nb\n");
        assert_eq!(whole(b"a\nb\nc", 5), b"a\nb\nc");
        assert_eq!(whole(b"a\nb\n", 100), b"a\nb\n");
        assert_eq!(whole(b"abc", 100), b"abc");
    }
}
