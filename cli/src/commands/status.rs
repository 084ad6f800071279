//! `trawl status`: what is searched, on which backends, and how old it is.

use super::api_printer::{ApiFlags, ApiPrinter};
use crate::terminal::escaped;
use crate::{exit, units};
use anyhow::Result;
use std::io::{self, Write};
use std::process::ExitCode;
use web::model::{BackendStatus, Status};

/// Show what a server searches, on which backends, and how old it is
///
/// Exit status: 0 success, 2 error, 3 a backend is not connected.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  trawl status\n  trawl status --index I --json")]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    api: ApiFlags,
}

pub(super) fn run(arguments: &StatusArguments) -> Result<ExitCode> {
    let mut printer = ApiPrinter::new(&arguments.api)?;
    let status: Status = printer.get("/api/v2/status", &[])?;
    printer.print(|out| print(&status, out))?;
    printer.finish()?;
    Ok(exit::complete_or(status.complete, ExitCode::SUCCESS))
}

fn print(status: &Status, out: &mut dyn Write) -> io::Result<()> {
    let Status {
        shards,
        packages,
        documents,
        bytes,
        age_s,
        ..
    } = *status;
    let (version, generation) = (escaped(&status.version), escaped(&status.generation));
    writeln!(
        out,
        "{}",
        contents([packages, documents, bytes, shards], age_s)
    )?;
    writeln!(out, "trawl {version}, generation {generation}")?;
    for backend in &status.backends {
        let name = escaped(&backend.name);
        let BackendStatus {
            shards,
            packages,
            documents,
            bytes,
            age_s,
            ..
        } = *backend;
        let contents = contents([packages, documents, bytes, shards as u64], age_s);
        match &backend.reason {
            None => writeln!(out, "{name}: {contents}")?,
            Some(reason) => writeln!(out, "{name}: not connected: {}", escaped(reason))?,
        }
    }
    Ok(())
}

fn contents([packages, documents, bytes, shards]: [u64; 4], age_s: Option<u64>) -> String {
    let counts = [
        units::plural(packages, "package"),
        units::plural(documents, "document"),
        units::size(bytes),
        units::plural(shards, "shard"),
    ];
    let age = age_s.map_or(String::new(), |age| {
        format!(", indexed {} ago", units::age(age))
    });
    counts.join(", ") + &age
}
