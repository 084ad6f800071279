//! The formats of an export, and the headers that they have in common.

use crate::api::model;
use crate::params::Params;
use crate::problem::Problem;
use crate::response;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use frontend::Match;
use frontend::query::{BadQuery, Notice, Query};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use schema::message::Want;

/// How the query was understood.
const QUERY_HEADER: HeaderName = HeaderName::from_static("x-trawl-query");

/// What in the query may have been meant otherwise; one for each.
const NOTICE_HEADER: HeaderName = HeaderName::from_static("x-trawl-notice");

/// What a header does not have as it is.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'%');

/// What is written of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Lines,
    Csv,
    Text,
    /// The names of documents alone, each with this byte behind it.
    Paths(u8),
}

impl Format {
    pub(crate) fn parse(params: &Params) -> Result<Format, Problem> {
        let null = params.flag("null", false)?;
        let format = match params.text("format")? {
            None | Some("jsonl") => Format::Lines,
            Some("csv") => Format::Csv,
            Some("text") => Format::Text,
            Some("paths") => Format::Paths(if null { 0 } else { b'\n' }),
            Some(other) => {
                let detail = format!("format={other} is none of jsonl, csv, paths and text");
                return Err(Problem::bad_request(detail));
            }
        };
        if null && format != Format::Paths(0) {
            let detail = "null is for format=paths: what else is exported has lines of its own";
            return Err(Problem::bad_request(detail));
        }
        Ok(format)
    }

    /// Appends a match as a line of JSON.
    pub(crate) fn write_json(found: &Match, out: &mut Vec<u8>) {
        serde_json::to_writer(&mut *out, &model::Match::from(found))
            .expect("matches are plain data");
        out.push(b'\n');
    }

    pub(crate) fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Format::Lines => "application/x-ndjson",
            Format::Csv => "text/csv; charset=utf-8; header=present",
            // Bytes from a repository are not to be taken for a page of this site, whatever they say.
            Format::Text | Format::Paths(_) => "application/octet-stream",
        })
    }

    /// The query whose answer is written: a document has one match in that for paths.
    pub(crate) fn query(self, query: Query) -> Result<Query, BadQuery> {
        match (self, query.want()) {
            (Format::Paths(_), Want::Matches) => {
                let limit = query.limit();
                query.wanting(Want::Documents, limit)
            }
            (Format::Paths(_), Want::Count | Want::Estimate) => {
                Err(BadQuery::new("a count has no paths").hint("leave out want"))
            }
            _ => Ok(query),
        }
    }
}

/// In which order matches are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Best first, once all are there.
    Rank,
    /// As they are found.
    Found,
}

impl Order {
    pub(crate) fn parse(params: &Params, format: Format, query: &Query) -> Result<Order, Problem> {
        match params.text("order")? {
            None | Some("rank") => return Ok(Order::Rank),
            Some("found") => {}
            Some(other) => {
                let detail = format!("order={other} is neither rank nor found");
                return Err(Problem::bad_request(detail));
            }
        }
        if !matches!(format, Format::Lines | Format::Text) {
            let detail = "order=found is for format=jsonl and format=text";
            return Err(Problem::bad_request(detail).hint("leave out order, or the format"));
        }
        if query.limit() > 0 {
            let detail = "which matches are the best is not known while they are found";
            return Err(Problem::bad_request(detail).hint("leave out the limit, or order=found"));
        }
        Ok(Order::Found)
    }
}

/// What an export's head says in either order.
pub(crate) fn head(id: &str, query: &Query, format: Format, notices: &[Notice]) -> HeaderMap {
    let about = [
        response::search_header(id),
        (QUERY_HEADER, escaped(&query.interpreted_as())),
        (header::CONTENT_TYPE, format.content_type()),
    ];
    let mut headers = HeaderMap::from_iter(about);
    for notice in notices {
        headers.append(NOTICE_HEADER, escaped(&notice.reason));
    }
    headers
}

/// Text as a header can have it: percent-encoded.
fn escaped(text: &str) -> HeaderValue {
    let text = utf8_percent_encode(text, ESCAPED).to_string();
    HeaderValue::from_str(&text).expect("what is left is ASCII that can be shown")
}
