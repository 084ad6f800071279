//! The configuration file: what a flag of `serve`, `frontend` or `backend` is when nobody gives it.
//!
//! A flag is what the command line says; else what its variable says (`TRAWL_SERVE_LISTEN`); else
//! what the file says (`listen` in the table `[serve]`); else its default. The names are those of
//! clap's own definitions, and clap judges the values: nothing here lists a flag.
//! **Invariant:** what is in the file and is not understood is an error, with its place.

mod check;
mod file;
mod setting;

use crate::Arguments;
use anyhow::{Result, bail};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches};
use file::Document;
use setting::{Entry, Setting};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub(crate) use check::{Arguments as CheckArguments, run};

/// The subcommands that are configured.
const TABLES: [&str; 3] = ["serve", "frontend", "backend"];

/// The flag that names the file; what it is called in code and on the command line.
const CONFIG: &str = "config";

/// What this process was started with: the command line, and for what it leaves open variables and
/// the file. Ends the process when the command line cannot be understood, as clap does.
pub(crate) fn arguments() -> Result<Arguments> {
    let mut typed: Vec<OsString> = std::env::args_os().collect();
    if let Some((table, given)) = configured(&typed) {
        let path = path(given.get_one::<PathBuf>(CONFIG).cloned())?;
        let document = path.as_deref().map(Document::read).transpose()?;
        let entries = entries(table, document.as_ref())?;
        insert(&mut typed, &given, &entries);
    }
    let matches = command().get_matches_from(typed);
    Ok(Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()))
}

/// The whole command line, with the flag that names a file where that has a meaning.
pub(crate) fn command() -> Command {
    let flag = Arg::new(CONFIG)
        .long(CONFIG)
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf))
        .help("The configuration file [default: $TRAWL_CONFIG, or trawl/config.toml in the user's configuration directory]");
    TABLES.iter().fold(Arguments::command(), |command, table| {
        command.mut_subcommand(*table, |sub| sub.arg(flag.clone()))
    })
}

/// Which configured subcommand is run, and what is given on its command line, as far as that can be
/// understood.
fn configured(typed: &[OsString]) -> Option<(&'static str, ArgMatches)> {
    // Help is to be had whatever is wrong with the file.
    if typed.iter().any(|word| word == "--help" || word == "-h") {
        return None;
    }
    // The whole has no flags of its own. Others are not to pay for what they do not need.
    let table = TABLES
        .into_iter()
        .find(|table| typed.get(1).is_some_and(|word| word == table))?;
    let lenient = command().mut_subcommand(table, lenient).ignore_errors(true);
    let matches = lenient.try_get_matches_from(typed).ok()?;
    Some((table, matches.subcommand_matches(table)?.clone()))
}

/// The same command, which does without what it requires.
fn lenient(command: Command) -> Command {
    command
        .ignore_errors(true)
        .mut_args(|argument| argument.required(false))
}

/// The definition of a configured subcommand.
fn table_command(table: &str) -> Command {
    let found = Arguments::command();
    let mut command = found
        .find_subcommand(table)
        .expect("every table is a subcommand")
        .clone();
    command.build();
    command
}

/// The file that is read, if any: the one that is named, or the usual one when it is there.
fn path(named: Option<PathBuf>) -> Result<Option<PathBuf>> {
    let set = std::env::var_os("TRAWL_CONFIG").map(PathBuf::from);
    if let Some(path) = named.or(set) {
        // An empty name is no file.
        return Ok(Some(path).filter(|path| !path.as_os_str().is_empty()));
    }
    Ok(usual_path().filter(|path| path.is_file()))
}

/// Where the file is when nobody says.
fn usual_path() -> Option<PathBuf> {
    let absolute = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path: &PathBuf| path.is_absolute())
    };
    let directory = absolute("XDG_CONFIG_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(directory.join("trawl/config.toml"))
}

/// What variables and file say of a table's settings, each once.
fn entries(table: &str, document: Option<&Document>) -> Result<Vec<(Setting, Entry)>> {
    let command = table_command(table);
    let settings = Setting::all(&command);
    let mut faults = document.map_or(Vec::new(), Document::faults);
    faults.extend(setting::unknown_variables(table, &settings));
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    let entry = |setting: Setting| {
        let entry = setting
            .variable(table)
            .or_else(|| document.and_then(|document| document.entry(table, &setting)));
        entry.map(|entry| (setting, entry))
    };
    let entries: Vec<_> = settings.into_iter().filter_map(entry).collect();
    for (setting, entry) in &entries {
        setting.check(&command, entry)?;
    }
    Ok(entries)
}

/// Adds what the command line does not say to it: options in front of its own, positions behind.
fn insert(typed: &mut Vec<OsString>, given: &ArgMatches, entries: &[(Setting, Entry)]) {
    let is_given =
        |setting: &Setting| given.value_source(setting.id()) == Some(ValueSource::CommandLine);
    // Behind the program and the subcommand.
    let at = 2;
    let left = || entries.iter().filter(|(setting, _)| !is_given(setting));
    let options = left().filter(|(setting, _)| !setting.is_position());
    let words: Vec<_> = options
        .flat_map(|(setting, entry)| setting.words(entry))
        .collect();
    typed.splice(at..at, words);
    let positions = left().filter(|(setting, _)| setting.is_position());
    typed.extend(positions.flat_map(|(setting, entry)| setting.words(entry)));
}

/// A path for people.
fn shown(path: &Path) -> String {
    crate::terminal::harmless(path.to_string_lossy().as_bytes()).into_owned()
}

/// What is most like a word, if anything is.
fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Less than this have little in common.
    const ALIKE: f64 = 0.8;
    let alike = known.map(|known| (strsim::jaro_winkler(word, known), known));
    let best = alike.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= ALIKE).then_some(best.1)
}

/// What a default is, as it would be typed.
fn typed_default(argument: &Arg) -> Vec<String> {
    let values = argument.get_default_values().iter();
    values
        .map(|value| value.to_string_lossy().into_owned())
        .collect()
}

/// What a setting is called: the long flag's name, or that of a position's value.
fn key(argument: &Arg) -> Option<String> {
    match argument.get_long() {
        Some(long) => Some(long.to_owned()),
        None => argument
            .get_value_names()?
            .first()
            .map(|name| name.to_lowercase()),
    }
}
