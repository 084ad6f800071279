//! An HTTP client that does not treat any status as an error.

use crate::WAIT_MAX;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::Read;
use web::model::{Match, Page, Results};

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
        self.parse()
    }

    /// The body, which must be a page of a search.
    pub(crate) fn page(&self) -> Page<'static> {
        self.parse()
    }

    fn parse<T: DeserializeOwned>(&self) -> T {
        let parsed = serde_json::from_slice(&self.body);
        parsed.unwrap_or_else(|error| panic!("{error}: {self:?}"))
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
pub(crate) fn search_all(address: &str, q: &str) -> (Page<'static>, Vec<String>) {
    let path = format!("/api/v2/search?q={q}&per_page={PER_PAGE}");
    let first = get(address, &path).page();
    let lines = lines(address, &first);
    (first, lines)
}

/// Returns all matches of the search that `page` belongs to.
pub(crate) fn lines(address: &str, page: &Page<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for number in 0..page.total.div_ceil(PER_PAGE as u64) {
        let path = format!(
            "/api/v2/search/{}?per_page={PER_PAGE}&page={number}",
            page.id
        );
        match get(address, &path).page().results {
            Results::Matches(matches) => lines.extend(matches.iter().map(line)),
            Results::Groups(groups) => panic!("{groups:?}"),
        }
    }
    assert_eq!(page.total, lines.len() as u64);
    lines
}

fn line(found: &Match<'_>) -> String {
    let Match {
        package,
        path,
        line,
        text,
        ..
    } = found;
    format!("{package}/{path}:{line}:{text}")
}
