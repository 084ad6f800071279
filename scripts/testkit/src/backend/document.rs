//! A document in memory, and answers about it.

use super::symbols;
use memchr::memmem;
use regex::bytes::Regex;
use schema::message::{
    Batch, DocumentKind, Expr, Field, FileRange, FileReply, FileRequest, Line, Range, Reading,
    ResumePoint, Role, Search, ShardEnd, Want,
};
use schema::name::package_name;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A document. Lines that contain the pattern match.
#[derive(Clone, Debug)]
pub struct Document {
    pub package: Vec<u8>,
    pub path: Vec<u8>,
    /// Lines without their ends.
    pub lines: Vec<Vec<u8>>,
    /// Sends each match in its own batch.
    pub split: bool,
}

impl Document {
    pub fn new(package: &str, path: &str, lines: &[&str]) -> Document {
        Document {
            package: package.into(),
            path: path.into(),
            lines: lines.iter().map(|line| line.as_bytes().to_vec()).collect(),
            split: false,
        }
    }

    /// Only packages have regular expressions.
    pub(crate) fn passes(&self, expr: &Expr) -> bool {
        let filter = match expr {
            Expr::Filter(filter) => filter,
            Expr::Not(inner) => return !self.passes(inner),
            Expr::Any(alternatives) => return alternatives.iter().any(|each| self.passes(each)),
            _ => return true,
        };
        let value = match filter.field {
            Field::Package => &self.package[..],
            Field::Path => &self.path,
            Field::Language => b"C",
            Field::Extension => b"c",
            Field::Kind => b"source",
            _ => panic!("tests do not filter by {:?}", filter.field),
        };
        let wanted = filter.text.as_bytes();
        match filter.reading {
            Reading::Exact => value == wanted,
            Reading::Regexp if filter.field == Field::Package => {
                let name = Regex::new(&filter.text).expect("a frontend checks expressions");
                name.is_match(package_name(value))
            }
            Reading::Regexp | Reading::RegexpIgnoringCase | Reading::Glob => {
                memmem::find(value, wanted).is_some()
            }
        }
    }

    /// Starts after a resume point, and counts in `end`.
    pub(crate) fn batches(
        &self,
        search: &Search,
        point: &ResumePoint,
        number: u32,
        end: &mut ShardEnd,
    ) -> Vec<Vec<u8>> {
        let pattern = pattern(search);
        let mut matches: Vec<usize> = (0..self.lines.len())
            .filter(|&at| memmem::find(&self.lines[at], pattern).is_some())
            .collect();
        if let Some(role) = role(search) {
            let lines = symbols::lines(&with_ends(&self.lines), pattern, role);
            matches.retain(|at| lines.contains(at));
        }
        end.documents += 1;
        end.matched_documents += u64::from(!matches.is_empty());
        end.found += match search.want {
            Want::Documents => matches.len().min(1) as u64,
            Want::Matches | Want::Count | Want::Estimate => matches.len() as u64,
        };
        match search.want {
            Want::Matches => {}
            Want::Documents => matches.truncate(1),
            Want::Count | Want::Estimate => matches.clear(),
        }
        if search.per_document > 0 {
            matches.sort_by_key(|&at| (memmem::find(&self.lines[at], pattern), at));
            matches.truncate(search.per_document as usize);
            matches.sort_unstable();
        }
        matches.retain(|&at| Some((number, at as u32 + 1)) > point.last);
        end.matches += matches.len() as u64;
        end.hash = matches.iter().fold(end.hash, |hash, &at| {
            ShardEnd::key_hash(hash, number, at as u32 + 1)
        });
        let per_batch = if self.split { 1 } else { matches.len().max(1) };
        matches
            .chunks(per_batch)
            .map(|hits| self.batch(hits, search, point.shard, number))
            .collect()
    }

    fn batch(&self, hits: &[usize], search: &Search, shard: u32, number: u32) -> Vec<u8> {
        let pattern = pattern(search);
        let context = search.context_lines as usize;
        let (mut lines, mut ranges, mut text) = (Vec::new(), Vec::new(), Vec::new());
        for (at, line) in self.lines.iter().enumerate() {
            let next = hits.partition_point(|&hit| hit + context < at);
            if hits.get(next).is_none_or(|&hit| hit > at + context) {
                continue;
            }
            let hit = memmem::find(line, pattern).filter(|_| hits.binary_search(&at).is_ok());
            text.extend_from_slice(line);
            ranges.extend(hit.map(|start| Range {
                start: start as u32,
                end: (start + pattern.len()) as u32,
            }));
            lines.push(Line {
                number: at as u32 + 1,
                rank: hit.map_or(0.0, |start| 1.0 + 0.1 / (1.0 + start as f32)),
                offset: at as u64,
                text_bytes: line.len() as u32,
                ranges: u32::from(hit.is_some()),
            });
        }
        let batch = Batch {
            shard,
            document: number,
            package: &self.package,
            path: &self.path,
            language: "C",
            kind: DocumentKind::Source,
            hash: &self.hash(),
            text: &text,
            lines: &lines,
            ranges: &ranges,
            windows: &[],
            spans: &[],
            revisions: &[],
            revision_count: 0,
            commit: "",
            kinds: &[],
            change: None,
            changed_lines: &[],
        };
        super::session::framed(|out| batch.encode(out))
    }

    /// Hashes the first lines and the line count.
    pub(super) fn hash(&self) -> [u8; 32] {
        let first = &self.lines[..self.lines.len().min(4)];
        let mut hash = [7; 32];
        for (number, part) in hash.chunks_exact_mut(8).enumerate() {
            let mut hasher = DefaultHasher::new();
            (number, self.lines.len(), first).hash(&mut hasher);
            part.copy_from_slice(&hasher.finish().to_le_bytes());
        }
        hash
    }

    pub(crate) fn file(&self, request: &FileRequest) -> FileReply {
        let text = with_ends(&self.lines);
        let (first_line, part) = match request.range {
            FileRange::Lines { first, count } => {
                let start = (first as usize - 1).min(self.lines.len());
                let end = (start + count as usize).min(self.lines.len());
                (first, with_ends(&self.lines[start..end]))
            }
            FileRange::Bytes { offset, count } => {
                let start = (offset as usize).min(text.len());
                let end = (start + count as usize).min(text.len());
                (1, text[start..end].to_vec())
            }
        };
        FileReply {
            found: true,
            offset: 0,
            first_line,
            text: part,
            total_lines: self.lines.len() as u32,
            total_bytes: text.len() as u64,
            language: "C".to_owned(),
            hash: self.hash().to_vec(),
            definitions: if request.definitions {
                symbols::definitions(&text)
            } else {
                Vec::new()
            },
            ..FileReply::default()
        }
    }
}

fn with_ends(lines: &[Vec<u8>]) -> Vec<u8> {
    let lines = lines.iter().flat_map(|line| [line, &b"\n"[..]]);
    lines.flatten().copied().collect()
}

/// Role of the first pattern, if it is of symbols.
fn role(search: &Search) -> Option<Role> {
    let role = search.expr.patterns().first()?.place.role;
    (role != Role::Any).then_some(role)
}

/// Empty for filters alone, so every line matches.
fn pattern(search: &Search) -> &[u8] {
    let patterns = search.expr.patterns();
    patterns
        .first()
        .map_or(b"", |pattern| pattern.text.as_bytes())
}
