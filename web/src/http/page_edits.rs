//! Final edits of a page: adds the base path to its addresses, and the chosen colours to its root.
//!
//! Only markup of our templates is edited. They escape every quote of a text, so `href="/` is never
//! text, and every `>` of an attribute, so a page can be split after one.

use crate::http::base_path::BasePath;
use crate::http::theme::Theme;
use axum::BoxError;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::{StreamExt, stream};
use http_body::Body as _;
use memchr::memmem;

/// Bytes that wait for the end of a tag. Those of templates are shorter.
const WAITING_MAX: usize = 64 << 10;

/// Suffixes of attributes with an address.
const ADDRESSES: [&[u8]; 3] = [b"href", b" action", b" src"];

/// Beginning of a page.
const ROOT: &[u8] = b"<html lang=\"en\"";

#[derive(Clone, Debug)]
pub(crate) struct PageEdits {
    base: BasePath,
    theme: Option<Theme>,
}

pub(crate) async fn apply(State(base): State<BasePath>, request: Request, next: Next) -> Response {
    let theme = Theme::of(request.headers());
    let edits = PageEdits { base, theme };
    let response = next.run(request).await;
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_page = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if !is_page || (edits.base.as_str().is_empty() && edits.theme.is_none()) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, edits.body(body))
}

impl PageEdits {
    pub(crate) fn of_fragment(base: BasePath) -> PageEdits {
        PageEdits { base, theme: None }
    }

    pub(crate) fn fragment(&self, html: String) -> String {
        if self.base.as_str().is_empty() {
            return html;
        }
        let edited = self.edited(html.as_bytes());
        String::from_utf8(edited).expect("both parts are UTF-8, cut between characters")
    }

    fn body(self, body: Body) -> Body {
        // HEAD has no body.
        if body.is_end_stream() {
            return body;
        }
        let pages = Pages {
            body: body.into_data_stream(),
            edits: self,
            waiting: Vec::new(),
            has_ended: false,
        };
        let parts = stream::unfold(pages, async |mut pages| {
            let part = pages.next().await?;
            Some((part, pages))
        });
        Body::from_stream(parts)
    }

    fn edited(&self, html: &[u8]) -> Vec<u8> {
        let base = self.base.as_str().as_bytes();
        let mut inserts = self.places(html);
        inserts.sort_unstable_by_key(|(at, _)| *at);
        let mut out = Vec::with_capacity(html.len() + inserts.len() * base.len() + 32);
        let mut done = 0;
        for (at, text) in inserts {
            out.extend_from_slice(&html[done..at]);
            out.extend_from_slice(text.as_bytes());
            done = at;
        }
        out.extend_from_slice(&html[done..]);
        out
    }

    /// Returns positions and texts of insertions.
    fn places(&self, html: &[u8]) -> Vec<(usize, String)> {
        let mut places = Vec::new();
        if let Some(theme) = self.theme
            && let Some(at) = memmem::find(html, ROOT)
        {
            let attribute = format!(" data-theme=\"{}\"", theme.name());
            places.push((at + ROOT.len(), attribute));
        }
        let base = self.base.as_str();
        if base.is_empty() {
            return places;
        }
        let mut add = |at: usize| places.push((at, base.to_owned()));
        for at in memmem::find_iter(html, b"=\"/") {
            if ADDRESSES.iter().any(|name| html[..at].ends_with(name)) {
                add(at + 2);
            }
        }
        for at in memmem::find_iter(html, b"; url=/") {
            let digits = html[..at]
                .iter()
                .rev()
                .take_while(|byte| byte.is_ascii_digit());
            if html[..at - digits.count()].ends_with(b" content=\"") {
                add(at + 6);
            }
        }
        places
    }
}

struct Pages {
    body: BodyDataStream,
    edits: PageEdits,
    /// Bytes after the last tag.
    waiting: Vec<u8>,
    has_ended: bool,
}

impl Pages {
    /// Next part, which ends after a tag.
    async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        while !self.has_ended {
            match self.body.next().await {
                Some(Ok(bytes)) => self.waiting.extend_from_slice(&bytes),
                Some(Err(error)) => return Some(Err(error.into())),
                None => self.has_ended = true,
            }
            let end = match memchr::memrchr(b'>', &self.waiting) {
                _ if self.has_ended || self.waiting.len() > WAITING_MAX => self.waiting.len(),
                Some(at) => at + 1,
                None => 0,
            };
            if end > 0 {
                let part: Vec<u8> = self.waiting.drain(..end).collect();
                return Some(Ok(self.edits.edited(&part).into()));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(theme: Option<Theme>) -> PageEdits {
        let base = "/code".parse().unwrap();
        PageEdits { base, theme }
    }

    fn parts(texts: &[&str]) -> String {
        let texts: Vec<_> = texts
            .iter()
            .map(|text| Ok::<_, BoxError>(Bytes::from(text.to_string())))
            .collect();
        let body = edits(Some(Theme::Dark)).body(Body::from_stream(stream::iter(texts)));
        let bytes =
            futures_util::future::FutureExt::now_or_never(axum::body::to_bytes(body, 1 << 20));
        String::from_utf8(bytes.unwrap().unwrap().to_vec()).unwrap()
    }

    #[test]
    fn every_address_of_a_template_gets_the_path_and_no_text_does() {
        for (html, expected) in [
            (
                "<a class=\"x\" href=\"/a\">",
                "<a class=\"x\" href=\"/code/a\">",
            ),
            (
                "<form action=\"/search\">",
                "<form action=\"/code/search\">",
            ),
            ("<img src=\"/a.svg\">", "<img src=\"/code/a.svg\">"),
            (
                "<main data-events-href=\"/e\">",
                "<main data-events-href=\"/code/e\">",
            ),
            (
                "<meta http-equiv=\"refresh\" content=\"12; url=/s\">",
                "<meta http-equiv=\"refresh\" content=\"12; url=/code/s\">",
            ),
            ("<a href=\"#L1\">", "<a href=\"#L1\">"),
            ("<a href=\"https://e/\">", "<a href=\"https://e/\">"),
            ("<input value=\"/x/\">", "<input value=\"/x/\">"),
            (
                "<code>href=&#34;/a&#34;</code>",
                "<code>href=&#34;/a&#34;</code>",
            ),
            (
                "<code>content=&#34;1; url=/a</code>",
                "<code>content=&#34;1; url=/a</code>",
            ),
        ] {
            assert_eq!(edits(None).fragment(html.to_owned()), expected);
        }
    }

    #[test]
    fn the_root_gets_the_colours() {
        let page = parts(&["<!doctype html>\n<html lang=\"en\">\n"]);
        assert_eq!(
            page,
            "<!doctype html>\n<html lang=\"en\" data-theme=\"dark\">\n"
        );
        assert_eq!(
            parts(&["&lt;html lang=&#34;en&#34;"]),
            "&lt;html lang=&#34;en&#34;"
        );
    }

    #[test]
    fn a_page_that_is_sent_in_parts_is_changed_as_a_whole() {
        let page = "<html lang=\"en\"><a href=\"/a\">x</a> y <a href=\"/b\">z</a> end";
        let whole = parts(&[page]);
        assert!(
            whole.contains("/code/b") && whole.ends_with("end"),
            "{whole}"
        );
        for at in 0..page.len() {
            assert_eq!(parts(&[&page[..at], &page[at..]]), whole, "{at}");
        }
    }
}
