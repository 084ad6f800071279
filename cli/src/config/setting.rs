//! A setting: a flag of a subcommand, what it is called in a file and in the environment, and the
//! words that it is on a command line.

use super::{key, nearest, shown, typed_default};
use anyhow::{Result, anyhow};
use clap::{Arg, ArgAction, Command};
use std::ffi::OsString;
use std::path::PathBuf;

/// What separates the values of a list in a variable.
const SEPARATOR: char = ',';

/// Flags that say nothing of how a server is set up.
const NOT_SETTINGS: [&str; 3] = ["help", "version", super::CONFIG];

/// A flag, as clap knows it.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    argument: Arg,
    pub(super) key: String,
}

/// A value that something other than the command line gives to a setting.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// One, unless the setting is a list.
    pub(super) values: Vec<String>,
    pub(super) origin: Origin,
}

/// Where a value comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    File {
        path: PathBuf,
        line: usize,
        column: usize,
    },
    Variable(String),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::File { path, line, column } => write!(f, "{}:{line}:{column}", shown(path)),
            Origin::Variable(name) => f.write_str(name),
        }
    }
}

/// What kind of value a setting has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Switch,
    One,
    List,
}

impl Setting {
    /// The settings of a subcommand, in the order of its help.
    pub(super) fn all(command: &Command) -> Vec<Setting> {
        let arguments = command.get_arguments();
        let settings = arguments.filter_map(|argument| {
            let key = key(argument).filter(|key| !NOT_SETTINGS.contains(&&key[..]))?;
            let argument = argument.clone();
            Some(Setting { argument, key })
        });
        settings.collect()
    }

    /// What clap calls it.
    pub(super) fn id(&self) -> &str {
        self.argument.get_id().as_str()
    }

    pub(super) fn kind(&self) -> Kind {
        match self.argument.get_action() {
            ArgAction::SetTrue | ArgAction::SetFalse => Kind::Switch,
            ArgAction::Append => Kind::List,
            _ => Kind::One,
        }
    }

    /// Whether it has no name on the command line, only a position.
    pub(super) fn is_position(&self) -> bool {
        self.argument.is_positional()
    }

    /// What it is when nobody says.
    pub(super) fn default(&self) -> Vec<String> {
        typed_default(&self.argument)
    }

    /// Its variable's name.
    pub(super) fn variable_name(&self, table: &str) -> String {
        format!(
            "{}{}",
            prefix(table),
            self.key.to_uppercase().replace('-', "_")
        )
    }

    /// What its variable says. An empty one says nothing.
    pub(super) fn variable(&self, table: &str) -> Option<Entry> {
        let name = self.variable_name(table);
        let value = std::env::var(&name)
            .ok()
            .filter(|value| !value.is_empty())?;
        let values = match self.kind() {
            Kind::List => value.split(SEPARATOR).map(str::to_owned).collect(),
            _ => vec![value],
        };
        let origin = Origin::Variable(name);
        Some(Entry { values, origin })
    }

    /// What it is on a command line.
    pub(super) fn words(&self, entry: &Entry) -> Vec<OsString> {
        let option = |value: &String| format!("--{}={value}", self.key).into();
        match (self.is_position(), self.kind()) {
            (true, _) => entry.values.iter().map(OsString::from).collect(),
            (false, Kind::Switch) if entry.values == ["true"] => {
                vec![format!("--{}", self.key).into()]
            }
            (false, Kind::Switch) => Vec::new(),
            (false, _) => entry.values.iter().map(option).collect(),
        }
    }

    /// Lets clap judge a value.
    pub(super) fn check(&self, command: &Command, entry: &Entry) -> Result<()> {
        let fault = |reason: &str| {
            let Entry { origin, .. } = entry;
            anyhow!("{origin}: {}: {reason}", self.key)
        };
        if self.kind() == Kind::Switch && !["true", "false"].contains(&&entry.values.concat()[..]) {
            return Err(fault("expected true or false"));
        }
        let alone = command
            .clone()
            .no_binary_name(true)
            .mut_args(|argument| argument.required(false));
        match alone.try_get_matches_from(self.words(entry)) {
            Ok(_) => Ok(()),
            Err(error) => Err(fault(&reason(&error))),
        }
    }
}

/// What a table's variables begin with.
fn prefix(table: &str) -> String {
    format!("TRAWL_{}_", table.to_uppercase())
}

/// What clap objects to, in one line: its first, without its head.
fn reason(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// Variables that look like a setting of a table and are none.
pub(super) fn unknown_variables(table: &str, settings: &[Setting]) -> Vec<String> {
    let known: Vec<String> = settings
        .iter()
        .map(|setting| setting.variable_name(table))
        .collect();
    let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let unknown = set.filter(|name| name.starts_with(&prefix(table)) && !known.contains(name));
    unknown
        .map(
            |name| match nearest(&name, known.iter().map(|name| &name[..])) {
                Some(near) => format!("the variable {name} is no setting; did you mean {near}?"),
                None => format!("the variable {name} is no setting of `trawl {table}`"),
            },
        )
        .collect()
}
