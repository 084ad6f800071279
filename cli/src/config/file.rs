//! The configuration file: TOML with a table for each command and a key for each of its settings.
//!
//! It is parsed without a schema, so that every key and value keeps its place for error messages.

use super::setting::{Origin, Setting, TABLES, Value, ValueKind, nearest, shown};
use crate::terminal::escaped;
use anyhow::{Context, Result, anyhow, bail};
use clap::Command;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// Bytes of a file: far more than all settings with comments need.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A file that is well-formed TOML.
pub(crate) struct ConfigFile {
    path: PathBuf,
    /// Table, key and value.
    values: Vec<(&'static str, String, Value)>,
    faults: Vec<String>,
}

impl ConfigFile {
    /// Reads the file at `path`, whose settings are those of `definition`.
    pub(crate) fn read(path: &Path, definition: &Command) -> Result<ConfigFile> {
        let cannot_read = || format!("cannot read the configuration file {}", shown(path));
        let bytes = std::fs::metadata(path).with_context(cannot_read)?.len();
        if bytes > FILE_BYTES_MAX {
            let path = shown(path);
            bail!("{path}: a configuration file may have {FILE_BYTES_MAX} bytes, this has {bytes}");
        }
        let text = std::fs::read_to_string(path).with_context(cannot_read)?;
        let mut parser = FileParser {
            path,
            text: &text,
            definition,
            values: Vec::new(),
            faults: Vec::new(),
        };
        let root = DeTable::parse(&text).map_err(|error| {
            let origin = parser.origin(error.span().unwrap_or_default());
            let reason = error.message().lines().collect::<Vec<_>>().join(", ");
            anyhow!("{origin}: {reason}")
        })?;
        parser.tables(root.get_ref());
        parser.faults.sort();
        let faults = parser.faults.into_iter();
        Ok(ConfigFile {
            path: path.to_owned(),
            values: parser.values,
            faults: faults.map(|(_, fault)| fault).collect(),
        })
    }

    pub(crate) fn path(&self) -> String {
        shown(&self.path)
    }

    /// Tables, keys and values that are not understood, each with its place.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.faults.clone()
    }

    /// Returns the value of a setting.
    pub(crate) fn value(&self, table: &str, setting: &Setting) -> Option<Value> {
        let mut values = self.values.iter();
        let found = values.find(|(in_table, key, _)| *in_table == table && *key == setting.key);
        Some(found?.2.clone())
    }
}

/// Collects values and faults from parsed TOML.
struct FileParser<'a> {
    path: &'a Path,
    text: &'a str,
    definition: &'a Command,
    values: Vec<(&'static str, String, Value)>,
    /// Faults, and their offsets in the text.
    faults: Vec<(usize, String)>,
}

impl FileParser<'_> {
    fn tables(&mut self, root: &DeTable<'_>) {
        for (key, value) in root {
            let name = key.get_ref();
            let known = TABLES.into_iter().find(|table| table == name);
            match (known, value.get_ref()) {
                (Some(table), DeValue::Table(keys)) => self.keys(table, keys),
                (Some(name), _) => {
                    self.fault(key.span(), format!("{name} must be a table: [{name}]"));
                }
                (None, _) => self.unknown(key.span(), "table", name, &TABLES),
            }
        }
    }

    fn keys(&mut self, table: &'static str, keys: &DeTable<'_>) {
        let settings = Setting::all(self.definition, table);
        let known: Vec<&str> = settings.iter().map(|setting| &setting.key[..]).collect();
        for (key, value) in keys {
            let (name, span) = (key.get_ref(), key.span());
            let Some(setting) = settings.iter().find(|setting| setting.key == **name) else {
                self.unknown(span, "key", name, &known);
                continue;
            };
            match texts(setting.kind(), value.get_ref()) {
                Ok(texts) => {
                    let origin = self.origin(value.span());
                    let value = Value { texts, origin };
                    self.values.push((table, setting.key.clone(), value));
                }
                Err(reason) => self.fault(value.span(), format!("{name}: {reason}")),
            }
        }
    }

    fn unknown(&mut self, span: Range<usize>, what: &str, name: &str, known: &[&str]) {
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("expected one of {}", known.join(", ")),
        };
        let name = escaped(name);
        self.fault(span, format!("unknown {what} {name}; {hint}"));
    }

    fn fault(&mut self, span: Range<usize>, reason: String) {
        let origin = self.origin(span.clone());
        let fault = format!("{origin}: {reason}");
        self.faults.push((span.start, fault));
    }

    fn origin(&self, span: Range<usize>) -> Origin {
        let before = &self.text[..span.start.min(self.text.len())];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Origin::File {
            path: self.path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// A value as it would be typed, or why it is not one.
fn texts(kind: ValueKind, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    match (kind, value) {
        (ValueKind::Switch, DeValue::Boolean(on)) => Ok(vec![on.to_string()]),
        (ValueKind::Switch, _) => Err("expected true or false".to_owned()),
        (ValueKind::List, DeValue::Array(array)) => {
            array.iter().map(|value| text(value.get_ref())).collect()
        }
        (_, value) => Ok(vec![text(value)?]),
    }
}

fn text(value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().replace('_', "")),
        DeValue::Float(number) => Ok(number.as_str().replace('_', "")),
        DeValue::Boolean(_) => Err("expected text or a number, not true or false".to_owned()),
        DeValue::Array(_) => Err("expected one value, not a list".to_owned()),
        _ => Err("expected text or a number".to_owned()),
    }
}
