//! HTTP client without status errors.

use crate::WAIT_MAX;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use testkit::browser;
use ureq::http::Method;
use web::model::{Match, Page, Results};

const PER_PAGE: usize = 1000;

/// Deadline of a stopping server.
const PANICS_WITHIN: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) kind: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// Empty if missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub(crate) fn json(&self) -> Value {
        self.parse()
    }

    pub(crate) fn page(&self) -> Page<'static> {
        self.parse()
    }

    fn parse<T: DeserializeOwned>(&self) -> T {
        let parsed = serde_json::from_slice(&self.body);
        parsed.unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub(crate) fn get(address: &str, path: &str) -> Reply {
    get_with(address, path, &[])
}

pub(crate) fn get_with(address: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
    send(Method::GET, address, path, headers)
}

pub(crate) fn head_with(address: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
    send(Method::HEAD, address, path, headers)
}

pub(crate) fn post(address: &str, path: &str) -> Reply {
    send(Method::POST, address, path, &[])
}

/// Adds a browser's headers.
fn send(method: Method, address: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
    static SENT: AtomicUsize = AtomicUsize::new(0);
    let is_head = method == Method::HEAD;
    let uri = format!("http://{address}{path}");
    let mut request = ureq::http::Request::builder().method(method).uri(uri);
    for (name, value) in browser::headers(path, SENT.fetch_add(1, Relaxed), headers) {
        request = request.header(name, value);
    }
    let request = request.body(()).expect("a request");
    read(agent(WAIT_MAX).run(request), is_head)
}

pub(crate) fn panics(address: &str) -> Option<u64> {
    let asked = agent(PANICS_WITHIN).get(format!("http://{address}/metrics"));
    let mut answer = asked.call().ok().filter(|answer| answer.status() == 200)?;
    let metrics = answer.body_mut().read_to_string().ok()?;
    let total = |line: &str| line.strip_prefix("trawl_panics_total ")?.parse().ok();
    Some(metrics.lines().find_map(total).expect("it counts panics"))
}

fn agent(timeout: Duration) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(timeout))
        .build();
    config.into()
}

fn read(response: Result<ureq::http::Response<ureq::Body>, ureq::Error>, is_head: bool) -> Reply {
    let response = response.expect("an answer");
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        (name.to_string(), value.into_owned())
    });
    let mut reply = Reply {
        status: response.status().as_u16(),
        kind: String::new(),
        headers: headers.collect(),
        body: Vec::new(),
    };
    reply.kind = reply.header("content-type").to_owned();
    let encoding = match reply.header("content-encoding") {
        _ if is_head => "",
        encoding => encoding,
    };
    let mut body = browser::decoded(encoding, response.into_body().into_reader());
    body.read_to_end(&mut reply.body).expect("all of the body");
    reply
}

/// Matches as in `trawl search`. The corpus must be UTF-8.
pub(crate) fn search_all(address: &str, q: &str) -> (Page<'static>, Vec<String>) {
    let path = format!("/api/v2/search?q={q}&per_page={PER_PAGE}");
    let first = get(address, &path).page();
    let lines = lines(address, &first);
    (first, lines)
}

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
