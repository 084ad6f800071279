//! Reads a SCIP file: occurrences of symbols, and their documentation.
//!
//! A file is untrusted and may exceed memory, so documents and occurrences are read one by one. Its
//! paths name documents of the index and are never opened.
//! **Invariant:** each imported occurrence is inside a line of the indexed text.

use super::builder::{Builder, unique_name};
use super::columns::{Columns, NAME_UNITS_MAX, UnitRange};
use super::table_file::{DEFINITION, Occurrence};
use protobuf::rt::skip_field_for_tag;
use protobuf::{CodedInputStream, Enum, Message};
use schema::name::is_local_symbol;
use scip::types::occurrence::Typed_range;
use scip::types::{self, Metadata, PositionEncoding, SymbolInformation, SymbolRole};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Bytes of 2 million occurrences.
const DOCUMENT_BYTES_MAX: u32 = 64 << 20;

const SYMBOL_BYTES_MAX: usize = 4 << 10;

const DOCUMENTATION_BYTES_MAX: usize = 4 << 10;

const LEFT_OUT_MAX: usize = 10;

/// A definition may differ from its symbol's name; in a changed text most do.
const NAMES_SHARE_MIN: usize = 2;

// Field numbers.
const INDEX_METADATA: u32 = 1;
const INDEX_DOCUMENT: u32 = 2;
const PATH: u32 = 1;
const OCCURRENCE: u32 = 2;
const SYMBOL: u32 = 3;
const TEXT: u32 = 5;
const ENCODING: u32 = 6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    pub file: PathBuf,
    pub package: Vec<u8>,
    /// Prefix of its paths: empty, or a directory with a final slash.
    pub prefix: Vec<u8>,
    pub is_given: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub file: PathBuf,
    pub package: Vec<u8>,
    pub documents: u64,
    /// Documents missing from the index or with another text.
    pub stale: u64,
    pub stale_paths: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ScipError {
    #[error("not a SCIP file, or a damaged one ({0}); make it again")]
    Malformed(#[from] protobuf::Error),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(
        "more than {} occurrences, or names of more than {} bytes, in all SCIP files of the index",
        super::builder::OCCURRENCES_MAX,
        super::builder::STRING_BYTES_MAX
    )]
    TooLarge,
}

pub type HashedText = ([u8; 32], Vec<u8>);

pub(super) type TextOf<'a> = &'a mut dyn FnMut(&[u8]) -> Option<HashedText>;

/// Adds the documents that fit their indexed texts.
pub fn import(
    import: &Import,
    builder: &mut Builder,
    text_of: TextOf<'_>,
) -> Result<Imported, ScipError> {
    let mut imported = Imported {
        file: import.file.clone(),
        package: import.package.clone(),
        ..Imported::default()
    };
    let mut reader = BufReader::new(File::open(&import.file)?);
    let mut input = CodedInputStream::from_buf_read(&mut reader);
    while let Some(part) = next(&mut input)? {
        let (INDEX_DOCUMENT, Value::Bytes(bytes)) = part else {
            continue;
        };
        let document = Document::read(&bytes)?;
        let path = [&import.prefix, document.path.as_bytes()].concat();
        imported.documents += 1;
        let found = text_of(&path);
        let fitting = found.and_then(|(hash, text)| Some((hash, document.resolve(&text)?)));
        let Some((hash, occurrences)) = fitting else {
            imported.leave_out(document.path);
            continue;
        };
        document.add_to(builder, (hash, &import.package, &path), occurrences);
        if builder.is_full() {
            return Err(ScipError::TooLarge);
        }
    }
    Ok(imported)
}

/// Base directory of the paths, if given.
pub fn project_root(file: &Path) -> Result<Option<PathBuf>, ScipError> {
    let mut reader = BufReader::new(File::open(file)?);
    let first = next(&mut CodedInputStream::from_buf_read(&mut reader))?;
    let Some((INDEX_METADATA, Value::Bytes(bytes))) = first else {
        return Ok(None);
    };
    let root = Metadata::parse_from_bytes(&bytes)?.project_root;
    Ok(root.strip_prefix("file://").map(PathBuf::from))
}

