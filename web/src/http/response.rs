//! Parts of responses of all interfaces: conditional requests (`ETag`, `If-None-Match`),
//! `Cache-Control` and `Server-Timing`.
//!
//! A complete answer is fixed while the shards are: a client with its tag gets 304 without a
//! search. The tag is weak, since a page shows its duration.
//!
//! **Invariant:** only complete answers have a tag.

pub(crate) use crate::problem::NO_STORE;

use crate::http::assets;
use crate::http::site::Theme;
use crate::model::Timings;
use crate::problem::RETRY_AFTER_S;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use fnv::FnvHasher;
use frontend::SearchResult;
use std::convert::Infallible;
use std::hash::Hasher;

pub(crate) fn json(shape: &impl serde::Serialize) -> Response {
    let body = serde_json::to_vec(shape).expect("shapes are plain data");
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

pub(crate) fn no_store(body: impl IntoResponse) -> Response {
    ([(header::CACHE_CONTROL, NO_STORE)], body).into_response()
}

/// Status 503 if no backend contributed. The body stays.
pub(crate) fn mark_unavailable(response: &mut Response, answer: &SearchResult) {
    if answer.is_unavailable() {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_S));
    }
}

/// Returns whether another search would find the same. Skipped documents may be found then.
pub(crate) fn is_whole(answer: &SearchResult) -> bool {
    answer.is_complete() && answer.skipped().count == 0
}

/// Completeness, for bodies without such a field.
pub(crate) fn complete_header(answer: &SearchResult) -> (HeaderName, HeaderValue) {
    let complete = if answer.is_complete() {
        "true"
    } else {
        "false"
    };
    let name = HeaderName::from_static("x-trawl-complete");
    (name, HeaderValue::from_static(complete))
}

/// Search id, for bodies without such a field.
pub(crate) fn search_header(id: &str) -> (HeaderName, HeaderValue) {
    let id = HeaderValue::from_str(id).expect("an id consists of hexadecimal digits");
    (HeaderName::from_static("x-trawl-search"), id)
}

/// Complete answers: revalidate before each use.
pub(crate) const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Address of a request, and the client's tags. The default is for requests that the address does
/// not identify, such as a POST: their answers have no tag.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownTags {
    address: String,
    has: Vec<String>,
    /// Part of the tag.
    theme: Option<Theme>,
}

impl<S: Sync> FromRequestParts<S> for KnownTags {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let tags = parts.headers.get_all(header::IF_NONE_MATCH).iter();
        let tags = tags.filter_map(|tags| tags.to_str().ok());
        Ok(KnownTags {
            address: parts.uri.to_string(),
            has: tags.flat_map(|tags| tags.split(',')).map(opaque).collect(),
            theme: Theme::of(&parts.headers),
        })
    }
}

/// `If-None-Match` ignores the prefix of weak tags.
fn opaque(tag: &str) -> String {
    let tag = tag.trim();
    tag.strip_prefix("W/").unwrap_or(tag).to_owned()
}

impl KnownTags {
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn unless_changed(&self, identity: impl FnOnce() -> String) -> Option<Response> {
        if self.has.is_empty() {
            return None;
        }
        let tag = self.tag(&identity());
        if !self.has.contains(&tag) {
            return None;
        }
        metrics::counter!("trawl_frontend_not_modified_total").increment(1);
        let mut response = StatusCode::NOT_MODIFIED.into_response();
        keep(response.headers_mut(), &tag);
        Some(response)
    }

    /// Drops the tags while changes are pending: a later answer may differ.
    pub(crate) fn unless_pending(self, pending: u64) -> KnownTags {
        if pending == 0 {
            return self;
        }
        KnownTags::default()
    }

    /// `was_there`: the answer was cached.
    pub(crate) fn finish(
        &self,
        response: &mut Response,
        answer: &SearchResult,
        timings: &Timings,
        was_there: bool,
    ) {
        mark_unavailable(response, answer);
        let headers = response.headers_mut();
        headers.insert(SERVER_TIMING, server_timing(timings, was_there));
        if is_whole(answer) && !self.address.is_empty() {
            keep(headers, &self.tag(answer.identity()));
        } else {
            headers.insert(header::CACHE_CONTROL, NO_STORE);
        }
    }

    /// Tag of a page: covers the shards, the query, the view and this program.
    fn tag(&self, identity: &str) -> String {
        let mut hasher = FnvHasher::default();
        for part in [&self.address, identity, env!("CARGO_PKG_VERSION")] {
            hasher.write(&(part.len() as u64).to_le_bytes());
            hasher.write(part.as_bytes());
        }
        hasher.write(assets::hash().as_bytes());
        hasher.write(self.theme.map_or("", Theme::name).as_bytes());
        format!("\"{:016x}\"", hasher.finish())
    }
}

fn keep(headers: &mut HeaderMap, tag: &str) {
    let tag =
        HeaderValue::from_str(&format!("W/{tag}")).expect("a tag consists of hexadecimal digits");
    headers.insert(header::ETAG, tag);
    headers.insert(header::CACHE_CONTROL, REVALIDATE);
}

/// Phases in milliseconds; for a cached answer only the rendering.
fn server_timing(timings: &Timings, was_there: bool) -> HeaderValue {
    let phases = timings.each();
    let (hit, shown) = if was_there {
        (
            Some("cache;desc=hit".to_owned()),
            &phases[phases.len() - 1..],
        )
    } else {
        (None, &phases[..])
    };
    let shown = shown.iter();
    let shown = shown.map(|(phase, ms)| format!("{phase};dur={ms:.3}"));
    let out: Vec<_> = hit.into_iter().chain(shown).collect();
    HeaderValue::from_str(&out.join(", ")).expect("names and numbers are ASCII")
}

pub(crate) fn with_body(response: Response, content_type: &'static str, body: String) -> Response {
    let mut response = response.map(|_| Body::from(body));
    let content_type = HeaderValue::from_static(content_type);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, content_type);
    // A HEAD response still has the old length.
    headers.remove(header::CONTENT_LENGTH);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_tags_in_lists() {
        let known = |tags: &str| KnownTags {
            address: "/search?q=x".to_owned(),
            has: tags.split(',').map(opaque).collect(),
            theme: None,
        };
        let tag = known("").tag("1");
        for tags in [
            tag.clone(),
            format!("W/{tag}"),
            format!("\"a\" , W/{tag},\"b\""),
        ] {
            assert!(
                known(&tags).unless_changed(|| "1".to_owned()).is_some(),
                "{tags}"
            );
            assert!(
                known(&tags).unless_changed(|| "2".to_owned()).is_none(),
                "another search"
            );
        }
        for tags in ["", "*", "\"\""] {
            assert!(
                known(tags).unless_changed(|| "1".to_owned()).is_none(),
                "{tags}"
            );
        }
    }
}
