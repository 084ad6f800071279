//! Matches by document, for what is printed file by file.
//!
//! Matches arrive in any order and leave document by document, those of one by line. In memory are
//! [`Entry`] a match and the names of documents; the matches themselves go to a file without a name
//! once they take more than [`MEMORY_BYTES_MAX`].
//! **Invariant:** a match leaves as it came.

use frontend::{ContextLine, Document, Match};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Bytes of matches in memory. Some hundred thousand matches; who prints more waits for a disk anyway.
const MEMORY_BYTES_MAX: usize = 64 << 20;

/// In which order documents leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// That in which their first matches came.
    Arrival,
    /// By package and path, name by name, as a walk through sorted directories meets them.
    Path,
}

/// See the module.
pub(super) struct Shelf {
    documents: Vec<Arc<Document>>,
    numbers: HashMap<Arc<Document>, u32>,
    entries: Vec<Entry>,
    memory: Vec<u8>,
    memory_max: usize,
    file: Option<File>,
    file_bytes: u64,
}

/// Where a match is. Ascending: by document, line and column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    document: u32,
    line: u32,
    at: u64,
    bytes: u32,
}

impl Shelf {
    pub(super) fn new() -> Shelf {
        Shelf::with_memory(MEMORY_BYTES_MAX)
    }

    fn with_memory(memory_max: usize) -> Shelf {
        Shelf {
            documents: Vec::new(),
            numbers: HashMap::new(),
            entries: Vec::new(),
            memory: Vec::new(),
            memory_max,
            file: None,
            file_bytes: 0,
        }
    }

    pub(super) fn put(&mut self, found: &Match) -> io::Result<()> {
        let start = self.memory.len();
        encode(found, &mut self.memory);
        let entry = Entry {
            document: self.number(&found.document),
            line: found.line,
            at: self.file_bytes + start as u64,
            bytes: (self.memory.len() - start) as u32,
        };
        self.entries.push(entry);
        if self.memory.len() > self.memory_max {
            self.spill()?;
        }
        Ok(())
    }

    /// The documents one after the other, with their matches by line.
    pub(super) fn for_each_document<E: From<io::Error>>(
        mut self,
        by: By,
        mut each: impl FnMut(Vec<Match>) -> Result<(), E>,
    ) -> Result<(), E> {
        if by == By::Path {
            self.sort_documents();
        }
        self.entries.sort_unstable();
        let mut bytes = Vec::new();
        for entries in self.entries.chunk_by(|a, b| a.document == b.document) {
            let document = &self.documents[entries[0].document as usize];
            let read = entries.iter().map(|entry| {
                self.read(entry, &mut bytes)?;
                Ok(decode(document, &bytes))
            });
            each(read.collect::<io::Result<_>>()?)?;
        }
        Ok(())
    }

    fn number(&mut self, document: &Arc<Document>) -> u32 {
        // A document's matches often come one after the other.
        if let Some(last) = self.entries.last() {
            let same = &self.documents[last.document as usize];
            if Arc::ptr_eq(same, document) {
                return last.document;
            }
        }
        if let Some(&number) = self.numbers.get(document) {
            return number;
        }
        let number = self.documents.len() as u32;
        self.documents.push(Arc::clone(document));
        self.numbers.insert(Arc::clone(document), number);
        number
    }

    fn sort_documents(&mut self) {
        let mut order: Vec<u32> = (0..self.documents.len() as u32).collect();
        let name = |number: &u32| path_key(&self.documents[*number as usize]);
        order.sort_by(|a, b| name(a).cmp(name(b)));
        let mut places = vec![0; order.len()];
        (0_u32..)
            .zip(&order)
            .for_each(|(place, &number)| places[number as usize] = place);
        self.entries
            .iter_mut()
            .for_each(|entry| entry.document = places[entry.document as usize]);
        self.documents = order
            .iter()
            .map(|&number| Arc::clone(&self.documents[number as usize]))
            .collect();
    }

    fn spill(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.write_all(&self.memory)?;
        self.file_bytes += self.memory.len() as u64;
        self.memory.clear();
        Ok(())
    }

    fn read(&self, entry: &Entry, out: &mut Vec<u8>) -> io::Result<()> {
        out.resize(entry.bytes as usize, 0);
        match (&self.file, entry.at.checked_sub(self.file_bytes)) {
            (Some(file), None) => file.read_exact_at(out, entry.at),
            (_, at) => {
                let at = at.unwrap_or(entry.at) as usize;
                out.copy_from_slice(&self.memory[at..][..entry.bytes as usize]);
                Ok(())
            }
        }
    }
}

