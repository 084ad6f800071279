//! `trawl packages`: which packages can be searched.

use super::api_printer::{ApiFlags, ApiPrinter, ListResponse, name, report_missing};
use crate::exit;
use anyhow::Result;
use std::process::ExitCode;
use web::model::IndexPackages;

/// List the packages that can be searched
///
/// Prints for each package the name of its directory, the number of documents and the bytes of text,
/// separated by tabs. Exit status: 0 success, 1 no package, 2 error, 3 a backend could not be asked.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl packages
  trawl packages --index I lib | cut -f1   names that begin with lib")]
pub(crate) struct PackagesArguments {
    #[command(flatten)]
    api: ApiFlags,
    /// List only names that begin with PREFIX
    #[arg(value_name = "PREFIX")]
    prefix: Option<String>,
}

impl ListResponse for IndexPackages {
    fn next(&self) -> Option<String> {
        self.next.clone()
    }
}

pub(super) fn run(arguments: &PackagesArguments) -> Result<ExitCode> {
    let mut printer = ApiPrinter::new(&arguments.api)?;
    let prefix = arguments.prefix.as_deref().unwrap_or_default();
    let parameters = [("prefix", prefix.as_bytes())];
    let (mut is_complete, mut any) = (true, false);
    let path = "/api/v2/index/packages";
    printer.get_all(path, &parameters, |printer, list: IndexPackages| {
        let missing = list.missing.iter();
        is_complete &= report_missing(missing.map(|it| (&it.backend, &it.reason)));
        any |= !list.packages.is_empty();
        printer.print(|out| {
            let mut packages = list.packages.iter();
            packages.try_for_each(|package| {
                let name = name(&package.package, package.package_base64.as_deref());
                writeln!(out, "{name}\t{}\t{}", package.documents, package.bytes)
            })
        })
    })?;
    printer.finish()?;
    Ok(exit::complete_or(is_complete, exit::found(any)))
}
