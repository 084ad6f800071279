//! `trawl status`: what is searched, on which backends, and how old it is.

use super::api_printer::{ApiFlags, ApiPrinter};
use crate::terminal::escaped;
use crate::{exit, units};
use anyhow::Result;
use serde::Deserialize;
use std::io::{self, Write};
use std::process::ExitCode;

/// Show what a server searches, on which backends, and how old it is
///
/// Exit status: 0 success, 2 error, 3 a backend is not connected.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  trawl status\n  trawl status --index I --json")]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    api: ApiFlags,
}

#[derive(Deserialize)]
struct StatusResponse {
    version: String,
    generation: String,
    complete: bool,
    #[serde(flatten)]
    totals: Contents,
    backends: Vec<BackendStatus>,
}

#[derive(Deserialize)]
struct Contents {
    shards: u64,
    packages: u64,
    documents: u64,
    bytes: u64,
    age_s: Option<u64>,
}

#[derive(Deserialize)]
struct BackendStatus {
    name: String,
    reason: Option<String>,
    #[serde(flatten)]
    contents: Contents,
}

pub(super) fn run(arguments: &StatusArguments) -> Result<ExitCode> {
    let mut printer = ApiPrinter::new(&arguments.api)?;
    let status: StatusResponse = printer.get("/api/v2/status", &[])?;
    printer.print(|out| status.print(out))?;
    printer.finish()?;
    Ok(exit::complete_or(status.complete, ExitCode::SUCCESS))
}

impl StatusResponse {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let (version, generation) = (escaped(&self.version), escaped(&self.generation));
        writeln!(out, "{}", self.totals)?;
        writeln!(out, "trawl {version}, generation {generation}")?;
        for backend in &self.backends {
            let name = escaped(&backend.name);
            match &backend.reason {
                None => writeln!(out, "{name}: {}", backend.contents)?,
                Some(reason) => writeln!(out, "{name}: not connected: {}", escaped(reason))?,
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts = [
            units::plural(self.packages, "package"),
            units::plural(self.documents, "document"),
            units::size(self.bytes),
            units::plural(self.shards, "shard"),
        ];
        f.write_str(&counts.join(", "))?;
        match self.age_s {
            Some(age) => write!(f, ", indexed {} ago", units::age(age)),
            None => Ok(()),
        }
    }
}
