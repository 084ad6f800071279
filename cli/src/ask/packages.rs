//! `trawl packages`: which packages can be searched.

use super::{Asking, Missing, Part, Whom, name, report_missing};
use crate::search::INCOMPLETE;
use anyhow::Result;
use serde::Deserialize;
use std::io::Write;
use std::process::ExitCode;

/// List the packages that can be searched
///
/// Prints the directory's name, a tab, how many documents it has, a tab, and how many bytes of text.
/// Exit status: 0 when there was one, 1 when there was none, 2 after an error, 3 when a backend
/// could not be asked.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  trawl packages\n  trawl packages --index I lib | cut -f1")]
pub(crate) struct Arguments {
    #[command(flatten)]
    whom: Whom,
    /// What their names begin with
    #[arg(value_name = "PREFIX")]
    prefix: Option<String>,
}

#[derive(Deserialize)]
struct Packages {
    missing: Vec<Missing>,
    packages: Vec<Package>,
    next: Option<String>,
}

impl Part for Packages {
    fn next(&self) -> Option<String> {
        self.next.clone()
    }
}

#[derive(Deserialize)]
struct Package {
    package: String,
    package_base64: Option<String>,
    documents: u64,
    bytes: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut asking = Asking::new(&arguments.whom)?;
    let prefix = arguments.prefix.as_deref().unwrap_or_default();
    let parameters = [("prefix", prefix.as_bytes())];
    let (mut is_incomplete, mut count) = (false, 0);
    asking.get_all(
        "/api/v2/index/packages",
        &parameters,
        |asking, part: Packages| {
            is_incomplete |= report_missing(&part.missing);
            count += part.packages.len();
            match asking.json {
                true => Ok(()),
                false => part
                    .packages
                    .iter()
                    .try_for_each(|each| print(each, &mut asking.out)),
            }
        },
    )?;
    asking.out.flush()?;
    Ok(match count {
        _ if is_incomplete => ExitCode::from(INCOMPLETE),
        0 => ExitCode::from(crate::NONE),
        _ => ExitCode::SUCCESS,
    })
}

fn print(package: &Package, out: &mut impl Write) -> Result<()> {
    let Package {
        documents, bytes, ..
    } = package;
    let name = name(&package.package, package.package_base64.as_deref());
    Ok(writeln!(out, "{name}\t{documents}\t{bytes}")?)
}