impl Imported {
    fn leave_out(&mut self, path: String) {
        self.stale += 1;
        if self.stale_paths.len() < LEFT_OUT_MAX {
            self.stale_paths.push(path);
        }
    }
}

enum Value {
    Bytes(Vec<u8>),
    Number(u64),
}

fn next(input: &mut CodedInputStream<'_>) -> protobuf::Result<Option<(u32, Value)>> {
    while let Some(tag) = input.read_raw_tag_or_eof()? {
        let value = match tag & 7 {
            0 => Value::Number(input.read_raw_varint64()?),
            2 => Value::Bytes(read(input)?),
            _ => {
                skip_field_for_tag(tag, input)?;
                continue;
            }
        };
        return Ok(Some((tag >> 3, value)));
    }
    Ok(None)
}

/// Reads a length-prefixed value; empty if too long.
fn read(input: &mut CodedInputStream<'_>) -> protobuf::Result<Vec<u8>> {
    let length = input.read_raw_varint32()?;
    if length > DOCUMENT_BYTES_MAX {
        input.skip_raw_bytes(length)?;
        return Ok(Vec::new());
    }
    let mut bytes = Vec::new();
    input.take(length.into()).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize {
        return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
    }
    Ok(bytes)
}

#[derive(Default)]
struct Document {
    path: String,
    text: Option<Vec<u8>>,
    encoding: PositionEncoding,
    occurrences: Vec<(UnitRange, Named)>,
    symbols: Vec<String>,
    numbers: HashMap<String, u32>,
    information: Vec<(String, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    symbol: u32,
    is_definition: bool,
}

impl Document {
    fn read(bytes: &[u8]) -> Result<Document, ScipError> {
        let mut document = Document::default();
        let mut input = CodedInputStream::from_bytes(bytes);
        while let Some((number, value)) = next(&mut input)? {
            match (number, value) {
                (PATH, Value::Bytes(path)) => {
                    document.path = String::from_utf8_lossy(&path).into_owned();
                }
                (OCCURRENCE, Value::Bytes(bytes)) => {
                    document.occurrence(types::Occurrence::parse_from_bytes(&bytes)?);
                }
                (SYMBOL, Value::Bytes(bytes)) => {
                    let symbol = SymbolInformation::parse_from_bytes(&bytes)?;
                    let documentation = documentation(&symbol);
                    document.information.push((symbol.symbol, documentation));
                }
                (TEXT, Value::Bytes(text)) if !text.is_empty() => document.text = Some(text),
                (ENCODING, Value::Number(number)) => {
                    let encoding = i32::try_from(number).ok();
                    let encoding = encoding.and_then(PositionEncoding::from_i32);
                    document.encoding = encoding.unwrap_or_default();
                }
                _ => {}
            }
        }
        document.occurrences.sort_unstable();
        Ok(document)
    }

    fn occurrence(&mut self, it: types::Occurrence) {
        let Some(range) = range(&it).filter(|it| it.end - it.start <= NAME_UNITS_MAX) else {
            return;
        };
        if it.symbol.is_empty() || it.symbol.len() > SYMBOL_BYTES_MAX {
            return;
        }
        let next = self.symbols.len() as u32;
        let symbol = *self.numbers.entry(it.symbol.clone()).or_insert(next);
        if symbol == next {
            self.symbols.push(it.symbol);
        }
        let is_definition = it.symbol_roles & SymbolRole::Definition as i32 != 0;
        let named = Named {
            symbol,
            is_definition,
        };
        self.occurrences.push((range, named));
    }

    /// `None` if it is another text.
    fn resolve(&self, text: &[u8]) -> Option<Vec<Occurrence>> {
        if self.text.as_ref().is_some_and(|own| own != text) {
            return None;
        }
        let given = [self.encoding];
        let encodings = match self.encoding {
            PositionEncoding::UnspecifiedPositionEncoding => &[
                PositionEncoding::UTF16CodeUnitOffsetFromLineStart,
                PositionEncoding::UTF8CodeUnitOffsetFromLineStart,
                PositionEncoding::UTF32CodeUnitOffsetFromLineStart,
            ][..],
            _ => &given,
        };
        let mut encodings = encodings.iter();
        encodings.find_map(|encoding| self.resolve_in(text, *encoding))
    }

