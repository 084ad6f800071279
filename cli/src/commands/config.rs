//! `trawl config`: checks the configuration file, and shows the origin of each setting.

use crate::config::{
    ConfigFile, Setting, TABLES, Value, ValueKind, default_path, former_variables,
    unknown_variables, value,
};
use crate::exit::Exit;
use crate::terminal::{self, escaped};
use crate::units;
use anyhow::{Context, Result};
use std::path::PathBuf;

/// Check the configuration file, or show all settings
///
/// The file is TOML with the tables [serve], [frontend] and [backend]. Its keys are the long flags
/// of these commands. Precedence: flag, environment variable (TRAWL_SERVE_LISTEN for `listen` in
/// [serve]), file, default.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl config check trawl.toml
  trawl config show                        every setting, and the origin of its value

A file:
  [serve]
  listen = \"127.0.0.1:9000\"
  source = [\"/srv/debian-sources\"]
  each = true
  spool-bytes = \"40G\"

  [frontend]
  backend = [\"10.0.0.1:28082\", \"10.0.0.2:28082\"]
  spool = \"/var/lib/trawl/spool\"")]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Check the file, and print the position of every mistake
    Check {
        /// Configuration file [default: the file that the servers would read]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Show every setting and its origin: TRAWL_*, the file or the default
    Show {
        /// Configuration file [default: the file that the servers would read]
        #[arg(long = "config", value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

pub(super) fn run(arguments: &ConfigArguments, definition: &clap::Command) -> Result<Exit> {
    match &arguments.action {
        Action::Check { file } => check(file.clone(), definition),
        Action::Show { file } => show(file.clone(), definition),
    }
}

fn check(named: Option<PathBuf>, definition: &clap::Command) -> Result<Exit> {
    let file = ConfigFile::find(named, definition)?.with_context(|| {
        let default = default_path().map(|path| format!(": {}", escaped(&*path.to_string_lossy())));
        let default = default.unwrap_or_default();
        format!("no configuration file is named, and there is no default one{default}")
    })?;
    file.former.iter().for_each(terminal::complain);
    let mut faults = file.faults();
    let mut valid = 0;
    for table in TABLES {
        for setting in Setting::all(definition, table) {
            if let Some(value) = file.value(table, &setting) {
                let checked = setting.check(definition, table, &value);
                valid += u64::from(checked.is_ok());
                faults.extend(checked.err().map(|fault| fault.to_string()));
            }
        }
    }
    if faults.is_empty() {
        let settings = units::plural(valid, "setting");
        terminal::print(format_args!("{}: {settings}", file.path))?;
    }
    Ok(report(&faults))
}

fn show(named: Option<PathBuf>, definition: &clap::Command) -> Result<Exit> {
    let file = ConfigFile::find(named, definition)?;
    let former = file.iter().flat_map(|file| &file.former);
    former.for_each(terminal::complain);
    let mut faults = file.as_ref().map_or(Vec::new(), ConfigFile::faults);
    for (index, table) in TABLES.into_iter().enumerate() {
        let settings = Setting::all(definition, table);
        faults.extend(unknown_variables(table, &settings));
        former_variables(table).for_each(terminal::complain);
        let space = if index == 0 { "" } else { "\n" };
        terminal::print(format_args!("{space}[{table}]"))?;
        for setting in settings {
            let value = value(&setting, table, file.as_ref());
            if setting.is_hidden() && value.is_none() {
                continue;
            }
            if let Some(value) = &value {
                let checked = setting.check(definition, table, value);
                faults.extend(checked.err().map(|fault| fault.to_string()));
            }
            terminal::print(line(&setting, value.as_ref()))?;
        }
    }
    Ok(report(&faults))
}

fn report(faults: &[String]) -> Exit {
    faults.iter().for_each(terminal::complain);
    match faults {
        [] => Exit::Success,
        _ => Exit::Error,
    }
}

/// Renders a line of TOML, with the origin as a comment.
fn line(setting: &Setting, value: Option<&Value>) -> String {
    let (texts, origin) = match value {
        Some(value) => (value.texts.clone(), &value.origin[..]),
        None => (setting.default(), "default"),
    };
    if texts.is_empty() && value.is_none() {
        return format!("# {} is not set", setting.key);
    }
    let shown = texts.iter().map(|text| without_password(text));
    let escaped = shown.map(|text| text.escape_default().to_string().replace("\\'", "'"));
    let quoted: Vec<String> = escaped.map(|text| format!("\"{text}\"")).collect();
    let value = match setting.kind() {
        ValueKind::Switch => texts.concat(),
        ValueKind::One => quoted.concat(),
        ValueKind::List => format!("[{}]", quoted.join(", ")),
    };
    format!("{:42}  # {origin}", format!("{} = {value}", setting.key))
}

/// Hides the password of redis://user:password@host.
fn without_password(text: &str) -> String {
    let shown = || {
        let (scheme, rest) = text.split_once("://")?;
        let authority = rest.split('/').next()?;
        let (user, _) = rest.split_at(authority.rfind('@')?);
        let (name, _) = user.split_once(':')?;
        Some(format!("{scheme}://{name}:***{}", &rest[user.len()..]))
    };
    shown().unwrap_or_else(|| text.to_owned())
}
