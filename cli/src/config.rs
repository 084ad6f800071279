//! Settings of `serve`, `frontend` and `backend` from the environment and a file.
//!
//! Precedence: flag, environment variable (`TRAWL_SERVE_LISTEN`), file (`listen` in `[serve]`),
//! default. Settings are clap's flags; values become their defaults, and clap parses them.
//!
//! **Invariant:** unknown or malformed file content is an error with its position.

mod file;
mod setting;

pub(crate) use file::{ConfigFile, default_path};
pub(crate) use setting::{Setting, TABLES, Value, ValueKind, former_variables, unknown_variables};

use crate::terminal;
use anyhow::{Result, bail};
use clap::{Arg, ArgMatches, Command};
use setting::FILE_FLAG;
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) fn with_file_flag(definition: Command) -> Command {
    let flag = Arg::new(FILE_FLAG)
        .long(FILE_FLAG)
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf))
        .help("Configuration file [default: $TRAWL_CONFIG, or trawl/config.toml in the user's configuration directory]");
    TABLES.iter().fold(definition, |command, table| {
        command.mut_subcommand(*table, |sub| sub.arg(flag.clone()))
    })
}

/// Parses `words`. Defaults come from variables and the file.
pub(crate) fn matches(
    definition: Command,
    words: Vec<OsString>,
) -> Result<Result<ArgMatches, clap::Error>> {
    let Some((table, named)) = configured_command(&definition, &words) else {
        return Ok(definition.try_get_matches_from(words));
    };
    let file = ConfigFile::find(named, &definition)?;
    let former = file.iter().flat_map(|file| file.former.clone());
    (former.chain(former_variables(table))).for_each(terminal::complain);
    let faults = file.as_ref().map_or(Vec::new(), ConfigFile::faults);
    let settings = Setting::all(&definition, table);
    let faults = [faults, unknown_variables(table, &settings)].concat();
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    let mut configured = definition.clone();
    for setting in settings {
        if let Some(value) = value(&setting, table, file.as_ref()) {
            setting.check(&definition, table, &value)?;
            configured = configured.mut_subcommand(table, |it| setting.set(it, &value));
        }
    }
    Ok(configured.try_get_matches_from(words))
}

/// A variable precedes the file.
pub(crate) fn value(setting: &Setting, table: &str, file: Option<&ConfigFile>) -> Option<Value> {
    let in_file = || file?.value(table, setting);
    setting.variable(table).or_else(in_file)
}

/// Table of the command, if it has settings, and the named file.
fn configured_command(
    definition: &Command,
    words: &[OsString],
) -> Option<(&'static str, Option<PathBuf>)> {
    // Mistakes in the file must not block the help.
    if words.iter().any(|word| word == "--help" || word == "-h") {
        return None;
    }
    // No flag can precede the command.
    let mut tables = TABLES.into_iter();
    let table = tables.find(|table| words.get(1).is_some_and(|word| word == table))?;
    let lenient = definition.clone().ignore_errors(true);
    let lenient = lenient.mut_subcommand(table, |command| {
        let command = command.ignore_errors(true);
        command.mut_args(|argument| argument.required(false))
    });
    let matches = lenient.try_get_matches_from(words).ok()?;
    let given = matches.subcommand_matches(table)?;
    Some((table, given.get_one(FILE_FLAG).cloned()))
}