    fn resolve_in(&self, text: &[u8], encoding: PositionEncoding) -> Option<Vec<Occurrence>> {
        let mut columns = Columns::new(text, encoding);
        let mut occurrences = Vec::new();
        let (mut names, mut fitting) = (0, 0);
        for (range, named) in &self.occurrences {
            let (column, found) = columns.resolve(*range)?;
            let name = name_of(&self.symbols[named.symbol as usize]);
            if let Some(name) = name.filter(|_| named.is_definition && !found.is_empty()) {
                names += 1;
                fitting += usize::from(found == name.as_bytes());
            }
            let role = if named.is_definition { DEFINITION } else { 0 };
            occurrences.push(Occurrence {
                line: (range.line + 1).into(),
                column: column.into(),
                bytes: (found.len() as u32).into(),
                symbol: (named.symbol | role).into(),
            });
        }
        (fitting * NAMES_SHARE_MIN >= names).then_some(occurrences)
    }

    fn add_to(
        self,
        builder: &mut Builder,
        (hash, package, path): ([u8; 32], &[u8], &[u8]),
        mut occurrences: Vec<Occurrence>,
    ) {
        let names = self.symbols.iter();
        let numbers = names.map(|name| builder.symbol(&unique_name(name, &hash)));
        let numbers: Vec<u32> = numbers.collect();
        for (name, documentation) in self.information {
            if let Some(symbol) = self.numbers.get(&name) {
                builder.document(numbers[*symbol as usize], documentation.as_bytes());
            }
        }
        for it in &mut occurrences {
            let (symbol, role) = (it.symbol.get() & !DEFINITION, it.symbol.get() & DEFINITION);
            it.symbol = (numbers[symbol as usize] | role).into();
        }
        builder.add(hash, package, path, occurrences);
    }
}

/// `None` for several lines.
fn range(it: &types::Occurrence) -> Option<UnitRange> {
    let [line, start, end] = match (&it.typed_range, &it.range[..]) {
        (Some(Typed_range::SingleLineRange(it)), _) => {
            [it.line, it.start_character, it.end_character]
        }
        (None, &[line, start, end]) => [line, start, end],
        (None, &[line, start, last, end]) if line == last => [line, start, end],
        _ => return None,
    };
    let [line, start, end] = [line, start, end].map(u32::try_from);
    let range = UnitRange {
        line: line.ok()?,
        start: start.ok()?,
        end: end.ok()?,
    };
    (range.start <= range.end && range.line < u32::MAX).then_some(range)
}

/// Name in the last descriptor; `None` if synthetic or unknown.
fn name_of(symbol: &str) -> Option<&str> {
    if symbol.ends_with(':') || is_local_symbol(symbol.as_bytes()) {
        return None;
    }
    let symbol = symbol.trim_end_matches(['.', '#', '!', '/', ')', ']']);
    let symbol = match symbol.rsplit_once('(') {
        Some((method, number)) if number.bytes().all(|it| b"+0123456789".contains(&it)) => method,
        _ => symbol,
    };
    let is_part = |it: char| it.is_ascii_alphanumeric() || "_$".contains(it);
    let name = &symbol[symbol.trim_end_matches(is_part).len()..];
    (!name.is_empty()).then_some(name)
}

fn documentation(symbol: &SymbolInformation) -> String {
    let signature = symbol.signature_documentation.as_ref();
    let signature = signature.filter(|it| !it.text.is_empty());
    let signature = signature.map(|it| format!("```{}\n{}\n```", it.language, it.text));
    let parts = signature.iter().chain(&symbol.documentation);
    let parts: Vec<&str> = parts.map(|part| part.trim()).collect();
    let mut whole = parts.join("\n\n");
    whole.truncate(whole.floor_char_boundary(DOCUMENTATION_BYTES_MAX));
    whole
}
