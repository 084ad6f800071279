//! Changed lines of a file between two versions: hunks without context, as `git diff -U0
//! --histogram`.

mod cache;
mod files;
mod history;
mod merges;
mod moves;

pub use cache::BlobCache;
pub use files::ChangedFile;
pub(crate) use files::FileVersion;
pub use history::{HistoryCommit, HistoryList, Unchanged};

use crate::blame::{indent, without_common_end};
use gix_imara_diff::{Algorithm, Diff, InternedInput, Token};

pub const CHANGE_BYTES_MAX: u64 = 32 << 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Unchanged lines since the hunk before.
    pub gap: u32,
    pub removed: Changed,
    pub added: Changed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    pub lines: u32,
    /// Bytes in [`FileHunks::text`].
    pub bytes: u32,
}

/// Hunks of a file, and their text: removed, then added lines of each, without marks. Each line
/// has an end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileHunks {
    pub hunks: Vec<Hunk>,
    pub text: Vec<u8>,
}

impl FileHunks {
    pub fn between(before: &[u8], after: &[u8]) -> FileHunks {
        let (before, after) = without_common_end(before, after);
        let input = InternedInput::new(before, after);
        let mut diff = Diff::compute(Algorithm::Histogram, &input);
        let indent = |token| indent(input.interner[token]);
        diff.postprocess_with_heuristic(&input, |tokens: &[Token], block, earliest_end| {
            crate::blame::best_end(tokens, block, earliest_end, indent)
        });
        let (mut found, mut end) = (FileHunks::default(), 0);
        for hunk in diff.hunks() {
            let lines = |tokens: &[Token], range: std::ops::Range<u32>| {
                let tokens = &tokens[range.start as usize..range.end as usize];
                tokens.iter().map(|&token| input.interner[token]).collect()
            };
            let (removed, added): (Vec<&[u8]>, Vec<&[u8]>) = (
                lines(&input.before, hunk.before.clone()),
                lines(&input.after, hunk.after.clone()),
            );
            found.push(hunk.before.start - end, &removed, &added);
            end = hunk.before.end;
        }
        found
    }

    pub(crate) fn push(&mut self, gap: u32, removed: &[&[u8]], added: &[&[u8]]) {
        let (removed, added) = (self.append(removed), self.append(added));
        self.hunks.push(Hunk {
            gap,
            removed,
            added,
        });
    }

    fn append(&mut self, lines: &[&[u8]]) -> Changed {
        let start = self.text.len();
        for line in lines {
            self.text.extend_from_slice(line);
            if !line.ends_with(b"\n") {
                self.text.push(b'\n');
            }
        }
        Changed {
            lines: lines.len() as u32,
            bytes: (self.text.len() - start) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_have_removed_then_added_lines() {
        let found = FileHunks::between(b"a\nb\nc\nd\n", b"a\nB\nc\nd\ne");
        let changed = |lines, bytes| Changed { lines, bytes };
        assert_eq!(found.text, b"b\nB\ne\n");
        assert_eq!(
            found.hunks,
            [
                Hunk {
                    gap: 1,
                    removed: changed(1, 2),
                    added: changed(1, 2)
                },
                Hunk {
                    gap: 2,
                    removed: changed(0, 0),
                    added: changed(1, 2)
                },
            ]
        );
        assert_eq!(FileHunks::between(b"x\n", b"x\n"), FileHunks::default());
        assert_eq!(FileHunks::between(b"x", b"x\n").text, b"x\nx\n");
    }
}
