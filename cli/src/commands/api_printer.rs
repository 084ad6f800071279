//! Sends API requests for `trawl status`, `packages`, `skipped`, `symbols`, `commit`, `log`, `refs`
//! and `explain`. Prints text or JSON that is safe on a terminal.

use super::work_tree;
use crate::client::Target;
use crate::terminal::{escaped, escaped_json};
use crate::work_tree::WorkTree;
use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use std::io::{self, BufWriter, Write};
use web::model::exact as exact_bytes;

/// Maximum of the API.
pub(super) const PER_RESPONSE: (&str, &[u8]) = ("count", b"1000");

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

impl ApiFlags {
    /// Work tree to search, if any.
    pub(super) fn work_tree(&self) -> Option<WorkTree> {
        self.target.work_tree()
    }

    /// Passes answers to `each`, which prints text and returns the cursor of the next. With
    /// `--json`, prints the answers instead.
    pub(super) fn show<T: DeserializeOwned>(
        &self,
        path: &str,
        parameters: &[(&str, &[u8])],
        mut each: impl FnMut(T, &mut dyn Write) -> Result<Option<String>>,
    ) -> Result<()> {
        let client = work_tree::client(&self.target)?;
        let mut out = BufWriter::new(io::stdout().lock());
        let mut next: Option<String> = None;
        loop {
            let after = next.iter().map(|after| ("after", after.as_bytes()));
            let parameters: Vec<_> = parameters.iter().copied().chain(after).collect();
            let body = client.get_whole(path, &parameters)?;
            let unexpected = || format!("{path}: unexpected answer; is this a Trawl server?");
            let answer = serde_json::from_slice(&body).with_context(unexpected)?;
            next = if self.json {
                let text = str::from_utf8(&body).with_context(unexpected)?;
                writeln!(out, "{}", escaped_json(text))?;
                each(answer, &mut io::sink())?
            } else {
                each(answer, &mut out)?
            };
            if next.is_none() {
                return Ok(out.flush()?);
            }
        }
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
