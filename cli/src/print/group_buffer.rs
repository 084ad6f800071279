//! Groups matches by document, sorted by line.
//!
//! Memory holds a [`BufferedMatch`] for each match, document names, and matches up to
//! [`MEMORY_BYTES_MAX`]; others go to an unlinked file.
//!
//! **Invariant:** a match is returned exactly as it was added.

use frontend::{ContextLine, Document, Match, Window};
use schema::message::ChangedLine;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Holds some hundred thousand matches. Printing more is slower than the disk.
pub(super) const MEMORY_BYTES_MAX: usize = 64 << 20;

#[derive(Default)]
pub(super) struct GroupBuffer {
    documents: Vec<Arc<Document>>,
    numbers: HashMap<Arc<Document>, u32>,
    matches: Vec<BufferedMatch>,
    memory: Vec<u8>,
    memory_max: usize,
    file: Option<File>,
    file_bytes: u64,
}

/// Ordered by document, line and arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct BufferedMatch {
    document: u32,
    line: u32,
    offset: u64,
    bytes: u32,
}

impl GroupBuffer {
    pub(super) fn new(memory_max: usize) -> GroupBuffer {
        GroupBuffer {
            memory_max,
            ..GroupBuffer::default()
        }
    }

    pub(super) fn add(&mut self, found: &Match) -> io::Result<()> {
        let start = self.memory.len();
        encode(found, &mut self.memory);
        let buffered = BufferedMatch {
            document: self.number(&found.document),
            line: found.line,
            offset: self.file_bytes + start as u64,
            bytes: (self.memory.len() - start) as u32,
        };
        self.matches.push(buffered);
        if self.memory.len() > self.memory_max {
            self.spill()?;
        }
        Ok(())
    }

    /// Documents are ordered by first match, or name by name like a walk through sorted
    /// directories.
    pub(super) fn for_each_document<E: From<io::Error>>(
        mut self,
        by_path: bool,
        mut each: impl FnMut(Vec<Match>) -> Result<(), E>,
    ) -> Result<(), E> {
        if by_path {
            self.sort_documents();
        }
        self.matches.sort_unstable();
        let mut bytes = Vec::new();
        for group in self.matches.chunk_by(|a, b| a.document == b.document) {
            let document = &self.documents[group[0].document as usize];
            let read = group.iter().map(|buffered| {
                self.read(buffered, &mut bytes)?;
                Ok(decode(document, &bytes))
            });
            each(read.collect::<io::Result<_>>()?)?;
        }
        Ok(())
    }

