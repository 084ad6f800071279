//! What stands in the head of an answer: whether it may be kept, and what took how long.
//!
//! A complete answer is the same as long as the shards are, so it gets a tag, and whoever has it asks
//! with the tag whether it still holds: that is decided without a search. The tag is weak, since the
//! page also says how long it took. **Invariant:** only complete answers have a tag, so a tag that
//! fits stands for one.

use crate::api::model::Timings;
use crate::assets;
use crate::response::NO_STORE;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use fnv::FnvHasher;
use frontend::Answer;
use std::convert::Infallible;
use std::hash::Hasher;

/// What a browser may do with a page: keep it, and ask before it shows it again.
const ASK: HeaderValue = HeaderValue::from_static("private, no-cache");

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// What was asked for, and which answers to it the client has. The default is a request that its
/// address does not say all of: its answer has no tag.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    address: String,
    has: Vec<String>,
}

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let tags = parts.headers.get_all(header::IF_NONE_MATCH).iter();
        let tags = tags.filter_map(|tags| tags.to_str().ok());
        Ok(Asked {
            address: parts.uri.to_string(),
            has: tags.flat_map(|tags| tags.split(',')).map(opaque).collect(),
        })
    }
}

/// A tag without what says whether it is weak, which does not matter to whoever asks.
fn opaque(tag: &str) -> String {
    let tag = tag.trim();
    tag.strip_prefix("W/").unwrap_or(tag).to_owned()
}

impl Asked {
    /// The answer for a client that has the page of this run, if it does.
    pub(crate) fn unless_changed(&self, id: impl FnOnce() -> String) -> Option<Response> {
        if self.has.is_empty() {
            return None;
        }
        let tag = self.tag(&id());
        if !self.has.contains(&tag) {
            return None;
        }
        metrics::counter!("trawl_frontend_not_modified_total").increment(1);
        let mut response = StatusCode::NOT_MODIFIED.into_response();
        keep(response.headers_mut(), &tag);
        Some(response)
    }

    /// Completes the head of a page of `answer`. `was_there`: nothing was searched for it.
    pub(crate) fn dress(
        &self,
        response: &mut Response,
        answer: &Answer,
        timings: &Timings,
        was_there: bool,
    ) {
        let headers = response.headers_mut();
        headers.insert(SERVER_TIMING, server_timing(timings, was_there));
        // What was given up this time may be found the next.
        let is_whole = answer.is_complete() && answer.skipped().count == 0;
        if is_whole && !self.address.is_empty() {
            keep(headers, &self.tag(answer.id()));
        } else {
            headers.insert(header::CACHE_CONTROL, NO_STORE);
        }
    }

    /// Another one whenever the shards, the query, the view of it, or this program are others.
    fn tag(&self, id: &str) -> String {
        let mut hasher = FnvHasher::default();
        for part in [&self.address, id, env!("CARGO_PKG_VERSION")] {
            hasher.write(&(part.len() as u64).to_le_bytes());
            hasher.write(part.as_bytes());
        }
        for asset in [&assets::STYLE, &assets::SCRIPT] {
            hasher.write(&asset.hash().to_le_bytes());
        }
        format!("\"{:016x}\"", hasher.finish())
    }
}

fn keep(headers: &mut HeaderMap, tag: &str) {
    let tag = HeaderValue::from_str(&format!("W/{tag}")).expect("a tag is of hexadecimal digits");
    headers.insert(header::ETAG, tag);
    headers.insert(header::CACHE_CONTROL, ASK);
}

/// Phases and milliseconds; of an answer that was there only what its page took.
fn server_timing(timings: &Timings, was_there: bool) -> HeaderValue {
    let phases = timings.each();
    let shown = match was_there {
        true => &phases[phases.len() - 1..],
        false => &phases[..],
    };
    let mut out: Vec<_> = was_there
        .then(|| "cache;desc=hit".to_owned())
        .into_iter()
        .collect();
    out.extend(
        shown
            .iter()
            .map(|(phase, ms)| format!("{phase};dur={ms:.3}")),
    );
    HeaderValue::from_str(&out.join(", ")).expect("names and numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_in_lists() {
        let asked = |tags: &str| Asked {
            address: "/search?q=x".to_owned(),
            has: tags.split(',').map(opaque).collect(),
        };
        let tag = asked("").tag("1");
        for tags in [
            tag.clone(),
            format!("W/{tag}"),
            format!("\"a\" , W/{tag},\"b\""),
        ] {
            assert!(
                asked(&tags).unless_changed(|| "1".to_owned()).is_some(),
                "{tags}"
            );
            assert!(
                asked(&tags).unless_changed(|| "2".to_owned()).is_none(),
                "another run"
            );
        }
        for tags in ["", "*", "\"\""] {
            assert!(
                asked(tags).unless_changed(|| "1".to_owned()).is_none(),
                "{tags}"
            );
        }
    }
}
