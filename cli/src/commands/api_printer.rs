//! Sends API requests for `trawl status`, `packages`, `skipped`, `commit`, `log`, `refs` and
//! `explain`. Prints text or JSON that is safe on a terminal.

use crate::client::{Client, Target};
use crate::terminal::{escaped, escaped_json};
use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use std::io::{self, BufWriter, StdoutLock, Write};
use web::model::exact as exact_bytes;

/// Maximum of the API.
const PER_RESPONSE: &[u8] = b"1000";

const SHORT_ID: usize = 12;

/// Server or index of the API, and output format.
#[derive(clap::Args, Debug)]
pub(super) struct ApiFlags {
    #[command(flatten)]
    target: Target,
    /// Print the answer of the API, in JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) struct ApiPrinter {
    client: Client,
    json: bool,
    out: BufWriter<StdoutLock<'static>>,
}

impl ApiPrinter {
    pub(super) fn new(flags: &ApiFlags) -> Result<ApiPrinter> {
        Ok(ApiPrinter {
            client: Client::new(&flags.target)?,
            json: flags.json,
            out: BufWriter::new(io::stdout().lock()),
        })
    }

    /// Returns an answer, and prints it with `--json`.
    pub(super) fn get<T: DeserializeOwned>(
        &mut self,
        path: &str,
        parameters: &[(&str, &[u8])],
    ) -> Result<T> {
        let body = self.client.get_whole(path, parameters)?;
        let unexpected = || format!("{path}: unexpected answer; is this a Trawl server?");
        let answer = serde_json::from_slice(&body).with_context(unexpected)?;
        if self.json {
            let text = str::from_utf8(&body).with_context(unexpected)?;
            writeln!(self.out, "{}", escaped_json(text))?;
        }
        Ok(answer)
    }

    /// Requests all pages. `each` returns the cursor of the next.
    pub(super) fn get_all<T: DeserializeOwned>(
        &mut self,
        path: &str,
        parameters: &[(&str, &[u8])],
        mut each: impl FnMut(&mut Self, T) -> Result<Option<String>>,
    ) -> Result<()> {
        let first = [parameters, &[("count", PER_RESPONSE)]].concat();
        let response = self.get(path, &first)?;
        let mut next = each(self, response)?;
        while let Some(after) = next {
            let response =
                self.get(path, &[&first[..], &[("after", after.as_bytes())]].concat())?;
            next = each(self, response)?;
        }
        Ok(())
    }

    pub(super) fn print(
        &mut self,
        words: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        if !self.json {
            words(&mut self.out)?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

/// Beginning of a commit's id.
pub(super) fn short(id: &str) -> String {
    escaped(&id.chars().take(SHORT_ID).collect::<String>()).into_owned()
}

/// Renders a name on one line.
pub(super) fn name(text: &str, exact: Option<&str>) -> String {
    let bytes = exact_bytes(text, exact).unwrap_or_else(|_| text.as_bytes().to_vec());
    escaped(&bytes).replace('\n', "\\n")
}
