//! Asks a server: first for the search, which says whether it is complete, then for its export; or, when
//! matches are wanted as they are found, for an export alone that says so at its end.

use super::output::Output;
use super::progress::Waiting;
use super::query::Question;
use super::summary::{Explain, Summary};
use super::whole::Whole;
use crate::client::{Client, Server};
use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use frontend::Query;
use frontend::{ContextLine, Document, Match, Window};
use schema::message::Want;
use serde::Deserialize;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of an export that are read at a time.
const READ_BYTES: usize = 256 << 10;

/// How the last line of an export begins that has its matches as they are found; of no match.
const DONE: &str = r#"{"done":"#;

/// That line.
#[derive(Deserialize)]
struct End {
    done: Answer,
}

#[derive(Deserialize)]
struct Answer {
    id: String,
    found: u64,
    total: u64,
    missing: Vec<Missing>,
    skipped: Skipped,
    searched: Option<Searched>,
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
    question: &Question<'_>,
    query: &Query,
    output: &mut Output,
) -> Result<Summary> {
    let server = Server::new(server)?;
    if output.look().follows() {
        return follow(&server, question, query, output);
    }
    let answer = {
        let _waiting = Waiting::start();
        ask(&server, question)?
    };
    if answer.total == 0 || query.want() == Want::Count {
        return Ok(answer.summary());
    }
    let export = server.get(&format!("/api/v2/search/{}/export", answer.id), &[])?;
    let (printed, _) = print(&server, query, export, output)?;
    answer.check(printed)?;
    Ok(answer.summary())
}

fn ask(server: &Server, question: &Question<'_>) -> Result<Answer> {
    let view: [(&str, &[u8]); 2] = [("per_page", b"1"), ("explain", b"true")];
    let answer = get(server, "/api/v2/search", question, &view)?;
    serde_json::from_reader(answer).context("the server's answer")
}

/// Prints what is found as it is found.
fn follow(
    server: &Server,
    question: &Question<'_>,
    query: &Query,
    output: &mut Output,
) -> Result<Summary> {
    let order: [(&str, &[u8]); 1] = [("order", b"found")];
    let export = {
        // Its head comes with the first match.
        let _waiting = Waiting::start();
        get(server, "/api/v2/export", question, &order)?
    };
    let (printed, end) = print(server, query, export, output)?;
    let answer = end.context("the server broke off: what is printed is not all")?;
    answer.check(printed)?;
    Ok(answer.summary())
}

fn get(
    server: &Server,
    path: &str,
    question: &Question<'_>,
    more: &[(&str, &[u8])],
) -> Result<Box<dyn Read>> {
    let parameters = question.parameters();
    let asked = parameters.iter().map(|(name, value)| (*name, &value[..]));
    let asked: Vec<_> = asked.chain(more.iter().copied()).collect();
    server.get(path, &asked)
}

/// Prints what is exported, and says how many matches that were, and what the export says at its end.
fn print(
    server: &Server,
    query: &Query,
    export: impl Read,
    output: &mut Output,
) -> Result<(u64, Option<Answer>)> {
    let whole = Whole::new(query, output.look());
    let read = |document: &Document, offset, count| read(server, document, offset, count);
    let (mut printed, mut document) = (0, Arc::new(Document::default()));
    let mut export = BufReader::with_capacity(READ_BYTES, export);
    let mut line = String::new();
    loop {
        if export.buffer().is_empty() {
            // It may be a while until more comes.
            output.flush()?;
        }
        line.clear();
        let bytes = export
            .read_line(&mut line)
            .context("the server broke off")?;
        if bytes == 0 {
            return Ok((printed, None));
        }
        if line.starts_with(DONE) {
            let end: End = serde_json::from_str(&line).context("the server's answer")?;
            return Ok((printed, Some(end.done)));
        }
        let found: Found = serde_json::from_str(&line).context("the server's answer")?;
        let mut found = found.into_match().context("the server's answer")?;
        if *found.document == *document {
            found.document = Arc::clone(&document);
        }
        document = Arc::clone(&found.document);
        output.take(whole.make(found, &read)?)?;
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

impl Answer {
    /// Whether all has come.
    fn check(&self, printed: u64) -> Result<()> {
        match printed == self.total {
            true => Ok(()),
            false => bail!("the server sent {printed} of {} matches", self.total),
        }
    }

    fn summary(self) -> Summary {
        let missing = self.missing.into_iter();
        Summary {
            found: self.found,
            documents: self.searched.map_or(0, |searched| searched.documents),
            missing: missing.map(|lost| (lost.backend, lost.reason)).collect(),
            skipped: self.skipped.count,
            explain: self.explain.unwrap_or_default(),
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

/// The bytes of a field that is sent twice when it is not UTF-8.
fn bytes(text: String, exact: Option<String>) -> Result<Vec<u8>> {
    match exact {
        Some(exact) => Ok(BASE64.decode(exact)?),
        None => Ok(text.into_bytes()),
    }
}

fn from_hex(text: &str) -> Result<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?);
    digits.map(byte).collect()
}
