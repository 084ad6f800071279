//! Pages about the server: the start page with example queries, its description for browsers
//! (OpenSearch 1.1), and the status: indexed data and its age, backends, and query times.
//!
//! Times of all callers need full access, since they reveal the amount of data.

use super::filters;
use super::form::Form;
use crate::http::assets;
use crate::http::server::IsHttps;
use crate::http::site::Site;
use crate::model::{Status, age_s};
use crate::problem::Problem;
use crate::state::App;
use access::Viewer;
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse};
use frontend::{QueryTimes, Served, SlowQuery};
use std::fs;
use std::time::{Duration, Instant};

/// Less text makes the ratio of memory to text meaningless.
const TELLING_BYTES_MIN: u64 = 100_000_000;

#[derive(Template)]
#[template(path = "status.html")]
struct StatusPage<'a> {
    form: Form,
    status: &'a Status,
    usage: Option<Usage>,
}

struct Usage {
    times: QueryTimes,
    memory: Option<u64>,
    /// Per gigabyte of text.
    memory_by_text: Option<u64>,
}

/// `times` needs full access.
pub(crate) fn page(status: &Status, times: Option<QueryTimes>, site: &Site) -> String {
    let page = StatusPage {
        form: Form::of(site),
        status,
        usage: times.map(|times| Usage::new(times, status.bytes)),
    };
    site.render(&page)
}

impl Usage {
    fn new(times: QueryTimes, text_bytes: u64) -> Usage {
        let memory = memory();
        let by_text = |bytes: u64| (bytes as f64 * 1e9 / text_bytes as f64) as u64;
        let told = memory.filter(|_| text_bytes >= TELLING_BYTES_MIN);
        Usage {
            times,
            memory,
            memory_by_text: told.map(by_text),
        }
    }
}

/// Private memory, if the system reports it.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// `12 ms`
fn shown(time: Duration) -> String {
    match time.as_secs_f64() * 1000.0 {
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.1} s", ms / 1000.0),
    }
}

fn ago(query: &SlowQuery) -> u64 {
    Instant::now()
        .saturating_duration_since(query.ended)
        .as_secs()
}

#[derive(Template)]
#[template(path = "start.html")]
struct StartPage {
    form: Form,
    served: Served,
    /// Age of the oldest index.
    age_s: Option<u64>,
    unsearched: Vec<(String, String)>,
    undecided: Option<String>,
}

pub(crate) async fn start(
    State(app): State<App>,
    viewer: Viewer,
    site: Site,
) -> Result<Html<String>, Problem> {
    let scope = viewer.scope().await?;
    let served = app.coordinator.served(&scope);
    let backends = app.coordinator.backends(&scope);
    let page = StartPage {
        form: Form::of(&site),
        age_s: served.updated.map(age_s),
        served,
        unsearched: backends
            .into_iter()
            .filter_map(|backend| Some((backend.name, backend.reason?)))
            .collect(),
        undecided: scope.missing().map(|(_, reason)| reason),
    };
    Ok(Html(site.render(&page)))
}

#[derive(Template)]
#[template(path = "opensearch.xml")]
struct Description {
    host: String,
    /// Without a slash at its end.
    site: String,
    icon: String,
}

/// Names the server as the client did.
pub(crate) async fn open_search(
    State(app): State<App>,
    https: Option<Extension<IsHttps>>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.ok_or_else(|| Problem::bad_request("the request does not name a host"))?;
    let scheme = if https.is_some() { "https" } else { "http" };
    let description = Description {
        host: host.to_owned(),
        site: format!("{scheme}://{host}{}", app.options.base_path.as_str()),
        icon: assets::address(assets::ICON),
    };
    let kind = "application/opensearchdescription+xml; charset=utf-8";
    let body = description.render().expect("a page fits in memory");
    Ok(([(header::CONTENT_TYPE, kind)], body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_two_or_three_digits() {
        for (us, expected) in [(1234, "1.2 ms"), (56_789, "57 ms"), (12_345_678, "12.3 s")] {
            assert_eq!(shown(Duration::from_micros(us)), expected);
        }
    }
}
