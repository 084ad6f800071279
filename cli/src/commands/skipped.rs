//! `trawl skipped`: what is not searchable, and why.

use super::api_printer::{ApiFlags, ApiPrinter, ListResponse, name, report_missing};
use crate::exit;
use crate::terminal::escaped;
use anyhow::Result;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use web::model::{PackageState, Why};

/// List the files that are not searchable, and why
///
/// Prints for each file that was left out of the index PACKAGE/PATH, a tab, and the reason. With PATH
/// it also says when that file is indexed. Exit status: 0 something was printed, 1 nothing was left
/// out, or there is no such file or package, 2 error, 3 a backend could not be asked.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl skipped                     all files that were left out
  trawl skipped i3-wm               those of a package
  trawl skipped i3-wm build/x.o     why is this file not found?")]
pub(crate) struct SkippedArguments {
    #[command(flatten)]
    api: ApiFlags,
    /// A package's name, with or without version
    #[arg(value_name = "PACKAGE")]
    package: Option<std::ffi::OsString>,
    /// A path in the package
    #[arg(value_name = "PATH", requires = "package")]
    path: Option<std::ffi::OsString>,
}

impl ListResponse for Why {
    fn next(&self) -> Option<String> {
        self.next.clone()
    }
}

pub(super) fn run(arguments: &SkippedArguments) -> Result<ExitCode> {
    let mut printer = ApiPrinter::new(&arguments.api)?;
    let given = [("package", &arguments.package), ("path", &arguments.path)];
    let parameters: Vec<_> = given
        .iter()
        .filter_map(|(name, value)| Some((*name, value.as_ref()?.as_bytes())))
        .collect();
    let asks_file = arguments.path.is_some();
    let (mut is_complete, mut any) = (true, false);
    let path = "/api/v2/skipped";
    printer.get_all(path, &parameters, |printer, why: Why| {
        let missing = why.missing.iter();
        is_complete &= report_missing(missing.map(|it| (&it.backend, &it.reason)));
        any |= !why.skipped.is_empty() || (asks_file && why.state == Some(PackageState::Indexed));
        printer.print(|out| print(&why, asks_file, out))
    })?;
    printer.finish()?;
    Ok(exit::complete_or(is_complete, exit::found(any)))
}

fn print(why: &Why, asks_file: bool, out: &mut dyn Write) -> io::Result<()> {
    for file in &why.skipped {
        let package = name(&file.package, file.package_base64.as_deref());
        let path = name(&file.path, file.path_base64.as_deref());
        writeln!(out, "{package}/{path}\t{}", escaped(&file.words))?;
    }
    match why.state {
        Some(PackageState::Indexed) if asks_file && why.skipped.is_empty() => {
            writeln!(out, "indexed")?;
        }
        Some(PackageState::Unknown) => {
            let what = if asks_file { "file" } else { "package" };
            let similar: Vec<_> = why.similar.iter().map(escaped).collect();
            if similar.is_empty() {
                eprintln!("trawl: the index has no such {what}");
            } else {
                let similar = similar.join(" or ");
                eprintln!("trawl: the index has no such {what}; did you mean {similar}?");
            }
        }
        _ => {}
    }
    Ok(())
}
