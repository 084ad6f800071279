//! Settings of `serve`, `frontend` and `backend` from the environment and a file.
//!
//! Precedence: flag, environment variable (`TRAWL_SERVE_LISTEN`), file (`listen` in `[serve]`), default.
//! Names and types of the settings are those of clap's definition of the command line: nothing here
//! lists a flag. Values are put on the command line as flags, and clap parses them.
//! **Invariant:** whatever is in the file and not understood is an error with its place.

mod file;
mod setting;

pub(crate) use file::ConfigFile;
pub(crate) use setting::{Setting, TABLES, Value, ValueKind, shown, unknown_variables};

use crate::cache_dir::user_dir;
use anyhow::{Result, bail};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use setting::FILE_FLAG;
use std::ffi::OsString;
use std::path::PathBuf;

/// Adds the flag that names the file to the commands that have settings.
pub(crate) fn with_file_flag(definition: Command) -> Command {
    let flag = Arg::new(FILE_FLAG)
        .long(FILE_FLAG)
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf))
        .help("The configuration file [default: $TRAWL_CONFIG, or trawl/config.toml in the user's configuration directory]");
    TABLES.iter().fold(definition, |command, table| {
        command.mut_subcommand(*table, |sub| sub.arg(flag.clone()))
    })
}

/// Parses the command line of this process; what it leaves open comes from variables and the file. Ends
/// the process when the command line is wrong, as clap does.
pub(crate) fn matches(definition: &Command) -> Result<ArgMatches> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if let Some((table, given)) = configured(definition, &words) {
        let path = path(given.get_one::<PathBuf>(FILE_FLAG).cloned())?;
        let file = path
            .map(|path| ConfigFile::read(&path, definition))
            .transpose()?;
        let values = values(definition, table, file.as_ref())?;
        insert(&mut words, &given, &values);
    }
    Ok(definition.clone().get_matches_from(words))
}

/// Returns the command that is run if it has settings, and its flags, parsed as far as possible.
fn configured(definition: &Command, words: &[OsString]) -> Option<(&'static str, ArgMatches)> {
    // A mistake in the file must not keep anybody from the help.
    if words.iter().any(|word| word == "--help" || word == "-h") {
        return None;
    }
    // The command is the first word: no flag can stand before it.
    let mut tables = TABLES.into_iter();
    let table = tables.find(|table| words.get(1).is_some_and(|word| word == table))?;
    let lenient = |command: Command| {
        command
            .ignore_errors(true)
            .mut_args(|argument| argument.required(false))
    };
    let definition = definition.clone().mut_subcommand(table, lenient);
    let matches = definition.ignore_errors(true).try_get_matches_from(words);
    let given = matches.ok()?.subcommand_matches(table)?.clone();
    Some((table, given))
}

/// Returns the path of the file: the one that is named, or the default one if it exists.
pub(crate) fn path(named: Option<PathBuf>) -> Result<Option<PathBuf>> {
    let variable = std::env::var_os("TRAWL_CONFIG").map(PathBuf::from);
    if let Some(path) = named.or(variable) {
        // An empty name turns the file off.
        return Ok(Some(path).filter(|path| !path.as_os_str().is_empty()));
    }
    Ok(default_path().filter(|path| path.is_file()))
}

/// The default path of the file.
pub(crate) fn default_path() -> Option<PathBuf> {
    Some(user_dir("XDG_CONFIG_HOME", ".config")?.join("trawl/config.toml"))
}

/// Returns the settings of a table that a variable or the file sets.
fn values(
    definition: &Command,
    table: &str,
    file: Option<&ConfigFile>,
) -> Result<Vec<(Setting, Value)>> {
    let settings = Setting::all(definition, table);
    let mut faults = file.map_or(Vec::new(), ConfigFile::faults);
    faults.extend(unknown_variables(table, &settings));
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    let mut values = Vec::new();
    for setting in settings {
        let in_file = || file?.value(table, &setting);
        if let Some(value) = setting.variable(table).or_else(in_file) {
            setting.check(definition, table, &value)?;
            values.push((setting, value));
        }
    }
    Ok(values)
}

/// Adds values that the command line does not have: flags before its own, positions behind.
fn insert(words: &mut Vec<OsString>, given: &ArgMatches, values: &[(Setting, Value)]) {
    let is_given =
        |setting: &Setting| given.value_source(setting.id()) == Some(ValueSource::CommandLine);
    let (positions, flags): (Vec<_>, Vec<_>) = values
        .iter()
        .filter(|(setting, _)| !is_given(setting))
        .partition(|(setting, _)| setting.is_position());
    let as_words = |values: Vec<&(Setting, Value)>| -> Vec<OsString> {
        let words = values
            .into_iter()
            .map(|(setting, value)| setting.words(value));
        words.flatten().collect()
    };
    // Behind the names of the program and the command.
    words.splice(2..2, as_words(flags));
    words.extend(as_words(positions));
}
