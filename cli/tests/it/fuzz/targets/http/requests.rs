//! Bytes as requests: requests have [`REQUEST_END`] between them, and parts of one [`PART_END`].
//!
//! The first part of a request is a byte for the address and one for the method; the others are a byte
//! that says what the part is, and what it holds. Neither end occurs in UTF-8, so that texts are as they
//! are. A value that is one of [`KNOWN`] stands for what an earlier answer had.

use super::super::answers::in_address;
use super::names::{HEADERS, METHODS, OTHERS, PARAMETERS, PART_END, REQUEST_END, ROUTES};
use axum::body::Body;
use axum::http::{HeaderValue, Method, Request, header, request};
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Requests of an input; what follows is left out.
const REQUESTS_MAX: usize = 4;

/// Longer inputs take longer, and say nothing new.
const INPUT_BYTES_MAX: usize = 2048;

/// Values that are replaced.
const KNOWN: [&str; 3] = ["ID", "NEXT", "GENERATION"];

/// What earlier answers have said, in the order of [`KNOWN`]; and whether a search may not have come to
/// its end since.
#[derive(Default)]
pub(super) struct Known {
    values: [Option<String>; KNOWN.len()],
    is_stopped: bool,
}

impl Known {
    pub(super) fn learn(&mut self, page: &Value) {
        for (value, name) in self.values.iter_mut().zip(["id", "next", "generation"]) {
            *value = page[name].as_str().map(str::to_owned).or(value.take());
        }
    }

    /// Whether an answer may lack something.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    fn value<'a>(&'a self, typed: &'a [u8]) -> &'a [u8] {
        let at = KNOWN.iter().position(|name| name.as_bytes() == typed);
        let known = at.and_then(|at| self.values[at].as_deref());
        known.map_or(typed, str::as_bytes)
    }
}

/// A part of a request, and what it holds.
#[derive(Clone, Copy)]
enum Part<'a> {
    Raw(&'a [u8]),
    OfPath(&'a [u8]),
    Body(&'a [u8]),
    Header(&'static str, &'a [u8]),
    Parameter(&'static str, &'a [u8]),
}

impl<'a> Part<'a> {
    fn new(bytes: &'a [u8]) -> Option<Part<'a>> {
        let (&kind, held) = bytes.split_first()?;
        let kinds = OTHERS.len() + HEADERS.len() + PARAMETERS.len();
        Some(match usize::from(kind) % kinds {
            0 => Part::Raw(held),
            1 => Part::OfPath(held),
            2 => Part::Body(held),
            kind => match HEADERS.get(kind - OTHERS.len()) {
                Some(name) => Part::Header(name, held),
                None => Part::Parameter(PARAMETERS[kind - OTHERS.len() - HEADERS.len()], held),
            },
        })
    }
}

/// A request, before what earlier ones were answered is filled in.
pub(super) struct Asked<'a> {
    route: &'static str,
    method: Method,
    parts: Vec<Part<'a>>,
}

/// The requests of an input.
pub(super) fn requests(data: &[u8]) -> impl Iterator<Item = Asked<'_>> {
    let data = &data[..data.len().min(INPUT_BYTES_MAX)];
    let requests = data.split(|&byte| byte == REQUEST_END).take(REQUESTS_MAX);
    requests.filter_map(Asked::new)
}

impl<'a> Asked<'a> {
    fn new(bytes: &'a [u8]) -> Option<Asked<'a>> {
        let mut parts = bytes.split(|&byte| byte == PART_END);
        let &[route, method, ..] = parts.next()? else {
            return None;
        };
        let method = METHODS[usize::from(method) % METHODS.len()];
        Some(Asked {
            route: ROUTES[usize::from(route) % ROUTES.len()],
            method: method.parse().expect("a method is a word"),
            parts: parts.filter_map(Part::new).collect(),
        })
    }

    /// The request; none when its address is one that the HTTP library lets nobody ask for.
    pub(super) fn request(&self, known: &mut Known) -> Option<Request<Body>> {
        let is_posted = self.method == Method::POST;
        let query = match is_posted {
            true => self.raw(),
            false => self.query(known),
        };
        let mut address = self.path(known);
        if !query.is_empty() {
            address = format!("{address}?{query}");
        }
        let body = match is_posted {
            true => self.body(known),
            false => Vec::new(),
        };
        known.is_stopped |=
            self.method == Method::DELETE || may_stop(&address) || may_stop_in(&body);
        let mut request = Request::builder().method(&self.method).uri(address);
        if is_posted {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        self.with_headers(request).body(Body::from(body)).ok()
    }

    fn with_headers(&self, mut request: request::Builder) -> request::Builder {
        for part in &self.parts {
            if let Part::Header(name, value) = part
                && let Ok(value) = HeaderValue::from_bytes(value)
                && let Some(headers) = request.headers_mut()
            {
                headers.insert(*name, value);
            }
        }
        request
    }

    fn path(&self, known: &Known) -> String {
        let mut pieces = self.parts.iter().filter_map(|part| match part {
            Part::OfPath(piece) => Some(*piece),
            _ => None,
        });
        let mut path = String::new();
        for (number, between) in self.route.split("{}").enumerate() {
            if number > 0 {
                let piece = known.value(pieces.next().unwrap_or(b"ID"));
                path.extend(piece.iter().map(|&byte| in_address(byte)));
            }
            path.push_str(between);
        }
        path
    }

    /// What is in the address as it was given.
    fn raw(&self) -> String {
        let raw = self.parts.iter().filter_map(|part| match part {
            Part::Raw(text) => Some(String::from_utf8_lossy(text)),
            _ => None,
        });
        raw.collect::<Vec<_>>().join("&")
    }

    fn query(&self, known: &Known) -> String {
        let parameters = self.parameters(known).map(|(name, value)| {
            let value: String = value.iter().map(|&byte| escaped(byte)).collect();
            format!("{name}={value}")
        });
        let raw = Some(self.raw()).filter(|raw| !raw.is_empty());
        parameters.chain(raw).collect::<Vec<_>>().join("&")
    }

    /// What was given as one, or the parameters.
    fn body(&self, known: &Known) -> Vec<u8> {
        let given = self.parts.iter().find_map(|part| match part {
            Part::Body(body) => Some(body.to_vec()),
            _ => None,
        });
        given.unwrap_or_else(|| {
            let mut fields = serde_json::Map::new();
            for (name, value) in self.parameters(known) {
                let value = Value::from(String::from_utf8_lossy(value));
                match fields.entry(name).or_insert(Value::Array(Vec::new())) {
                    Value::Array(values) => values.push(value),
                    _ => unreachable!("all are lists"),
                }
            }
            serde_json::to_vec(&fields).expect("plain data")
        })
    }

    fn parameters<'b>(
        &'b self,
        known: &'b Known,
    ) -> impl Iterator<Item = (&'static str, &'b [u8])> {
        self.parts.iter().filter_map(|part| match part {
            Part::Parameter(name, value) => Some((*name, known.value(value))),
            _ => None,
        })
    }
}

fn escaped(byte: u8) -> String {
    match byte.is_ascii_alphanumeric() {
        true => char::from(byte).into(),
        false => format!("%{byte:02x}"),
    }
}

/// Whether a query says how long it may take, however that is written.
fn may_stop(text: &str) -> bool {
    let text = percent_decode_str(text).decode_utf8_lossy();
    let letters: String = text.chars().filter(char::is_ascii_alphabetic).collect();
    letters.to_ascii_lowercase().contains("timeout")
}

fn may_stop_in(body: &[u8]) -> bool {
    body.contains(&b'\\') || may_stop(&String::from_utf8_lossy(body))
}
