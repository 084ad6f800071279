//! Questions about an index and about queries, put to a server or to an index directory:
//! `trawl status`, `packages`, `skipped` and `explain`.
//!
//! All of them ask what the JSON API answers, and say it in words; with `--json` they print the
//! answer as it came.

pub(crate) mod explain;
pub(crate) mod packages;
pub(crate) mod skipped;
pub(crate) mod status;

use crate::client::{Client, client};
use crate::search::Place;
use crate::terminal::harmless;
use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::io::{self, BufWriter, Read, StdoutLock, Write};

/// Entries that are asked for at a time: as many as a server gives.
const PART: &[u8] = b"1000";

/// Who is asked, and how the answer is printed.
#[derive(clap::Args, Debug)]
pub(crate) struct Whom {
    #[command(flatten)]
    place: Place,
    /// Print the answer as it came, as JSON
    #[arg(long)]
    json: bool,
}

/// One who asks.
struct Asking {
    client: Box<dyn Client>,
    json: bool,
    out: BufWriter<StdoutLock<'static>>,
}

impl Asking {
    fn new(whom: &Whom) -> Result<Asking> {
        Ok(Asking {
            client: client(&whom.place)?,
            json: whom.json,
            out: BufWriter::new(io::stdout().lock()),
        })
    }

    /// An answer; printed, if it is to be as it came.
    fn get<T: DeserializeOwned>(&mut self, path: &str, parameters: &[(&str, &[u8])]) -> Result<T> {
        let mut body = Vec::new();
        self.client.get(path, parameters)?.read_to_end(&mut body)?;
        if self.json {
            self.out.write_all(&body)?;
            self.out.write_all(b"\n")?;
        }
        serde_json::from_slice(&body).context("the server's answer is not understood")
    }

    /// Calls `each` with all parts of a list.
    fn get_all<T: Part>(
        &mut self,
        path: &str,
        parameters: &[(&str, &[u8])],
        mut each: impl FnMut(&mut Self, T) -> Result<()>,
    ) -> Result<()> {
        let mut after = String::new();
        loop {
            let mut asked = parameters.to_vec();
            asked.push(("count", PART));
            if !after.is_empty() {
                asked.push(("after", after.as_bytes()));
            }
            let part: T = self.get(path, &asked)?;
            let next = part.next();
            each(self, part)?;
            match next {
                Some(next) => after = next,
                None => return Ok(()),
            }
        }
    }
}

/// A part of a list.
trait Part: DeserializeOwned {
    /// What to ask for the rest; `None`: there is none.
    fn next(&self) -> Option<String>;
}

/// A backend that could not be asked.
#[derive(Deserialize)]
struct Missing {
    backend: String,
    reason: String,
}

/// Says who could not be asked. Whether anybody could not.
fn report_missing(missing: &[Missing]) -> bool {
    for Missing { backend, reason } in missing {
        let (backend, reason) = (harmless(backend.as_bytes()), harmless(reason.as_bytes()));
        eprintln!("trawl: incomplete: {backend}: {reason}");
    }
    !missing.is_empty()
}

/// A name for people, of the text of a field and its exact bytes.
fn name(text: &str, exact: Option<&str>) -> String {
    let bytes = exact.and_then(|exact| BASE64.decode(exact).ok());
    let bytes = bytes.as_deref().unwrap_or(text.as_bytes());
    harmless(bytes).replace('\n', "\\n")
}

/// A span of time for people: `3 days`.
fn span(seconds: u64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let unit = units.into_iter().find(|(length, _)| seconds >= 2 * length);
    let (length, unit) = unit.unwrap_or((1, "second"));
    crate::terminal::plural(seconds / length, unit)
}
