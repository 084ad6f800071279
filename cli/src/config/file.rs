//! The file: TOML, a table for each subcommand, a key for each of its settings.
//!
//! It is read without a schema, so that every key and value keeps its place for whoever objects to it.

use super::setting::{Entry, Kind, Origin, Setting};
use super::{TABLES, nearest, shown, table_command};
use anyhow::{Context, Result, anyhow, bail};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// Bytes of a file, at most: far more than every setting with a comment.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A file that is TOML.
pub(super) struct Document {
    path: PathBuf,
    tables: Vec<Table>,
    /// What is wrong with it.
    faults: Vec<String>,
}

struct Table {
    name: &'static str,
    entries: Vec<(String, Entry)>,
}

impl Document {
    pub(super) fn read(path: &Path) -> Result<Document> {
        let about = || format!("{}: cannot be read", shown(path));
        let bytes = std::fs::metadata(path).with_context(about)?.len();
        if bytes > FILE_BYTES_MAX {
            bail!(
                "{}: {bytes} bytes, the most is {FILE_BYTES_MAX}",
                shown(path)
            );
        }
        Document::parse(path, &std::fs::read_to_string(path).with_context(about)?)
    }

    /// What `text` says; an error when it is no TOML.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Document> {
        let mut reader = Reader {
            path,
            text,
            faults: Vec::new(),
        };
        let root = DeTable::parse(text).map_err(|error| {
            let origin = reader.origin(error.span().unwrap_or_default());
            let reason = error.message().lines().collect::<Vec<_>>().join(", ");
            anyhow!("{origin}: {reason}")
        })?;
        let tables = reader.tables(root.get_ref());
        reader.faults.sort();
        Ok(Document {
            path: path.to_owned(),
            tables,
            faults: reader.faults.into_iter().map(|(_, fault)| fault).collect(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Keys and values that are not understood, each with its place.
    pub(super) fn faults(&self) -> Vec<String> {
        self.faults.clone()
    }

    /// What it says of a setting.
    pub(super) fn entry(&self, table: &str, setting: &Setting) -> Option<Entry> {
        let table = self.tables.iter().find(|known| known.name == table)?;
        let mut entries = table.entries.iter();
        let found = entries.find(|(key, _)| *key == setting.key)?;
        Some(found.1.clone())
    }
}

/// Makes entries of what was parsed, and notes what cannot be one.
struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    /// With where they are.
    faults: Vec<(usize, String)>,
}

impl Reader<'_> {
    fn tables(&mut self, root: &DeTable<'_>) -> Vec<Table> {
        let mut tables = Vec::new();
        for (key, value) in root {
            let name = key.get_ref();
            let known = TABLES.iter().find(|table| *table == name);
            match (known, value.get_ref()) {
                (Some(&name), DeValue::Table(table)) => {
                    let entries = self.entries(name, table);
                    tables.push(Table { name, entries });
                }
                (Some(name), _) => self.fault(key.span(), format!("{name} is a table: [{name}]")),
                (None, _) => self.unknown(key.span(), "table", name, &TABLES),
            }
        }
        tables
    }

    fn entries(&mut self, name: &str, table: &DeTable<'_>) -> Vec<(String, Entry)> {
        let settings = Setting::all(&table_command(name));
        let keys: Vec<&str> = settings.iter().map(|setting| &setting.key[..]).collect();
        let mut entries = Vec::new();
        for (key, value) in table {
            let (name, span) = (key.get_ref(), key.span());
            let Some(setting) = settings.iter().find(|setting| setting.key == **name) else {
                self.unknown(span, "key", name, &keys);
                continue;
            };
            match values(setting.kind(), value.get_ref()) {
                Ok(values) => {
                    let origin = self.origin(value.span());
                    entries.push((setting.key.clone(), Entry { values, origin }));
                }
                Err(reason) => self.fault(value.span(), format!("{name}: {reason}")),
            }
        }
        entries
    }

    fn unknown(&mut self, span: Range<usize>, what: &str, name: &str, known: &[&str]) {
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there are {}", known.join(", ")),
        };
        let name = crate::terminal::harmless(name.as_bytes()).into_owned();
        self.fault(span, format!("there is no {what} {name}; {hint}"));
    }

    fn fault(&mut self, span: Range<usize>, reason: String) {
        let origin = self.origin(span.clone());
        self.faults
            .push((span.start, format!("{origin}: {reason}")));
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

/// A value as it would be typed, or what was expected instead.
fn values(kind: Kind, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    match (kind, value) {
        (Kind::Switch, DeValue::Boolean(on)) => Ok(vec![on.to_string()]),
        (Kind::Switch, _) => Err("expected true or false".to_owned()),
        (Kind::List, DeValue::Array(array)) => {
            array.iter().map(|value| one(value.get_ref())).collect()
        }
        (_, value) => Ok(vec![one(value)?]),
    }
}

fn one(value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().replace('_', "")),
        DeValue::Float(number) => Ok(number.as_str().replace('_', "")),
        DeValue::Boolean(_) => Err("expected text or a number, not true or false".to_owned()),
        DeValue::Array(_) => Err("expected one value, not a list".to_owned()),
        _ => Err("expected text or a number".to_owned()),
    }
}
