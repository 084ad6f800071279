//! ripgrep's JSON messages: `begin`, `match` and `context`, `end` for each file, and a final
//! `summary`.
//!
//! Control and reordering characters are escaped; invalid UTF-8 is `bytes` in base64. Additional
//! fields: `package`, `language` and `hash` in `begin`, for git also `revisions`, `revision_count`
//! and `commit`; `rank` in `match`. Matches in file names have a null `line_number`.

use super::counts::Totals;
use super::print_options::PrintOptions;
use super::rows::{Row, rows};
use crate::terminal::push_json;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use frontend::Match;
use index::manifest::hex;
use serde::Serialize;
use std::time::Duration;
use web::model::ExportDone;

#[derive(Serialize)]
#[serde(tag = "type", content = "data", rename_all = "lowercase")]
enum JsonMessage<'a> {
    Begin {
        path: Bytes<'a>,
        package: Bytes<'a>,
        language: &'a str,
        hash: String,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        revisions: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        revision_count: Option<u32>,
        #[serde(skip_serializing_if = "str::is_empty")]
        commit: &'a str,
    },
    Match(Line<'a>),
    Context(Line<'a>),
    End {
        path: Bytes<'a>,
        binary_offset: Option<u64>,
        stats: Stats,
    },
    Summary {
        elapsed_total: Elapsed,
        stats: Stats,
    },
}

#[derive(Serialize)]
struct Line<'a> {
    path: Bytes<'a>,
    lines: Bytes<'a>,
    line_number: Option<u32>,
    absolute_offset: u64,
    submatches: Vec<Submatch<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<f32>,
    /// Of a line of a change: added, or else removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<bool>,
}

#[derive(Serialize)]
struct Submatch<'a> {
    r#match: Bytes<'a>,
    start: usize,
    end: usize,
}

/// Time and searched bytes of one file are 0.
#[derive(Serialize)]
struct Stats {
    elapsed: Elapsed,
    searches: u64,
    searches_with_match: u64,
    bytes_searched: u64,
    bytes_printed: u64,
    matched_lines: u64,
    matches: u64,
}

#[derive(Serialize)]
struct Elapsed {
    secs: u64,
    nanos: u32,
    human: String,
}

/// Base64 if not UTF-8.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Bytes<'a> {
    Text(&'a str),
    Bytes(String),
}

impl<'a> From<&'a [u8]> for Bytes<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Bytes::Text(text),
            Err(_) => Bytes::Bytes(BASE64.encode(bytes)),
        }
    }
}

impl From<Duration> for Elapsed {
    fn from(time: Duration) -> Self {
        Elapsed {
            secs: time.as_secs(),
            nanos: time.subsec_nanos(),
            human: format!("{:.6}s", time.as_secs_f64()),
        }
    }
}

/// Matches must ascend.
pub(super) fn document(options: &PrintOptions, matches: &[Match], out: &mut Vec<u8>) {
    let Some(Match { document, .. }) = matches.first() else {
        return;
    };
    let start = out.len();
    let name = options.name(document);
    let begin = JsonMessage::Begin {
        path: name[..].into(),
        package: document.package[..].into(),
        language: &document.language,
        hash: hex(&document.hash),
        revisions: &document.revisions.names,
        revision_count: Some(document.revisions.count).filter(|&count| count > 0),
        commit: &document.revisions.commit,
    };
    push(&begin, out);
    let mut totals = Totals::default();
    let (before, after) = (options.before, options.after);
    for row in rows(matches, before, after, options.per_file_max) {
        let text = [row.text, b"\n"].concat();
        let line = line(&name, &row, &text);
        let message = if let Some(found) = row.found {
            totals.add(found);
            JsonMessage::Match(line)
        } else {
            JsonMessage::Context(line)
        };
        push(&message, out);
    }
    let stats = Stats {
        elapsed: Duration::ZERO.into(),
        searches: 1,
        searches_with_match: 1,
        bytes_searched: 0,
        bytes_printed: (out.len() - start) as u64,
        matched_lines: totals.lines,
        matches: totals.matches,
    };
    let end = JsonMessage::End {
        path: name[..].into(),
        binary_offset: None,
        stats,
    };
    push(&end, out);
}

pub(super) fn summary(
    done: &ExportDone,
    totals: &Totals,
    elapsed: Duration,
    printed_bytes: u64,
    out: &mut Vec<u8>,
) {
    let stats = Stats {
        elapsed: elapsed.into(),
        searches: done.searched.documents,
        searches_with_match: totals.files,
        bytes_searched: done.explain.verified_bytes,
        bytes_printed: printed_bytes,
        matched_lines: totals.lines,
        matches: totals.matches,
    };
    let summary = JsonMessage::Summary {
        elapsed_total: elapsed.into(),
        stats,
    };
    push(&summary, out);
}

/// `text` includes the line end.
fn line<'a>(name: &'a [u8], row: &Row<'a>, text: &'a [u8]) -> Line<'a> {
    let submatch = |range: &std::ops::Range<usize>| Submatch {
        r#match: row.text[range.clone()].into(),
        start: range.start,
        end: range.end,
    };
    Line {
        path: name.into(),
        lines: text.into(),
        line_number: (row.number > 0).then_some(row.number.wrapping_add(row.place().0)),
        absolute_offset: row.offset,
        submatches: row.ranges.iter().map(submatch).collect(),
        rank: row.found.map(|found| found.rank),
        added: (row.found).and_then(|found| Some(found.changed?.is_added)),
    }
}

fn push(message: &JsonMessage<'_>, out: &mut Vec<u8>) {
    push_json(message, out);
    out.push(b'\n');
}
