//! What all clients of the HTTP API have in common: requests, and error responses (RFC 9457).

use crate::terminal::escaped;
use anyhow::{Result, anyhow};
use frontend::BadQuery;
use std::io::Read;
use web::model::ProblemDocument;

/// Sends requests to the HTTP API.
pub(crate) trait Client {
    /// Returns the body of a successful response. Any other response is an error: a [`BadQuery`] if
    /// the query is at fault.
    fn get(&self, path: &str, parameters: &[(&str, &[u8])]) -> Result<Box<dyn Read>>;
}

/// The error that an error response reports.
pub(super) fn error(status: u16, body: &[u8]) -> anyhow::Error {
    match serde_json::from_slice::<ProblemDocument>(body) {
        Ok(problem) if status == 400 => {
            let mut bad = BadQuery::new(problem.detail);
            (bad.at, bad.filter, bad.hint) = (problem.at, problem.filter, problem.hint);
            bad.into()
        }
        Ok(ProblemDocument { detail, .. }) => anyhow!("{} (HTTP {status})", escaped(&detail)),
        Err(_) => anyhow!("unexpected response: HTTP {status}: {}", escaped(body)),
    }
}

/// A path with its parameters as a query string.
pub(super) fn path_with(path: &str, parameters: &[(&str, &[u8])]) -> String {
    use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
    let mut out = path.to_owned();
    for (index, (name, value)) in parameters.iter().enumerate() {
        let separator = if index == 0 { '?' } else { '&' };
        let value = percent_encode(value, NON_ALPHANUMERIC);
        out.push_str(&format!("{separator}{name}={value}"));
    }
    out
}
