//! Decodes an input to HTTP requests.
//!
//! [`REQUEST_END`] separates requests, [`PART_END`] parts. The first part has bytes for route and
//! method, others a kind byte and a value.

use super::names::{HEADERS, METHODS, OTHERS, PARAMETERS, PART_END, REQUEST_END, ROUTES};
use crate::untrusted_backend::in_url;
use axum::body::Body;
use axum::http::{HeaderValue, Method, Request, header, request};
use percent_encoding::percent_decode_str;
use serde_json::Value;

const REQUESTS_MAX: usize = 4;

/// Longer inputs are slower and reach no other code.
const INPUT_BYTES_MAX: usize = 2048;

/// Replaced by `id`, `next` and `generation` of an earlier answer.
const PLACEHOLDERS: [&str; 3] = ["ID", "NEXT", "GENERATION"];

#[derive(Default)]
pub(crate) struct Known {
    values: [Option<String>; PLACEHOLDERS.len()],
    /// A request may have cancelled or timed out.
    is_stopped: bool,
}

impl Known {
    pub(crate) fn learn(&mut self, page: &Value) {
        for (value, name) in self.values.iter_mut().zip(["id", "next", "generation"]) {
            *value = page[name].as_str().map(str::to_owned).or(value.take());
        }
    }

    /// Incomplete answers are allowed.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    fn value<'a>(&'a self, typed: &'a [u8]) -> &'a [u8] {
        let at = PLACEHOLDERS
            .iter()
            .position(|name| name.as_bytes() == typed);
        let known = at.and_then(|at| self.values[at].as_deref());
        known.map_or(typed, str::as_bytes)
    }
}

#[derive(Clone, Copy)]
enum Part<'a> {
    Raw(&'a [u8]),
    Path(&'a [u8]),
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
            1 => Part::Path(held),
            2 => Part::Body(held),
            kind => match HEADERS.get(kind - OTHERS.len()) {
                Some(name) => Part::Header(name, held),
                None => Part::Parameter(PARAMETERS[kind - OTHERS.len() - HEADERS.len()], held),
            },
        })
    }
}

pub(crate) struct Template<'a> {
    route: &'static str,
    method: Method,
    parts: Vec<Part<'a>>,
}

pub(crate) fn requests(data: &[u8]) -> impl Iterator<Item = Template<'_>> {
    let data = &data[..data.len().min(INPUT_BYTES_MAX)];
    let requests = data.split(|&byte| byte == REQUEST_END).take(REQUESTS_MAX);
    requests.filter_map(Template::new)
}

impl<'a> Template<'a> {
    fn new(bytes: &'a [u8]) -> Option<Template<'a>> {
        let mut parts = bytes.split(|&byte| byte == PART_END);
        let &[route, method, ..] = parts.next()? else {
            return None;
        };
        let method = METHODS[usize::from(method) % METHODS.len()];
        Some(Template {
            route: ROUTES[usize::from(route) % ROUTES.len()],
            method: method.parse().expect("METHODS are valid"),
            parts: parts.filter_map(Part::new).collect(),
        })
    }

    /// `None` if the HTTP library rejects its URL.
    pub(crate) fn request(&self, known: &mut Known) -> Option<Request<Body>> {
        let is_posted = self.method == Method::POST;
        let (query, body) = if is_posted {
            (self.raw(), self.body(known))
        } else {
            (self.query(known), Vec::new())
        };
        let mut url = self.path(known);
        if !query.is_empty() {
            url = format!("{url}?{query}");
        }
        known.is_stopped |= self.method == Method::DELETE || may_stop(&url) || body_may_stop(&body);
        let mut request = Request::builder().method(&self.method).uri(url);
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
            Part::Path(piece) => Some(*piece),
            _ => None,
        });
        let mut path = String::new();
        for (number, between) in self.route.split("{}").enumerate() {
            if number > 0 {
                let piece = known.value(pieces.next().unwrap_or(b"ID"));
                path.extend(piece.iter().map(|&byte| in_url(byte)));
            }
            path.push_str(between);
        }
        path
    }

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

    /// The body part, or the parameters as JSON.
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
                    _ => unreachable!("every field is a list"),
                }
            }
            serde_json::to_vec(&fields).expect("JSON values serialize")
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
    if byte.is_ascii_alphanumeric() {
        char::from(byte).into()
    } else {
        format!("%{byte:02x}")
    }
}

/// Decodes any encoding.
fn may_stop(text: &str) -> bool {
    let text = percent_decode_str(text).decode_utf8_lossy();
    let letters: String = text.chars().filter(char::is_ascii_alphabetic).collect();
    letters.to_ascii_lowercase().contains("timeout")
}

fn body_may_stop(body: &[u8]) -> bool {
    body.contains(&b'\\') || may_stop(&String::from_utf8_lossy(body))
}
