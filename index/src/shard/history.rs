//! Commits and changes: the documents of a history.

use super::error::Result;
use super::{DocId, Document, Shard, TextCache};
use crate::change::{Change, FileChange};
use crate::filter::HistoryFacts;
use crate::format::Section;
use schema::message::Signature;

#[derive(Clone, Debug)]
pub struct HistoryDocument<'s> {
    pub commit: &'s str,
    pub author: Signature,
    pub committer: Signature,
    pub subject: Vec<u8>,
    /// `None` for a commit.
    pub change: Option<FileChange>,
    of: DocId,
}

const SUBJECT_BYTES_MAX: u64 = 200;

impl Shard {
    /// True if the documents are commits and their changes.
    pub fn is_history(&self) -> bool {
        self.file.header.is_history.get() != 0
    }

    pub fn history_document(&self, document: &Document<'_>) -> Result<HistoryDocument<'_>> {
        let wrong = || self.corrupt(Section::Symbols, "the commit of a change");
        let (of, change) = match self.change(document.text)? {
            Change::Commit { .. } => (document.id, None),
            Change::File(change) => {
                let of = document.id.0.checked_sub(change.back);
                (DocId(of.ok_or_else(wrong)?), Some(change))
            }
        };
        let commit = self.document(of)?;
        let facts = self.change(commit.text)?;
        let (true, Change::Commit { author, committer }) =
            (commit.package == document.package, facts)
        else {
            return Err(wrong());
        };
        Ok(HistoryDocument {
            commit: str::from_utf8(commit.path).map_err(|_| wrong())?,
            author,
            committer,
            subject: self.subject(&commit)?,
            change,
            of,
        })
    }

    fn subject(&self, commit: &Document<'_>) -> Result<Vec<u8>> {
        let all = self.text_range(commit.blocks.clone())?;
        let range = all.start..all.end.min(all.start + SUBJECT_BYTES_MAX);
        let text = self.text(range, &TextCache::default())?;
        let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        let first = lines.find(|line| !line.is_empty());
        Ok(first.unwrap_or_default().to_vec())
    }

    pub(super) fn history_facts(
        &self,
        document: &Document<'_>,
        reads_message: bool,
    ) -> Result<HistoryFacts> {
        let found = self.history_document(document)?;
        let mut facts = HistoryFacts {
            is_commit: found.change.is_none(),
            author: person(&found.author),
            committer: person(&found.committer),
            committed: found.committer.seconds,
            ..HistoryFacts::default()
        };
        match found.change {
            Some(change) if change.former.is_empty() => {}
            Some(change) => facts.paths.push(change.former),
            None => facts.paths = self.changed_paths(document)?,
        }
        if reads_message {
            let blocks = self.document(found.of)?.blocks;
            let range = self.text_range(blocks)?;
            facts.message = self.text(range, &TextCache::default())?.to_vec();
        }
        Ok(facts)
    }

    fn changed_paths(&self, commit: &Document<'_>) -> Result<Vec<Vec<u8>>> {
        let mut paths = Vec::new();
        for id in commit.id.0 + 1..self.document_count() {
            let document = self.document(DocId(id))?;
            let Change::File(change) = self.change(document.text)? else {
                break;
            };
            if document.package != commit.package {
                break;
            }
            paths.push(document.path.to_vec());
            if !change.former.is_empty() {
                paths.push(change.former);
            }
        }
        Ok(paths)
    }
}

fn person(of: &Signature) -> Vec<u8> {
    [&of.name[..], b" <", &of.email, b">"].concat()
}
