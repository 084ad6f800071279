//! `trawl status`: what is searched, who has it, and how old it is.

use super::{Asking, Whom, span};
use crate::search::INCOMPLETE;
use crate::terminal::harmless;
use crate::{size, terminal};
use anyhow::Result;
use serde::Deserialize;
use std::io::Write;
use std::process::ExitCode;

/// Say what a server searches, who has it, and how old it is
///
/// Exit status: 0, or 3 when a backend is not connected, 2 after an error.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  trawl status\n  trawl status --index I --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    whom: Whom,
}

#[derive(Deserialize)]
struct Status {
    version: String,
    generation: String,
    complete: bool,
    #[serde(flatten)]
    all: Held,
    backends: Vec<Backend>,
}

#[derive(Deserialize)]
struct Held {
    shards: u64,
    packages: u64,
    documents: u64,
    bytes: u64,
    age_s: Option<u64>,
}

#[derive(Deserialize)]
struct Backend {
    name: String,
    reason: Option<String>,
    #[serde(flatten)]
    held: Held,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut asking = Asking::new(&arguments.whom)?;
    let status: Status = asking.get("/api/v2/status", &[])?;
    if !asking.json {
        print(&status, &mut asking.out)?;
    }
    asking.out.flush()?;
    Ok(match status.complete {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(INCOMPLETE),
    })
}

fn print(status: &Status, out: &mut impl Write) -> Result<()> {
    writeln!(out, "{}", status.all.words())?;
    let (version, generation) = (&status.version, &status.generation);
    let (version, generation) = (
        harmless(version.as_bytes()),
        harmless(generation.as_bytes()),
    );
    writeln!(out, "trawl {version}, generation {generation}")?;
    for backend in &status.backends {
        let name = harmless(backend.name.as_bytes());
        match &backend.reason {
            None => writeln!(out, "{name}: {}", backend.held.words())?,
            Some(reason) => {
                writeln!(
                    out,
                    "{name}: not connected: {}",
                    harmless(reason.as_bytes())
                )?;
            }
        }
    }
    Ok(())
}

impl Held {
    fn words(&self) -> String {
        let counts = [
            terminal::plural(self.packages, "package"),
            terminal::plural(self.documents, "document"),
            size::show(self.bytes),
            terminal::plural(self.shards, "shard"),
        ];
        let age = self
            .age_s
            .map_or(String::new(), |age| format!(", indexed {} ago", span(age)));
        counts.join(", ") + &age
    }
}
