//! `trawl config`: is the file well formed, and what comes of it, the environment and the defaults.

use super::file::Document;
use super::setting::{Entry, Kind, Setting, unknown_variables};
use super::{TABLES, path, shown, table_command, usual_path};
use crate::terminal::plural;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::ExitCode;

/// Check the configuration file, or show what comes of it
///
/// The file is TOML, with the tables [serve], [frontend] and [backend]; keys are the long flags of
/// those commands. A flag counts before its variable (TRAWL_SERVE_LISTEN for `listen` in [serve]),
/// that before the file, and that before the default.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl config check trawl.toml
  trawl config show                        every setting, and where its value comes from

A file:
  [serve]
  listen = \"127.0.0.1:9000\"
  source = [\"/srv/debian-sources\"]
  each = true
  spool-bytes = \"40G\"

  [frontend]
  backend = [\"10.0.0.1:28082\", \"10.0.0.2:28082\"]
  spool = \"/var/lib/trawl/spool\"")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Say what is wrong with the file, with its place
    Check {
        /// The file [default: the one that would be used]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Show every setting and where its value comes from: TRAWL_*, the file or the default
    Show {
        /// The file [default: the one that would be used]
        #[arg(long = "config", value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    match &arguments.action {
        Action::Check { file } => check(file.clone()),
        Action::Show { file } => show(file.clone()),
    }
}

fn check(file: Option<PathBuf>) -> Result<ExitCode> {
    let path = path(file)?.with_context(|| {
        let usual = usual_path().map_or(String::new(), |path| format!(" ({})", shown(&path)));
        format!("there is no configuration file{usual}: name one")
    })?;
    let document = Document::read(&path)?;
    let mut faults = document.faults();
    let mut good = 0;
    for (table, setting, entry) in file_entries(&document) {
        match setting.check(&table_command(table), &entry) {
            Ok(()) => good += 1,
            Err(fault) => faults.push(fault.to_string()),
        }
    }
    if !faults.is_empty() {
        faults.iter().for_each(|fault| eprintln!("trawl: {fault}"));
        return Ok(ExitCode::from(crate::ERROR));
    }
    println!("{}: {}", shown(document.path()), plural(good, "setting"));
    Ok(ExitCode::SUCCESS)
}

fn file_entries(document: &Document) -> impl Iterator<Item = (&'static str, Setting, Entry)> {
    TABLES.into_iter().flat_map(move |table| {
        let settings = Setting::all(&table_command(table)).into_iter();
        settings.filter_map(move |setting| {
            let entry = document.entry(table, &setting)?;
            Some((table, setting, entry))
        })
    })
}

fn show(file: Option<PathBuf>) -> Result<ExitCode> {
    let document = path(file)?.as_deref().map(Document::read).transpose()?;
    let mut faults = document.as_ref().map_or(Vec::new(), Document::faults);
    for (index, table) in TABLES.into_iter().enumerate() {
        let command = table_command(table);
        let settings = Setting::all(&command);
        faults.extend(unknown_variables(table, &settings));
        println!("{}[{table}]", if index == 0 { "" } else { "\n" });
        for setting in settings {
            let entry = setting.variable(table);
            let in_file = || document.as_ref()?.entry(table, &setting);
            let entry = entry.or_else(in_file);
            if let Some(Err(fault)) = entry.as_ref().map(|entry| setting.check(&command, entry)) {
                faults.push(fault.to_string());
            }
            println!("{}", line(&setting, entry.as_ref()));
        }
    }
    faults.iter().for_each(|fault| eprintln!("trawl: {fault}"));
    Ok(match faults.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(crate::ERROR),
    })
}

/// A line of TOML, and behind it where the value comes from.
fn line(setting: &Setting, entry: Option<&Entry>) -> String {
    let (values, origin) = match entry {
        Some(entry) => (entry.values.clone(), entry.origin.to_string()),
        None if setting.kind() == Kind::Switch => (vec!["false".to_owned()], "default".to_owned()),
        None if setting.default().is_empty() => return format!("# {} is not set", setting.key),
        None => (setting.default(), "default".to_owned()),
    };
    let quoted: Vec<String> = values.iter().map(|value| quoted(value)).collect();
    let value = match setting.kind() {
        Kind::Switch => values.concat(),
        Kind::One => quoted.concat(),
        Kind::List => format!("[{}]", quoted.join(", ")),
    };
    format!("{:42}  # {origin}", format!("{} = {value}", setting.key))
}

/// Text as TOML has it.
fn quoted(text: &str) -> String {
    let escaped = text.escape_default().to_string();
    format!("\"{}\"", escaped.replace("\\'", "'"))
}
