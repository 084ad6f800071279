//! Facts of a document of a history, in place of symbols: of a commit its people, of a change its
//! hunks. Encodes and decodes them.
//!
//! ```text
//! 1  128: a commit; 129: one whose committer is its author; 130: a change of a file
//! commit  author and committer: varint length, name; varint length, address; varints in zigzag:
//!         seconds since 1970, minutes east of UTC. Of a committer who is the author only the time
//! change  varint: documents since the one of its commit; varint length, former path, or nothing;
//!         then, up to the end, hunks: varint unchanged lines before; removed, then added lines:
//!         varint lines, and unless 0, varint bytes beyond one a line
//! ```

use crate::posting::{decode_varint, encode_varint, from_zigzag, zigzag};
use git::{Changed, Hunk};
use language::symbols::{Class, Run, Symbols};
use schema::message::{ChangedLine, Signature};

const COMMIT: u8 = 128;
const OWN_COMMIT: u8 = 129;
const FILE: u8 = 130;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Commit {
        author: Signature,
        committer: Signature,
    },
    File(FileChange),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChange {
    pub back: u32,
    pub former: Vec<u8>,
    pub hunks: Vec<Hunk>,
}

pub(crate) fn is_change(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|&first| first >= COMMIT)
}

impl Change {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Change::Commit { author, committer } => {
                let is_own = (&author.name, &author.email) == (&committer.name, &committer.email);
                out.push(if is_own { OWN_COMMIT } else { COMMIT });
                encode_name(author, &mut out);
                encode_time(author, &mut out);
                if !is_own {
                    encode_name(committer, &mut out);
                }
                encode_time(committer, &mut out);
            }
            Change::File(file) => {
                out.push(FILE);
                encode_varint(file.back.into(), &mut out);
                encode_bytes(&file.former, &mut out);
                for hunk in &file.hunks {
                    encode_varint(hunk.gap.into(), &mut out);
                    encode_lines(hunk.removed, &mut out);
                    encode_lines(hunk.added, &mut out);
                }
            }
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Change> {
        let (&first, mut rest) = bytes.split_first()?;
        match first {
            COMMIT | OWN_COMMIT => {
                let mut author = decode_name(&mut rest)?;
                decode_time(&mut author, &mut rest)?;
                let mut committer = match first {
                    OWN_COMMIT => author.clone(),
                    _ => decode_name(&mut rest)?,
                };
                decode_time(&mut committer, &mut rest)?;
                Some(Change::Commit { author, committer })
            }
            FILE => {
                let back = u32::try_from(decode_varint(&mut rest)?).ok()?;
                let former = decode_bytes(&mut rest)?.to_vec();
                let mut hunks = Vec::new();
                while !rest.is_empty() {
                    hunks.push(Hunk {
                        gap: u32::try_from(decode_varint(&mut rest)?).ok()?,
                        removed: decode_lines(&mut rest)?,
                        added: decode_lines(&mut rest)?,
                    });
                }
                Some(Change::File(FileChange {
                    back,
                    former,
                    hunks,
                }))
            }
            _ => None,
        }
    }

    /// Classes of the bytes; `None` if the hunks exceed the text.
    pub(crate) fn symbols(&self, text_bytes: u32) -> Option<Symbols> {
        let (mut runs, mut at) = (Vec::new(), 0_u32);
        let hunks: &[Hunk] = match self {
            Change::Commit { .. } => &[],
            Change::File(file) => &file.hunks,
        };
        for hunk in hunks {
            for (part, class) in [(hunk.removed, Class::Removed), (hunk.added, Class::Added)] {
                let end = at.checked_add(part.bytes)?;
                if end > at {
                    let range = at..end;
                    runs.push(Run { range, class });
                }
                at = end;
            }
        }
        (at <= text_bytes).then_some(Symbols {
            class: Class::Text,
            runs,
            ..Symbols::default()
        })
    }
}

