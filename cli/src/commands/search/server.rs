//! Searches with a server: asks for the search, which says whether it is complete, then for its export.
//! With `--stream` it asks for one export in the order of discovery, whose last line says the same.

use super::progress::ServerProgress;
use crate::client::{Client, Server};
use crate::print::{IndexUsage, LineFetcher, Printer, SearchSummary};
use crate::query::TypedQuery;
use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use frontend::{ContextLine, Document, Match, Query, Window};
use schema::message::Want;
use serde::Deserialize;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of an export that are read at a time.
const READ_BYTES: usize = 256 << 10;

/// Why an answer cannot be used.
const UNEXPECTED: &str = "unexpected answer; is this a Trawl server of the same version?";

/// How the last line of an export in the order of discovery begins. No match begins like this.
const DONE: &str = r#"{"done":"#;

/// That line.
#[derive(Deserialize)]
struct LastLine {
    done: SearchResponse,
}

#[derive(Deserialize)]
struct SearchResponse {
    id: String,
    found: u64,
    total: u64,
    missing: Vec<Missing>,
    skipped: Skipped,
    searched: Option<Searched>,
    explain: Option<IndexUsage>,
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
struct Searched {
    documents: u64,
}

/// A match as the server sends it.
#[derive(Deserialize)]
struct Found {
    package: String,
    package_base64: Option<String>,
    path: String,
    path_base64: Option<String>,
    line: u32,
    lines: Option<u32>,
    text: String,
    text_base64: Option<String>,
    ranges: Vec<(usize, usize)>,
    context: Around,
    language: String,
    rank: f32,
    hash: String,
    offset: u64,
    window: Option<FoundWindow>,
}

#[derive(Deserialize)]
struct Around {
    before: Vec<Beside>,
    after: Vec<Beside>,
}

#[derive(Deserialize)]
struct Beside {
    line: u32,
    text: String,
    text_base64: Option<String>,
    window: Option<FoundWindow>,
}

#[derive(Deserialize)]
struct FoundWindow {
    start: u64,
    line_bytes: u64,
}

pub(super) fn search(
    server: &str,
    typed: &TypedQuery<'_>,
    query: &Query,
    printer: &mut Printer,
) -> Result<SearchSummary> {
    let server = Server::new(server)?;
    if printer.options().streams() {
        return stream(&server, typed, query, printer);
    }
    let answer: SearchResponse = {
        let _progress = ServerProgress::start();
        let view: [(&str, &[u8]); 2] = [("per_page", b"1"), ("explain", b"true")];
        let answer = get(&server, "/api/v2/search", typed, &view)?;
        serde_json::from_reader(answer).context(UNEXPECTED)?
    };
    if answer.total == 0 || query.want() == Want::Count {
        return Ok(answer.into());
    }
    let export = server.get(&format!("/api/v2/search/{}/export", answer.id), &[])?;
    let (printed, _) = print(&server, query, export, printer)?;
    answer.summary(printed)
}

/// Prints matches as they are found.
fn stream(
    server: &Server,
    typed: &TypedQuery<'_>,
    query: &Query,
    printer: &mut Printer,
) -> Result<SearchSummary> {
    let order: [(&str, &[u8]); 1] = [("order", b"found")];
    let export = {
        // The head of the response comes with the first match.
        let _progress = ServerProgress::start();
        get(server, "/api/v2/export", typed, &order)?
    };
    let (printed, answer) = print(server, query, export, printer)?;
    let answer = answer.context("the server broke off: not all matches are printed")?;
    answer.summary(printed)
}

fn get(
    server: &Server,
    path: &str,
    typed: &TypedQuery<'_>,
    more: &[(&str, &[u8])],
) -> Result<Box<dyn Read>> {
    server.get(path, &[&typed.parameters()[..], more].concat())
}

/// Prints an export. Returns the number of matches, and what its last line says.
fn print(
    server: &Server,
    query: &Query,
    export: impl Read,
    printer: &mut Printer,
) -> Result<(u64, Option<SearchResponse>)> {
    let fetcher = LineFetcher::new(query, printer.options());
    let read = |document: &Document, offset, count| read(server, document, offset, count);
    let (mut printed, mut document) = (0, Arc::new(Document::default()));
    let mut export = BufReader::with_capacity(READ_BYTES, export);
    let mut line = String::new();
    loop {
        if export.buffer().is_empty() {
            // It may take long until more comes.
            printer.flush()?;
        }
        line.clear();
        let bytes = export
            .read_line(&mut line)
            .context("the server broke off: not all matches are printed")?;
        if bytes == 0 {
            return Ok((printed, None));
        }
        if line.starts_with(DONE) {
            let last: LastLine = serde_json::from_str(&line).context(UNEXPECTED)?;
            return Ok((printed, Some(last.done)));
        }
        let found: Found = serde_json::from_str(&line).context(UNEXPECTED)?;
        let mut found = found.into_match().context(UNEXPECTED)?;
        if *found.document == *document {
            found.document = Arc::clone(&document);
        }
        document = Arc::clone(&found.document);
        printer.add(fetcher.complete(found, &read)?)?;
        printed += 1;
    }
}

fn read(server: &Server, document: &Document, offset: u64, count: u64) -> Result<Vec<u8>> {
    let (offset, count) = (offset.to_string(), count.to_string());
    let parameters = [
        ("package", &document.package[..]),
        ("path", &document.path),
        ("offset", offset.as_bytes()),
        ("count", count.as_bytes()),
    ];
    let mut part = Vec::new();
    server
        .get("/api/v2/file", &parameters)?
        .read_to_end(&mut part)?;
    Ok(part)
}

impl SearchResponse {
    /// The summary, if all matches were `printed`.
    fn summary(self, printed: u64) -> Result<SearchSummary> {
        let total = self.total;
        ensure!(
            printed == total,
            "the server sent {printed} of {total} matches; search again"
        );
        Ok(self.into())
    }
}

impl From<SearchResponse> for SearchSummary {
    fn from(answer: SearchResponse) -> SearchSummary {
        let missing = answer.missing.into_iter();
        SearchSummary {
            found: answer.found,
            documents: answer.searched.map_or(0, |searched| searched.documents),
            missing: missing.map(|lost| (lost.backend, lost.reason)).collect(),
            skipped: answer.skipped.count,
            index_usage: answer.explain.unwrap_or_default(),
        }
    }
}

impl Found {
    fn into_match(self) -> Result<Match> {
        let beside = |lines: Vec<Beside>| -> Result<Vec<ContextLine>> {
            lines.into_iter().map(Beside::into_line).collect()
        };
        let range = |(start, end): (usize, usize)| Range { start, end };
        Ok(Match {
            document: Arc::new(Document {
                package: bytes(self.package, self.package_base64)?,
                path: bytes(self.path, self.path_base64)?,
                language: self.language,
                hash: from_hex(&self.hash)?,
            }),
            line: self.line,
            lines: self.lines.unwrap_or(1),
            text: bytes(self.text, self.text_base64)?,
            ranges: self.ranges.into_iter().map(range).collect(),
            before: beside(self.context.before)?,
            after: beside(self.context.after)?,
            rank: self.rank,
            offset: self.offset,
            window: self.window.map(Into::into),
        })
    }
}

impl Beside {
    fn into_line(self) -> Result<ContextLine> {
        Ok(ContextLine {
            line: self.line,
            text: bytes(self.text, self.text_base64)?,
            window: self.window.map(Into::into),
        })
    }
}

impl From<FoundWindow> for Window {
    fn from(FoundWindow { start, line_bytes }: FoundWindow) -> Self {
        Window { start, line_bytes }
    }
}

/// The bytes of a field that is sent as base64, too, if it is not UTF-8.
fn bytes(text: String, exact: Option<String>) -> Result<Vec<u8>> {
    Ok(match exact {
        Some(exact) => BASE64.decode(exact)?,
        None => text.into_bytes(),
    })
}

fn from_hex(text: &str) -> Result<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?);
    digits.map(byte).collect()
}
