//! Client of the authorization service.
//!
//! A service decides about one name (`GET URL?repo=NAME`) or about many (`POST URL` with `{"repos":
//! […]}`, answered `{"visible": […]}`), for the forwarded credentials.
//!
//! **Invariant:** only a complete, successful answer allows anything. Unclear answers are errors:
//! unknown.

use super::client::{HttpAnswer, HttpClient, Outgoing, get, is_json};
use super::credentials::Credentials;
use frontend::cache::breaker::Breaker;
use futures_util::future::try_join_all;
use http::{HeaderValue, Method, StatusCode, Uri, header};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

const ANSWER_MAX: Duration = Duration::from_secs(4);

const BATCH_MAX: Duration = Duration::from_secs(8);

/// Bytes that are read, though only the status counts.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Names in a request: about a megabyte.
const NAMES_MAX: usize = 10_000;

/// The requested names, with room for escapes.
const BATCH_BYTES_MAX: usize = 8 << 20;

/// Requests running or queued. More are refused.
const CALLS_MAX: usize = 1_000;

/// Names decided one by one.
pub(crate) const SINGLE_NAMES_MAX: usize = 64;

/// Requested for callers without private names: neither timing nor failures may reveal that.
const NO_NAME: &[u8] = b"trawl.invalid/none";

/// Maximum pause after failures. Then one request at a time probes the service.
const RECOVERY_MAX: Duration = Duration::from_secs(2);

pub(super) struct Service {
    client: HttpClient,
    breaker: Arc<Breaker>,
    url: Uri,
    pub(super) is_batch: bool,
}

#[derive(Deserialize)]
struct BatchAnswer {
    visible: Vec<String>,
}

impl Service {
    pub(super) fn new(client: HttpClient, url: Uri, is_batch: bool) -> Service {
        Service {
            client,
            breaker: Breaker::with_open_max("authorization", CALLS_MAX, RECOVERY_MAX),
            url,
            is_batch,
        }
    }

    pub(super) fn identity(&self) -> String {
        let method = if self.is_batch { "POST" } else { "GET" };
        format!("{method} {}", self.url)
    }

    /// Fails at once while the breaker is open.
    async fn ask<T>(
        &self,
        outgoing: Outgoing,
        bounds: (Duration, usize),
        read: impl FnOnce(&HttpAnswer) -> Result<T, String>,
    ) -> Result<T, String> {
        let call = self.breaker.admit();
        let call =
            call.map_err(|_| "it failed too often, and is not asked for a while".to_owned())?;
        let answer = self.client.fetch(outgoing, bounds).await;
        // A client error is about one caller: it does not open the breaker.
        let is_of_caller = (answer.as_ref()).is_ok_and(|answer| answer.status().is_client_error());
        let read = answer.and_then(|answer| read(&answer));
        if read.is_ok() || is_of_caller {
            call.succeeded();
        } else {
            call.failed(None);
        }
        read
    }

    /// Returns whether the caller may see a name. The error is the reason why that is unknown.
    pub(super) async fn sees(&self, caller: &Credentials, name: &[u8]) -> Result<bool, String> {
        if self.is_batch {
            return Ok(self.visible(caller, &[name]).await? == [true]);
        }
        let url = with_name(&self.url, name)?;
        let mut outgoing = get(url);
        caller.add_to(outgoing.headers_mut());
        let read =
            |answer: &HttpAnswer| decision(answer.status()).ok_or_else(|| unclear(answer.status()));
        self.ask(outgoing, (ANSWER_MAX, ANSWER_BYTES_MAX), read)
            .await
    }

    /// Visibility of each name. The service is asked even if there are none.
    pub(super) async fn visible(
        &self,
        caller: &Credentials,
        names: &[&[u8]],
    ) -> Result<Vec<bool>, String> {
        if names.is_empty() {
            Box::pin(self.sees(caller, NO_NAME)).await?;
            return Ok(Vec::new());
        }
        if self.is_batch {
            let parts = names.chunks(NAMES_MAX);
            let parts = parts.map(|part| self.visible_part(caller, part));
            return Ok(try_join_all(parts).await?.concat());
        }
        try_join_all(names.iter().map(|name| self.sees(caller, name))).await
    }

