//! `trawl skipped`: what is not searchable, and why.

use super::{Asking, Missing, Part, Whom, name, report_missing};
use crate::search::INCOMPLETE;
use crate::terminal::harmless;
use anyhow::Result;
use serde::Deserialize;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

/// Say why a package or a file is not found: what was left out, and by which rule
///
/// Prints package/path, a tab, and the reason of what was left out; of a PATH also whether it is
/// indexed. Exit status: 0 when there was something to say, 1 when nothing was left out or it is not
/// known, 2 after an error, 3 when a backend could not be asked.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl skipped                     everything that was left out
  trawl skipped i3-wm               of a package
  trawl skipped i3-wm build/x.o     why is this file not found?")]
pub(crate) struct Arguments {
    #[command(flatten)]
    whom: Whom,
    /// A package's name, with or without its version
    #[arg(value_name = "PACKAGE")]
    package: Option<std::ffi::OsString>,
    /// A path in it
    #[arg(value_name = "PATH", requires = "package")]
    path: Option<std::ffi::OsString>,
}

#[derive(Deserialize)]
struct Why {
    state: Option<String>,
    #[serde(default)]
    skipped: Vec<Skipped>,
    #[serde(default)]
    similar: Vec<String>,
    #[serde(default)]
    missing: Vec<Missing>,
    next: Option<String>,
}

impl Part for Why {
    fn next(&self) -> Option<String> {
        self.next.clone()
    }
}

#[derive(Deserialize)]
struct Skipped {
    package: String,
    package_base64: Option<String>,
    path: String,
    path_base64: Option<String>,
    words: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut asking = Asking::new(&arguments.whom)?;
    let given = [("package", &arguments.package), ("path", &arguments.path)];
    let given = given.iter().filter_map(|(name, value)| {
        let value = value.as_ref()?;
        Some((*name, value.as_bytes()))
    });
    let parameters: Vec<_> = given.collect();
    let (mut is_incomplete, mut said) = (false, false);
    asking.get_all("/api/v2/skipped", &parameters, |asking, why: Why| {
        is_incomplete |= report_missing(&why.missing);
        said |= !why.skipped.is_empty();
        said |= arguments.path.is_some() && why.state.as_deref() == Some("indexed");
        match asking.json {
            true => Ok(()),
            false => print(arguments, &why, &mut asking.out),
        }
    })?;
    asking.out.flush()?;
    Ok(match said {
        _ if is_incomplete => ExitCode::from(INCOMPLETE),
        true => ExitCode::SUCCESS,
        false => ExitCode::from(crate::NONE),
    })
}

fn print(arguments: &Arguments, why: &Why, out: &mut impl Write) -> Result<()> {
    for each in &why.skipped {
        let package = name(&each.package, each.package_base64.as_deref());
        let path = name(&each.path, each.path_base64.as_deref());
        writeln!(out, "{package}/{path}\t{}", harmless(each.words.as_bytes()))?;
    }
    match (why.state.as_deref(), &arguments.path) {
        (Some("indexed"), Some(_)) if why.skipped.is_empty() => writeln!(out, "indexed")?,
        (Some("unknown"), path) => {
            let what = if path.is_some() { "file" } else { "package" };
            eprintln!(
                "trawl: there is no such {what} in the index{}",
                guess(&why.similar)
            );
        }
        _ => {}
    }
    Ok(())
}

fn guess(similar: &[String]) -> String {
    let names: Vec<_> = similar
        .iter()
        .map(|name| harmless(name.as_bytes()))
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", names.join(" or ")),
    }
}