impl FileChange {
    pub fn line(&self, number: u32) -> Option<ChangedLine> {
        let (mut old, mut new, mut at) = (1_u32, 1_u32, 1_u32);
        for hunk in &self.hunks {
            old = old.saturating_add(hunk.gap);
            new = new.saturating_add(hunk.gap);
            for (first, lines, is_added) in [
                (&mut old, hunk.removed.lines, false),
                (&mut new, hunk.added.lines, true),
            ] {
                if number.checked_sub(at)? < lines {
                    let number = first.saturating_add(number - at);
                    return Some(ChangedLine { number, is_added });
                }
                at = at.checked_add(lines)?;
                *first = first.saturating_add(lines);
            }
        }
        None
    }
}

fn encode_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn decode_bytes<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = usize::try_from(decode_varint(rest)?).ok()?;
    rest.split_off(..length)
}

fn encode_name(of: &Signature, out: &mut Vec<u8>) {
    encode_bytes(&of.name, out);
    encode_bytes(&of.email, out);
}

fn decode_name(rest: &mut &[u8]) -> Option<Signature> {
    Some(Signature {
        name: decode_bytes(rest)?.to_vec(),
        email: decode_bytes(rest)?.to_vec(),
        ..Signature::default()
    })
}

fn encode_time(of: &Signature, out: &mut Vec<u8>) {
    encode_varint(zigzag(of.seconds), out);
    encode_varint(zigzag(of.offset_minutes.into()), out);
}

fn decode_time(of: &mut Signature, rest: &mut &[u8]) -> Option<()> {
    of.seconds = from_zigzag(decode_varint(rest)?);
    of.offset_minutes = i32::try_from(from_zigzag(decode_varint(rest)?)).ok()?;
    Some(())
}

fn encode_lines(of: Changed, out: &mut Vec<u8>) {
    encode_varint(of.lines.into(), out);
    if of.lines > 0 {
        encode_varint(u64::from(of.bytes - of.lines), out);
    }
}

fn decode_lines(rest: &mut &[u8]) -> Option<Changed> {
    let lines = u32::try_from(decode_varint(rest)?).ok()?;
    if lines == 0 {
        return Some(Changed::default());
    }
    let bytes = lines.checked_add(u32::try_from(decode_varint(rest)?).ok()?)?;
    Some(Changed { lines, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(lines: u32, bytes: u32) -> Changed {
        Changed { lines, bytes }
    }

    fn file() -> FileChange {
        let hunk = |gap, removed, added| Hunk {
            gap,
            removed,
            added,
        };
        FileChange {
            back: 300,
            former: b"old".to_vec(),
            hunks: vec![
                hunk(9, changed(2, 7), changed(1, 300)),
                hunk(0, changed(0, 0), changed(1, 1)),
            ],
        }
    }

    #[test]
    fn facts_survive_and_cut_ones_are_refused() {
        let author = Signature {
            name: b"Ada".to_vec(),
            email: b"ada@example.org".to_vec(),
            seconds: -7,
            offset_minutes: -90,
        };
        let later = Signature {
            seconds: i64::MAX,
            ..author.clone()
        };
        let other = Signature::default();
        for committer in [later, other] {
            let author = author.clone();
            let commit = Change::Commit { author, committer };
            let encoded = commit.encode();
            assert!(is_change(&encoded));
            for end in 0..encoded.len() {
                assert_eq!(Change::decode(&encoded[..end]), None);
            }
            assert_eq!(Change::decode(&encoded), Some(commit));
        }
        let encoded = Change::File(file()).encode();
        assert!(is_change(&encoded));
        assert_eq!(Change::decode(&encoded), Some(Change::File(file())));
    }

    #[test]
    fn lines_have_their_places_and_classes() {
        let file = file();
        let line = |number| {
            let found = file.line(number)?;
            Some((found.number, found.is_added))
        };
        let places: Vec<_> = (0..6).map(line).collect();
        let places_expected = [
            None,
            Some((10, false)),
            Some((11, false)),
            Some((10, true)),
            Some((11, true)),
            None,
        ];
        assert_eq!(places, places_expected);
        let change = Change::File(file);
        let runs = change.symbols(308).expect("it fits").runs;
        let runs: Vec<_> = runs.into_iter().map(|run| (run.range, run.class)).collect();
        let (removed, added) = (Class::Removed, Class::Added);
        assert_eq!(runs, [(0..7, removed), (7..307, added), (307..308, added)]);
        assert_eq!(change.symbols(307), None);
    }
}
