//! An HTTP client that does not treat any status as an error.

use crate::WAIT_MAX;
use serde_json::Value;
use std::io::Read;

/// Matches on a page: the most that a page may have.
const PER_PAGE: usize = 1000;

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) kind: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }
}

/// Sends GET for `path` with its query string.
pub(crate) fn get(address: &str, path: &str) -> Reply {
    read(agent().get(format!("http://{address}{path}")).call())
}

/// Sends GET with headers.
pub(crate) fn get_with(address: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = agent().get(format!("http://{address}{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    read(request.call())
}

/// Sends POST with an empty body.
pub(crate) fn post(address: &str, path: &str) -> Reply {
    read(agent().post(format!("http://{address}{path}")).send_empty())
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(WAIT_MAX))
        .build();
    config.into()
}

fn read(response: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Reply {
    let response = response.expect("an answer");
    let kind = response.headers().get("content-type");
    let mut reply = Reply {
        status: response.status().as_u16(),
        kind: kind.map_or_else(String::new, |kind| kind.to_str().unwrap().to_owned()),
        body: Vec::new(),
    };
    let mut body = response.into_body().into_reader();
    body.read_to_end(&mut reply.body).expect("all of the body");
    reply
}

/// Returns the first page of a search for `q`, and all matches as `trawl search` prints them. The
/// corpus must be UTF-8.
pub(crate) fn search_all(address: &str, q: &str) -> (Value, Vec<String>) {
    let path = format!("/api/v2/search?q={q}&per_page={PER_PAGE}");
    let first = get(address, &path).json();
    let lines = lines(address, &first);
    (first, lines)
}

/// Returns all matches of the search that `page` belongs to.
pub(crate) fn lines(address: &str, page: &Value) -> Vec<String> {
    let (id, total) = (
        page["id"].as_str().unwrap(),
        page["total"].as_u64().unwrap(),
    );
    let mut lines = Vec::new();
    for page in 0..total.div_ceil(PER_PAGE as u64) {
        let path = format!("/api/v2/search/{id}?per_page={PER_PAGE}&page={page}");
        let page = get(address, &path).json();
        lines.extend(page["matches"].as_array().unwrap().iter().map(line));
    }
    assert_eq!(total, lines.len() as u64);
    lines
}

fn line(found: &Value) -> String {
    let text = |name| found[name].as_str().unwrap();
    let (package, path, line) = (text("package"), text("path"), &found["line"]);
    format!("{package}/{path}:{line}:{}", text("text"))
}