/// A document's place among others by path: directory by directory.
pub(super) fn path_key(document: &Document) -> impl Iterator<Item = &[u8]> {
    let parts = document.path.split(|&byte| byte == b'/');
    std::iter::once(&document.package[..]).chain(parts)
}

/// Appends a match that is whole: without its document, its window and those of its context.
fn encode(found: &Match, out: &mut Vec<u8>) {
    let number = |number: u64, out: &mut Vec<u8>| out.extend_from_slice(&number.to_le_bytes());
    let bytes = |bytes: &[u8], out: &mut Vec<u8>| {
        number(bytes.len() as u64, out);
        out.extend_from_slice(bytes);
    };
    for each in [
        found.line.into(),
        found.lines.into(),
        found.rank.to_bits().into(),
        found.offset,
        found.ranges.len() as u64,
    ] {
        number(each, out);
    }
    for range in &found.ranges {
        number(range.start as u64, out);
        number(range.end as u64, out);
    }
    bytes(&found.text, out);
    for lines in [&found.before, &found.after] {
        number(lines.len() as u64, out);
        for line in lines {
            number(line.line.into(), out);
            bytes(&line.text, out);
        }
    }
}

/// What [`encode`] has written.
fn decode(document: &Arc<Document>, bytes: &[u8]) -> Match {
    let mut rest = Rest(bytes);
    let (line, lines) = (rest.number() as u32, rest.number() as u32);
    let (rank, offset) = (f32::from_bits(rest.number() as u32), rest.number());
    let ranges = (0..rest.number()).map(|_| rest.range()).collect();
    Match {
        document: Arc::clone(document),
        line,
        lines,
        text: rest.bytes(),
        ranges,
        before: rest.lines(),
        after: rest.lines(),
        rank,
        offset,
        window: None,
    }
}

/// What is still to be decoded.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn number(&mut self) -> u64 {
        let (number, rest) = self.0.split_first_chunk().expect("as it was encoded");
        self.0 = rest;
        u64::from_le_bytes(*number)
    }

    fn range(&mut self) -> Range<usize> {
        let start = self.number() as usize;
        start..self.number() as usize
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = self.number() as usize;
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        bytes.to_vec()
    }

    fn lines(&mut self) -> Vec<ContextLine> {
        let count = self.number();
        let line = |_| ContextLine {
            line: self.number() as u32,
            text: self.bytes(),
            window: None,
        };
        (0..count).map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, line: u32) -> Match {
        Match {
            document: Arc::new(Document {
                package: b"p".to_vec(),
                path: path.into(),
                ..Document::default()
            }),
            line,
            lines: 1,
            text: b"a\xffb".to_vec(),
            ranges: vec![0..1, 2..3],
            before: vec![ContextLine {
                line: line - 1,
                text: b"before".to_vec(),
                window: None,
            }],
            after: vec![],
            rank: 1.5,
            offset: 1 << 40,
            window: None,
        }
    }

    fn check(memory_max: usize, by: By, expected: &[(&str, &[u32])]) {
        let mut shelf = Shelf::with_memory(memory_max);
        let matches = [("b", 9), ("a-c/x", 1), ("b", 2), ("a/y", 5), ("a-c/x", 3)];
        for (path, line) in matches {
            shelf.put(&found(path, line)).unwrap();
        }
        let mut left = Vec::new();
        let each = |matches: Vec<Match>| {
            for each in &matches {
                let path = std::str::from_utf8(&each.document.path).unwrap();
                assert_eq!(*each, found(path, each.line));
            }
            left.push(matches);
            Ok::<_, io::Error>(())
        };
        shelf.for_each_document(by, each).unwrap();
        let lines = |matches: &Vec<Match>| matches.iter().map(|each| each.line).collect();
        let left: Vec<(&[u8], Vec<u32>)> = left
            .iter()
            .map(|matches| (&matches[0].document.path[..], lines(matches)))
            .collect();
        let expected: Vec<(&[u8], Vec<u32>)> = expected
            .iter()
            .map(|(path, lines)| (path.as_bytes(), lines.to_vec()))
            .collect();
        assert_eq!(left, expected);
    }

    #[test]
    fn documents_leave_whole_whatever_is_in_memory() {
        for memory_max in [0, 300, MEMORY_BYTES_MAX] {
            check(
                memory_max,
                By::Arrival,
                &[("b", &[2, 9]), ("a-c/x", &[1, 3]), ("a/y", &[5])],
            );
            check(
                memory_max,
                By::Path,
                &[("a/y", &[5]), ("a-c/x", &[1, 3]), ("b", &[2, 9])],
            );
        }
    }
}
