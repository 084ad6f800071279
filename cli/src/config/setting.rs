//! A setting: flag, file key, variable and values.

use crate::renamed;
use anyhow::{Result, anyhow};
use clap::{Arg, ArgAction, Command};
use std::iter;

/// Each has a table of its name.
pub(crate) const TABLES: [&str; 3] = ["serve", "frontend", "backend"];

pub(super) const FILE_FLAG: &str = "config";

const NOT_SETTINGS: [&str; 3] = ["help", "version", FILE_FLAG];

const SEPARATOR: char = ',';

#[derive(Clone, Debug)]
pub(crate) struct Setting {
    argument: Arg,
    pub(crate) key: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// Several for lists.
    pub(crate) texts: Vec<String>,
    /// Variable or file position.
    pub(crate) origin: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Switch,
    One,
    List,
}

impl Setting {
    /// Follows the order of the help.
    pub(crate) fn all(definition: &Command, table: &str) -> Vec<Setting> {
        let command = command(definition, table);
        let arguments = command.get_arguments();
        let settings = arguments.filter_map(|argument| {
            let key = key(argument).filter(|key| !NOT_SETTINGS.contains(&&key[..]))?;
            let argument = argument.clone();
            Some(Setting { argument, key })
        });
        settings.collect()
    }

    /// A former flag is in no help and no list.
    pub(crate) fn is_hidden(&self) -> bool {
        self.argument.is_hide_set()
    }

    pub(crate) fn kind(&self) -> ValueKind {
        match self.argument.get_action() {
            ArgAction::SetTrue | ArgAction::SetFalse => ValueKind::Switch,
            ArgAction::Append => ValueKind::List,
            _ => ValueKind::One,
        }
    }

    /// Text as on the command line.
    pub(crate) fn default(&self) -> Vec<String> {
        let values = self.argument.get_default_values().iter();
        let texts = values.map(|value| value.to_string_lossy().into_owned());
        texts.collect()
    }

    /// Ignores empty variables. A former name comes last.
    pub(crate) fn variable(&self, table: &str) -> Option<Value> {
        let former = renamed::of(table).filter(|it| it.is_alias && it.new == self.key);
        let keys = iter::once(&*self.key).chain(former.map(|it| it.old));
        let mut names = keys.map(|key| variable_name(table, key));
        let (value, origin) = names.find_map(|name| Some((set_variable(&name)?, name)))?;
        let texts = match self.kind() {
            ValueKind::List => value.split(SEPARATOR).map(str::to_owned).collect(),
            _ => vec![value],
        };
        Some(Value { texts, origin })
    }

    /// Sets the flag's default.
    pub(super) fn set(&self, command: Command, value: &Value) -> Command {
        command.mut_arg(self.argument.get_id(), |argument| {
            argument.required(false).default_values(&value.texts)
        })
    }

    /// Errors name the origin.
    pub(crate) fn check(&self, definition: &Command, table: &str, value: &Value) -> Result<()> {
        let fault = |reason: &str| anyhow!("{}: {}: {reason}", value.origin, self.key);
        let is_boolean = ["true", "false"].contains(&&value.texts.concat()[..]);
        if self.kind() == ValueKind::Switch && !is_boolean {
            return Err(fault("expected true or false"));
        }
        let alone = command(definition, table)
            .no_binary_name(true)
            .mut_args(|argument| argument.required(false));
        let parsed = self.set(alone, value).try_get_matches_from([""; 0]);
        parsed.map(drop).map_err(|error| fault(&reason(&error)))
    }
}

fn command(definition: &Command, table: &str) -> Command {
    let found = definition.find_subcommand(table);
    let mut command = found.expect("every table is a command").clone();
    command.build();
    command
}

/// Long flag, or name of the position.
fn key(argument: &Arg) -> Option<String> {
    match argument.get_long() {
        Some(long) => Some(long.to_owned()),
        None => Some(argument.get_value_names()?.first()?.to_lowercase()),
    }
}

fn variable_name(table: &str, key: &str) -> String {
    let name = format!("TRAWL_{table}_{key}");
    name.to_uppercase().replace('-', "_")
}

/// `None` if empty.
fn set_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn reason(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

pub(crate) fn former_variables(table: &str) -> impl Iterator<Item = String> {
    let name = move |key: &str| variable_name(table, key);
    let set = renamed::of(table).filter(move |it| set_variable(&name(it.old)).is_some());
    set.map(move |it| it.warning(name))
}

pub(crate) fn unknown_variables(table: &str, settings: &[Setting]) -> Vec<String> {
    let keys = settings.iter().map(|setting| &*setting.key);
    let keys = keys.chain(renamed::of(table).map(|it| it.old));
    let known: Vec<String> = keys.map(|key| variable_name(table, key)).collect();
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let prefix = variable_name(table, "");
    let unknown = names.filter(|name| name.starts_with(&prefix) && !known.contains(name));
    let describe = |name: String| {
        let hint = match nearest(&name, known.iter().map(|name| &name[..])) {
            Some(near) => format!("; did you mean {near}?"),
            None => format!(" of `trawl {table}`"),
        };
        format!("the environment variable {name} is not a setting{hint}")
    };
    unknown.map(describe).collect()
}

/// `None` if too different.
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Less similar words have little in common.
    const SIMILARITY_MIN: f64 = 0.8;
    let similar = known.map(|known| (strsim::jaro_winkler(word, known), known));
    let best = similar.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= SIMILARITY_MIN).then_some(best.1)
}
