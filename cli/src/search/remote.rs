//! Asks a server: first for the search, which says whether it is complete, then for its export.

use super::{Explain, Printer, Summary};
use crate::terminal;
use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use frontend::render::{Document, Match, Window};
use frontend::{BadQuery, Query, filter};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use schema::message::{Syntax, Want};
use serde::Deserialize;
use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::time::Duration;

/// How long to wait for a connection. An answer may take as long as it takes.
const CONNECT_MAX: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
struct Answer {
    id: String,
    found: u64,
    total: u64,
    missing: Vec<Missing>,
    skipped: Skipped,
    explain: Option<Explain>,
}

#[derive(Deserialize)]
struct Missing {
    backend: String,
    reason: String,
}

#[derive(Deserialize)]
struct Skipped {
    count: u64,
}

#[derive(Deserialize)]
struct Problem {
    detail: String,
    at: Option<usize>,
    filter: Option<String>,
    hint: Option<String>,
}

/// A match as the server sends it.
#[derive(Deserialize)]
struct Found {
    package: String,
    package_base64: Option<String>,
    path: String,
    path_base64: Option<String>,
    line: u32,
    text: String,
    text_base64: Option<String>,
    ranges: Vec<(usize, usize)>,
    offset: u64,
    window: Option<FoundWindow>,
}

#[derive(Deserialize)]
struct FoundWindow {
    start: u64,
    line_bytes: u64,
}

pub(super) fn search(server: &str, query: &Query, printer: &mut Printer) -> Result<Summary> {
    let server = Server::new(server)?;
    let pattern = query.expr().patterns()[0];
    let mut parameters = vec![
        ("q", pattern.text.as_bytes()),
        (
            "mode",
            if pattern.syntax == Syntax::Literal {
                b"literal"
            } else {
                &b"regexp"[..]
            },
        ),
        (
            "case",
            if pattern.ignore_case {
                b"no"
            } else {
                &b"yes"[..]
            },
        ),
        ("want", want(query)),
        ("context", b"0"),
        ("per_page", b"1"),
        ("explain", b"true"),
    ];
    let filters = query.expr().factors().iter();
    let filters: Vec<_> = filters.filter_map(filter::typed).collect();
    parameters.extend(
        filters
            .iter()
            .map(|(name, typed)| (*name, typed.as_bytes())),
    );
    let answer = server.get("/api/v2/search", &parameters)?;
    let answer: Answer = serde_json::from_reader(answer).context("the server's answer")?;
    if answer.total == 0 || query.want() == Want::Count {
        return Ok(answer.summary());
    }
    let export = server.get(&format!("/api/v2/search/{}/export", answer.id), &[])?;
    let mut printed = 0;
    for line in BufReader::with_capacity(1 << 18, export).lines() {
        let line = line.context("the server broke off")?;
        let found: Found = serde_json::from_str(&line).context("the server's answer")?;
        let found = found.into_match()?;
        let text = whole_line(&server, &found)?;
        printer.print(&found, &text)?;
        printed += 1;
    }
    if printed != answer.total {
        bail!("the server sent {printed} of {} matches", answer.total);
    }
    Ok(answer.summary())
}

fn want(query: &Query) -> &'static [u8] {
    match query.want() {
        Want::Matches => b"matches",
        Want::Documents => b"documents",
        Want::Count | Want::Estimate => b"count",
    }
}

impl Answer {
    fn summary(self) -> Summary {
        let missing = self.missing.into_iter();
        Summary {
            matches: self.found,
            missing: missing.map(|lost| (lost.backend, lost.reason)).collect(),
            skipped: self.skipped.count,
            explain: self.explain.unwrap_or_default(),
        }
    }
}

impl Found {
    fn into_match(self) -> Result<Match> {
        Ok(Match {
            document: Arc::new(Document {
                package: bytes(self.package, self.package_base64)?,
                path: bytes(self.path, self.path_base64)?,
                ..Document::default()
            }),
            line: self.line,
            text: bytes(self.text, self.text_base64)?,
            ranges: self
                .ranges
                .into_iter()
                .map(|(start, end)| start..end)
                .collect(),
            before: Vec::new(),
            after: Vec::new(),
            rank: 0.0,
            offset: self.offset,
            window: self
                .window
                .map(|FoundWindow { start, line_bytes }| Window { start, line_bytes }),
        })
    }
}

/// The bytes of a field that is sent twice when it is not UTF-8.
fn bytes(text: String, exact: Option<String>) -> Result<Vec<u8>> {
    match exact {
        Some(exact) => BASE64.decode(exact).context("the server's answer"),
        None => Ok(text.into_bytes()),
    }
}

fn whole_line<'a>(server: &Server, found: &'a Match) -> Result<Cow<'a, [u8]>> {
    let Some(window) = found.window else {
        return Ok(Cow::Borrowed(&found.text));
    };
    let mut line = Vec::new();
    while (line.len() as u64) < window.line_bytes {
        let done = line.len() as u64;
        let (offset, count) = (
            (found.offset + done).to_string(),
            (window.line_bytes - done).to_string(),
        );
        let parameters = [
            ("package", &found.document.package[..]),
            ("path", &found.document.path),
            ("offset", offset.as_bytes()),
            ("count", count.as_bytes()),
        ];
        let mut part = Vec::new();
        server
            .get("/api/v2/file", &parameters)?
            .read_to_end(&mut part)?;
        if part.is_empty() {
            bail!("a file has changed in the index while it was searched");
        }
        line.extend_from_slice(&part);
    }
    Ok(Cow::Owned(line))
}

/// A server's address and how to talk to it.
struct Server {
    agent: ureq::Agent,
    address: String,
}

impl Server {
    fn new(address: &str) -> Result<Server> {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_MAX))
            .build();
        let address = address.trim_end_matches('/');
        let address = match address.split_once("://") {
            Some(("http", _)) => address.to_owned(),
            Some((scheme, _)) => bail!("{address}: a server is asked over http, not {scheme}"),
            None => format!("http://{address}"),
        };
        Ok(Server {
            agent: config.into(),
            address,
        })
    }

    /// The body of an answer that is one; what the server objects to is an error.
    fn get(&self, path: &str, parameters: &[(&str, &[u8])]) -> Result<impl Read + use<>> {
        let mut url = format!("{}{path}", self.address);
        for (index, (name, value)) in parameters.iter().enumerate() {
            let separator = if index == 0 { '?' } else { '&' };
            let value = percent_encode(value, NON_ALPHANUMERIC);
            url.push_str(&format!("{separator}{name}={value}"));
        }
        let response = self.agent.get(&url).call().with_context(|| {
            format!(
                "no answer from {}; start a server with `trawl serve`, or search an index with \
                 --index DIR",
                self.address
            )
        })?;
        let status = response.status();
        let mut body = response.into_body().into_reader();
        if status.is_success() {
            return Ok(body);
        }
        let mut text = Vec::new();
        body.read_to_end(&mut text)?;
        match serde_json::from_slice::<Problem>(&text) {
            Ok(problem) if status == 400 => {
                let mut bad = BadQuery::new(problem.detail);
                (bad.at, bad.filter, bad.hint) = (problem.at, problem.filter, problem.hint);
                Err(bad.into())
            }
            Ok(Problem { detail, .. }) => bail!("the server says: {detail}"),
            Err(_) => bail!("the server says: {status} {}", terminal::harmless(&text)),
        }
    }
}
