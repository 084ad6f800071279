//! Formats, orders and headers of an export.

use crate::http::response;
use crate::model;
use crate::problem::Problem;
use crate::search::params::Params;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use frontend::Match;
use frontend::query::{BadQuery, Notice, Query};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use schema::message::{TextOrder, Want};

const QUERY_HEADER: HeaderName = HeaderName::from_static("x-trawl-query");

/// Repeated for several notices.
const NOTICE_HEADER: HeaderName = HeaderName::from_static("x-trawl-notice");

/// Besides bytes that are not ASCII.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'%');

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Lines,
    Csv,
    Text,
    /// Paths, each followed by this byte.
    Paths(u8),
}

impl Format {
    pub(crate) fn parse(params: &Params) -> Result<Format, Problem> {
        let null = params.flag("null", false)?;
        let choices = [
            ("jsonl", Format::Lines),
            ("csv", Format::Csv),
            ("paths", Format::Paths(if null { 0 } else { b'\n' })),
            ("text", Format::Text),
        ];
        let format = params.choice("format", Format::Lines, &choices)?;
        if null && format != Format::Paths(0) {
            let detail = "null needs format=paths; other formats have lines";
            return Err(Problem::bad_request(detail));
        }
        Ok(format)
    }

    pub(crate) fn write_json(found: &Match, out: &mut Vec<u8>) {
        serde_json::to_writer(&mut *out, &model::Match::from(found))
            .expect("matches are plain data");
        out.push(b'\n');
    }

    pub(crate) fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Format::Lines => "application/x-ndjson",
            Format::Csv => "text/csv; charset=utf-8; header=present",
            // Keeps browsers from showing repository bytes as a page.
            Format::Text | Format::Paths(_) => "application/octet-stream",
        })
    }

    /// Paths need one match of each document.
    pub(crate) fn query(self, query: Query) -> Result<Query, BadQuery> {
        match (self, query.want) {
            (Format::Paths(_), Want::Matches) => {
                let limit = query.limit;
                query.wanting(Want::Documents, limit)
            }
            (Format::Paths(_), Want::Count | Want::Estimate) => {
                Err(BadQuery::new("a count has no paths").hint("leave out want"))
            }
            _ => Ok(query),
        }
    }
}

/// Order of the written matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, utoipa::ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Order {
    /// Best first, once the search has ended.
    Rank,
    /// As found, while the search runs.
    Found,
}

impl Order {
    pub(crate) fn parse(params: &Params, format: Format, query: &Query) -> Result<Order, Problem> {
        let choices = [("rank", Order::Rank), ("found", Order::Found)];
        if params.choice("order", Order::Rank, &choices)? == Order::Rank {
            return Ok(Order::Rank);
        }
        if !matches!(format, Format::Lines | Format::Text) {
            let detail = "order=found needs format=jsonl or format=text";
            return Err(Problem::bad_request(detail).hint("leave out order, or the format"));
        }
        if query.limit > 0 {
            let detail = "order=found cannot select the best matches, which a limit asks for";
            return Err(Problem::bad_request(detail).hint("leave out the limit, or order=found"));
        }
        Ok(Order::Found)
    }

    pub(crate) fn of_text(self, format: Format) -> TextOrder {
        match (format, self) {
            (Format::Text, Order::Rank) => TextOrder::Ranked,
            (Format::Text, Order::Found) => TextOrder::Found,
            _ => TextOrder::None,
        }
    }
}

/// Report of completeness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Last line in JSON.
    Line,
    /// Transfer broken off if matches are missing.
    BreakOff,
}

impl End {
    pub(crate) fn parse(params: &Params, format: Format) -> Result<End, Problem> {
        match (format, params.text("end")?.is_some()) {
            (Format::Text, true) if params.flag("end", false)? => Ok(End::Line),
            (Format::Lines, false) => Ok(End::Line),
            (Format::Text, _) | (_, false) => Ok(End::BreakOff),
            (_, true) => Err(Problem::bad_request("end needs format=text")),
        }
    }
}

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

fn escaped(text: &str) -> HeaderValue {
    let text = utf8_percent_encode(text, ESCAPED).to_string();
    HeaderValue::from_str(&text).expect("escaped text is printable ASCII")
}
