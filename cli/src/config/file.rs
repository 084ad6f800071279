//! Configuration file: TOML, parsed without a schema to keep positions for errors.

use super::setting::{Setting, TABLES, Value, ValueKind, nearest};
use crate::cache_dir::{read_small, user_dir};
use crate::renamed;
use crate::terminal::escaped;
use anyhow::{Result, anyhow};
use clap::Command;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// Exceeds all settings with their comments.
const FILE_BYTES_MAX: u64 = 1 << 20;

pub(crate) struct ConfigFile {
    /// Safe for a terminal.
    pub(crate) path: String,
    text: String,
    values: Vec<(&'static str, String, Value)>,
    /// Offset in the text, and error.
    faults: Vec<(usize, String)>,
    /// Warnings about former keys, with their positions.
    pub(crate) former: Vec<String>,
}

pub(crate) fn default_path() -> Option<PathBuf> {
    Some(user_dir("XDG_CONFIG_HOME", ".config")?.join("trawl/config.toml"))
}

impl ConfigFile {
    /// The named file, else the default one if it exists.
    pub(crate) fn find(named: Option<PathBuf>, definition: &Command) -> Result<Option<ConfigFile>> {
        let variable = || std::env::var_os("TRAWL_CONFIG").map(PathBuf::from);
        let path = match named.or_else(variable) {
            // An empty name disables the file.
            Some(path) => Some(path).filter(|path| !path.as_os_str().is_empty()),
            None => default_path().filter(|path| path.is_file()),
        };
        let file = path.map(|path| ConfigFile::read(&path, definition));
        file.transpose()
    }

    /// Settings are those of `definition`.
    fn read(path: &Path, definition: &Command) -> Result<ConfigFile> {
        let text = read_small(path, "the configuration file", FILE_BYTES_MAX)?;
        let mut file = ConfigFile {
            path: escaped(&*path.to_string_lossy()).into_owned(),
            text: text.clone(),
            values: Vec::new(),
            faults: Vec::new(),
            former: Vec::new(),
        };
        let root = DeTable::parse(&text).map_err(|error| {
            let origin = file.origin(error.span().unwrap_or_default());
            let reason = error.message().lines().collect::<Vec<_>>().join(", ");
            anyhow!("{origin}: {reason}")
        })?;
        file.tables(root.get_ref(), definition);
        file.faults.sort();
        Ok(file)
    }

    /// Unknown or malformed entries.
    pub(crate) fn faults(&self) -> Vec<String> {
        let faults = self.faults.iter();
        faults.map(|(_, fault)| fault.clone()).collect()
    }

    pub(crate) fn value(&self, table: &str, setting: &Setting) -> Option<Value> {
        let mut values = self.values.iter();
        let found = values.find(|(in_table, key, _)| *in_table == table && *key == setting.key);
        Some(found?.2.clone())
    }

    fn tables(&mut self, root: &DeTable<'_>, definition: &Command) {
        for (key, value) in root {
            let name = key.get_ref();
            let known = TABLES.into_iter().find(|table| table == name);
            match (known, value.get_ref()) {
                (Some(table), DeValue::Table(keys)) => {
                    self.keys(&Setting::all(definition, table), table, keys)
                }
                (Some(name), _) => {
                    self.fault(key.span(), format!("{name} must be a table: [{name}]"));
                }
                (None, _) => self.unknown(key.span(), "table", name, &TABLES),
            }
        }
    }

    fn keys(&mut self, settings: &[Setting], table: &'static str, keys: &DeTable<'_>) {
        let known = settings.iter().filter(|setting| !setting.is_hidden());
        let known: Vec<&str> = known.map(|setting| &setting.key[..]).collect();
        for (key, value) in keys {
            let (name, span) = (key.get_ref(), key.span());
            let renamed = renamed::of(table).find(|it| it.old == &**name);
            if let Some(renamed) = renamed {
                let origin = self.origin(span.clone());
                let warning = renamed.warning(str::to_owned);
                self.former.push(format!("{origin}: {warning}"));
            }
            let alias = renamed.filter(|it| it.is_alias);
            let current = alias.map_or(&**name, |it| it.new);
            let Some(setting) = settings.iter().find(|setting| setting.key == current) else {
                self.unknown(span, "key", name, &known);
                continue;
            };
            if alias.is_some() && keys.contains_key(current) {
                let fault = format!("{name} and {current} are the same; give one of them");
                self.fault(span, fault);
            }
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
        let (start, origin) = (span.start, self.origin(span));
        self.faults.push((start, format!("{origin}: {reason}")));
    }

    fn origin(&self, span: Range<usize>) -> String {
        let before = &self.text[..span.start.min(self.text.len())];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.matches('\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        format!("{}:{line}:{column}", self.path)
    }
}

/// Converts to command line text.
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