    async fn visible_part(
        &self,
        caller: &Credentials,
        names: &[&[u8]],
    ) -> Result<Vec<bool>, String> {
        // JSON cannot have other names: they are denied.
        let texts: Vec<Option<&str>> = names.iter().map(|name| str::from_utf8(name).ok()).collect();
        let repos: Vec<&str> = texts.iter().flatten().copied().collect();
        let mut outgoing = get(self.url.clone());
        *outgoing.method_mut() = Method::POST;
        let headers = outgoing.headers_mut();
        caller.add_to(headers);
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json.clone());
        headers.insert(header::ACCEPT, json);
        let body = BTreeMap::from([("repos", repos)]);
        let body = serde_json::to_vec(&body).expect("names are text");
        *outgoing.body_mut() = body.into();
        let bounds = (BATCH_MAX, BATCH_BYTES_MAX);
        let visible = self.ask(outgoing, bounds, visible_names).await?;
        let is_visible = |text: Option<&str>| text.is_some_and(|text| visible.contains(text));
        Ok(texts.into_iter().map(is_visible).collect())
    }
}

fn decision(status: StatusCode) -> Option<bool> {
    match status {
        _ if status.is_success() => Some(true),
        StatusCode::UNAUTHORIZED
        | StatusCode::FORBIDDEN
        | StatusCode::NOT_FOUND
        | StatusCode::GONE => Some(false),
        _ => None,
    }
}

fn visible_names(answer: &HttpAnswer) -> Result<HashSet<String>, String> {
    match decision(answer.status()) {
        None => return Err(unclear(answer.status())),
        Some(false) => return Ok(HashSet::new()),
        Some(true) if !is_json(answer.headers()) => {
            return Err("the answer is not application/json".to_owned());
        }
        Some(true) => {}
    }
    let read: Result<BatchAnswer, _> = serde_json::from_slice(answer.body());
    let read = read.map_err(|_| "the answer is not {\"visible\": [names]}".to_owned())?;
    Ok(read.visible.into_iter().collect())
}

fn unclear(status: StatusCode) -> String {
    match status {
        _ if status.is_redirection() => {
            format!("redirected (status {status}), which is not followed")
        }
        _ => format!("status {status}"),
    }
}

fn with_name(url: &Uri, name: &[u8]) -> Result<Uri, String> {
    let separator = if url.query().is_some() { '&' } else { '?' };
    let name = percent_encode(name, NON_ALPHANUMERIC);
    let text = format!("{url}{separator}repo={name}");
    text.parse()
        .map_err(|_| "the name is too long for an address".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn names_are_encoded_in_the_address() {
        let with =
            |url: &str, name: &[u8]| with_name(&url.parse().unwrap(), name).unwrap().to_string();
        assert_eq!(
            with("http://h/check", b"a&b=c/\xff"),
            "http://h/check?repo=a%26b%3Dc%2F%FF"
        );
        assert_eq!(with("http://h", b"x"), "http://h/?repo=x");
        assert_eq!(with("http://h/?k=v", b"x"), "http://h/?k=v&repo=x");
        assert!(with_name(&"http://h/".parse().unwrap(), &[b'x'; 70_000]).is_err());
    }

    #[test]
    fn only_clear_statuses_decide() {
        for (status, decides) in [
            (200, Some(true)),
            (204, Some(true)),
            (299, Some(true)),
            (401, Some(false)),
            (403, Some(false)),
            (404, Some(false)),
            (410, Some(false)),
            (301, None),
            (304, None),
            (400, None),
            (407, None),
            (418, None),
            (429, None),
            (500, None),
            (503, None),
        ] {
            assert_eq!(
                decision(StatusCode::from_u16(status).unwrap()),
                decides,
                "{status}"
            );
        }
    }

    #[test]
    fn an_answer_about_many_names_must_be_json_with_a_list() {
        let names = |status: u16, is_json: bool, body: &'static str| {
            let mut answer = HttpAnswer::new(Bytes::from_static(body.as_bytes()));
            *answer.status_mut() = StatusCode::from_u16(status).unwrap();
            let kind = HeaderValue::from_static("application/json");
            let kind = is_json.then_some((header::CONTENT_TYPE, kind));
            answer.headers_mut().extend(kind);
            visible_names(&answer)
        };
        assert_eq!(
            names(200, true, r#"{"visible": ["a", "b"], "more": 1}"#)
                .unwrap()
                .len(),
            2
        );
        assert!(names(403, false, "no").unwrap().is_empty());
        for garbage in [
            "",
            "[]",
            "{}",
            "{\"visible\": 1}",
            "{\"visible\": [1]}",
            "{\"visible\": [\"a\"]",
            "null",
        ] {
            assert!(names(200, true, garbage).is_err(), "{garbage}");
        }
        assert!(names(200, false, r#"{"visible": []}"#).is_err());
        assert!(names(302, true, r#"{"visible": []}"#).is_err());
    }
}
