//! A frontend, asked over HTTP: a server somewhere, or one in this process over an index directory.
//!
//! Both are asked with the same paths and answer with the same bytes, so that a command is written
//! once. What is refused is an error in the same words.

mod in_process;
mod server;

pub(crate) use in_process::{InProcess, over, runtime};
pub(crate) use server::Server;

use crate::search::Place;
use crate::terminal;
use anyhow::{Result, anyhow};
use frontend::BadQuery;
use serde::Deserialize;
use std::io::Read;

/// Who answers.
pub(crate) trait Client {
    /// The body of an answer that is one; what is objected to is an error, a [`BadQuery`] when it is
    /// the query.
    fn get(&self, path: &str, parameters: &[(&str, &[u8])]) -> Result<Box<dyn Read>>;
}

/// The client of a place.
pub(crate) fn client(place: &Place) -> Result<Box<dyn Client>> {
    Ok(match &place.index {
        Some(index) => Box::new(InProcess::new(index)?),
        None => Box::new(Server::new(&place.server())?),
    })
}

/// Why there is no answer, as a server says it (RFC 9457).
#[derive(Deserialize)]
struct Problem {
    detail: String,
    at: Option<usize>,
    filter: Option<String>,
    hint: Option<String>,
}

/// What an answer that is none says.
fn problem(status: u16, body: &[u8]) -> anyhow::Error {
    match serde_json::from_slice::<Problem>(body) {
        Ok(problem) if status == 400 => {
            let mut bad = BadQuery::new(problem.detail);
            (bad.at, bad.filter, bad.hint) = (problem.at, problem.filter, problem.hint);
            bad.into()
        }
        Ok(Problem { detail, .. }) => anyhow!("the server says: {detail}"),
        Err(_) => anyhow!("the server says: {status} {}", terminal::harmless(body)),
    }
}

/// A path and its parameters, as an address has them.
fn path_with(path: &str, parameters: &[(&str, &[u8])]) -> String {
    use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
    let mut out = path.to_owned();
    for (index, (name, value)) in parameters.iter().enumerate() {
        let separator = if index == 0 { '?' } else { '&' };
        let value = percent_encode(value, NON_ALPHANUMERIC);
        out.push_str(&format!("{separator}{name}={value}"));
    }
    out
}
