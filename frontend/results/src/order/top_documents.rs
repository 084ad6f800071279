//! Best documents of a stream so far, with their best lines.

use super::copies::TextHash;
use super::pointer::{BEST_MAX, Pointer, keep_best};

/// Lines of a document shown while a query runs.
pub const BEST_LINES_MAX: usize = 3;

/// Kept documents: more than [`BEST_MAX`], since some may be copies.
const DOCUMENTS_MAX: usize = 2 * BEST_MAX;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopDocuments {
    /// By best match, at most [`DOCUMENTS_MAX`].
    documents: Vec<TopDocument>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopDocument {
    /// Best first, at most [`BEST_LINES_MAX`].
    pub lines: Vec<Pointer>,
    /// Hash of its text; `None` if it must not be folded.
    pub text: Option<TextHash>,
}

impl TopDocument {
    /// Adds a match unless it is worse than those kept.
    pub fn offer(&mut self, pointer: Pointer) {
        keep_best(&mut self.lines, BEST_LINES_MAX, pointer);
    }

    fn best(&self) -> (u128, u64) {
        self.lines[0].sort_key()
    }
}

impl TopDocuments {
    /// Adds lines of a document, new or known.
    pub fn offer(&mut self, found: &TopDocument) {
        let Some(first) = found.lines.first() else {
            return;
        };
        let is_same = |known: &TopDocument| known.lines[0].document() == first.document();
        let mut document = match self.documents.iter().position(is_same) {
            Some(known) => self.documents.remove(known),
            None => TopDocument::default(),
        };
        document.text = found.text;
        found.lines.iter().for_each(|&line| document.offer(line));
        let best = document.best();
        let at = self.documents.partition_point(|other| other.best() < best);
        if at < DOCUMENTS_MAX {
            self.documents.truncate(DOCUMENTS_MAX - 1);
            self.documents.insert(at, document);
        }
    }

    /// Documents without worse copies of the same text.
    pub fn unfolded(&self) -> impl Iterator<Item = &TopDocument> {
        self.documents.iter().enumerate().filter_map(|(at, found)| {
            let is_copy = |better: &TopDocument| found.text.is_some() && found.text == better.text;
            (!self.documents[..at].iter().any(is_copy)).then_some(found)
        })
    }

    /// True if equal scores and hashes leave the order to names.
    pub fn has_ties(&self) -> bool {
        let mut pairs = self.documents.windows(2);
        pairs.any(|pair| pair[0].lines[0].tie_key() == pair[1].lines[0].tie_key())
    }

    /// By best match, at most twice [`BEST_MAX`].
    pub fn documents(&self) -> &[TopDocument] {
        &self.documents
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Origin;

    #[test]
    fn keeps_the_best_documents_and_of_each_its_best_lines() {
        let pointer = |document: u64, rank: u32, line: u32| {
            let origin = Origin {
                hash: document,
                package: 0,
                stream: 0,
                offset: 0,
            };
            origin.pointer(rank as f32, line, line)
        };
        let mut best = TopDocuments::default();
        for line in 0..60_u32 {
            let document = u64::from(line) * 7 % 25;
            let mut found = TopDocument::default();
            for more in 0..3 {
                found.offer(pointer(document, line * 31 % 17 + more, 100 * more + line));
            }
            best.offer(&found);
        }
        let shown: Vec<u64> = best
            .documents()
            .iter()
            .map(|each| each.lines[0].hash())
            .collect();
        let mut distinct = shown.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(
            (shown.len(), distinct.len()),
            (DOCUMENTS_MAX, DOCUMENTS_MAX)
        );
        for document in best.documents() {
            assert_eq!(document.lines.len(), BEST_LINES_MAX);
            assert!(document.lines.is_sorted_by_key(Pointer::sort_key));
            assert!(
                document
                    .lines
                    .iter()
                    .all(|line| line.hash() == document.lines[0].hash())
            );
        }
        let firsts = best.documents().iter().map(TopDocument::best);
        assert!(firsts.is_sorted());
    }
    #[test]
    fn copies_follow_the_best_document_with_their_text() {
        let mut best = TopDocuments::default();
        let texts = [Some(1), Some(2), Some(1), None, Some(2), None, Some(3)];
        for (hash, text) in (1..).zip(texts) {
            let origin = Origin {
                hash,
                package: 0,
                stream: 0,
                offset: 0,
            };
            let mut found = TopDocument {
                text: text.map(|text: u8| [text; 12]),
                ..TopDocument::default()
            };
            found.offer(origin.pointer(1.0, 1, 0));
            best.offer(&found);
        }
        let unfolded = best.unfolded().map(|each| each.lines[0].hash());
        assert_eq!(unfolded.collect::<Vec<_>>(), [1, 2, 4, 6, 7]);
        assert!(!best.has_ties());
        let mut other = best.documents()[3].clone();
        other.lines[0].package = 5;
        best.offer(&other);
        assert!(best.has_ties(), "the same hash in another package");
    }
}