    fn number(&mut self, document: &Arc<Document>) -> u32 {
        // Matches of a document are often adjacent.
        if let Some(last) = self.matches.last()
            && Arc::ptr_eq(&self.documents[last.document as usize], document)
        {
            return last.document;
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
        let mut positions = vec![0; order.len()];
        for (position, &number) in (0_u32..).zip(&order) {
            positions[number as usize] = position;
        }
        for buffered in &mut self.matches {
            buffered.document = positions[buffered.document as usize];
        }
        let sorted = order
            .iter()
            .map(|&it| Arc::clone(&self.documents[it as usize]));
        self.documents = sorted.collect();
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

    fn read(&self, buffered: &BufferedMatch, out: &mut Vec<u8>) -> io::Result<()> {
        let BufferedMatch { offset, bytes, .. } = *buffered;
        out.resize(bytes as usize, 0);
        match (&self.file, offset.checked_sub(self.file_bytes)) {
            (Some(file), None) => file.read_exact_at(out, offset),
            (_, in_memory) => {
                let start = in_memory.unwrap_or(offset) as usize;
                out.copy_from_slice(&self.memory[start..][..bytes as usize]);
                Ok(())
            }
        }
    }
}

/// Package, then directory by directory.
pub(super) fn path_key(document: &Document) -> impl Iterator<Item = &[u8]> {
    let parts = document.path.split(|&byte| byte == b'/');
    std::iter::once(&document.package[..]).chain(parts)
}

/// The context must be complete (without windows).
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
        found
            .changed
            .map_or(0, |changed| u64::from(changed.encoded()) + 1),
        found.window.is_some().into(),
        found.window.map_or(0, |window| window.start),
        found.window.map_or(0, |window| window.line_bytes),
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

fn decode(document: &Arc<Document>, bytes: &[u8]) -> Match {
    let mut rest = bytes;
    let rest = &mut rest;
    let (line, lines) = (number(rest) as u32, number(rest) as u32);
    let (rank, offset) = (f32::from_bits(number(rest) as u32), number(rest));
    let changed = number(rest).checked_sub(1);
    let (is_cut, start, line_bytes) = (number(rest) > 0, number(rest), number(rest));
    let count = number(rest);
    let range = |_| number(rest) as usize..number(rest) as usize;
    let ranges = (0..count).map(range).collect();
    Match {
        document: Arc::clone(document),
        line,
        lines,
        text: text(rest),
        ranges,
        before: context_lines(rest),
        after: context_lines(rest),
        rank,
        offset,
        window: is_cut.then_some(Window { start, line_bytes }),
        kinds: 0,
        copies: None,
        changed: changed.map(|encoded| ChangedLine::decoded(encoded as u32)),
    }
}

fn number(rest: &mut &[u8]) -> u64 {
    let (number, after) = rest.split_first_chunk().expect("written by encode");
    *rest = after;
    u64::from_le_bytes(*number)
}

fn text(rest: &mut &[u8]) -> Vec<u8> {
    let length = number(rest) as usize;
    let (text, after) = rest.split_at(length);
    *rest = after;
    text.to_vec()
}

fn context_lines(rest: &mut &[u8]) -> Vec<ContextLine> {
    let count = number(rest);
    let line = |_| ContextLine {
        line: number(rest) as u32,
        text: text(rest),
        window: None,
    };
    (0..count).map(line).collect()
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
            window: (line > 3).then_some(Window {
                start: 1,
                line_bytes: 1 << 33,
            }),
            kinds: 0,
            copies: None,
            changed: Some(ChangedLine {
                number: line,
                is_added: true,
            }),
        }
    }

    fn check(memory_max: usize, by_path: bool, expected: &[(&str, &[u32])]) {
        let mut buffer = GroupBuffer::new(memory_max);
        let matches = [("b", 9), ("a-c/x", 1), ("b", 2), ("a/y", 5), ("a-c/x", 3)];
        for (path, line) in matches {
            buffer.add(&found(path, line)).unwrap();
        }
        let mut groups = Vec::new();
        let each = |matches: Vec<Match>| {
            for each in &matches {
                let path = std::str::from_utf8(&each.document.path).unwrap();
                assert_eq!(*each, found(path, each.line));
            }
            groups.push(matches);
            Ok::<_, io::Error>(())
        };
        buffer.for_each_document(by_path, each).unwrap();
        let lines = |matches: &Vec<Match>| matches.iter().map(|each| each.line).collect();
        let groups: Vec<(&[u8], Vec<u32>)> = groups
            .iter()
            .map(|matches| (&matches[0].document.path[..], lines(matches)))
            .collect();
        let expected: Vec<(&[u8], Vec<u32>)> = expected
            .iter()
            .map(|(path, lines)| (path.as_bytes(), lines.to_vec()))
            .collect();
        assert_eq!(groups, expected);
    }

    #[test]
    fn groups_are_the_same_in_memory_and_on_disk() {
        for memory_max in [0, 300, MEMORY_BYTES_MAX] {
            check(
                memory_max,
                false,
                &[("b", &[2, 9]), ("a-c/x", &[1, 3]), ("a/y", &[5])],
            );
            check(
                memory_max,
                true,
                &[("a/y", &[5]), ("a-c/x", &[1, 3]), ("b", &[2, 9])],
            );
        }
    }
}
