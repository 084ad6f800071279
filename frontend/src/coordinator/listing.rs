//! Merges the lists of all backends by name, without duplicates.
//!
//! **Invariant:** no entry of a reachable backend is missing between two listed ones: the list ends
//! with the first incomplete reply.

use crate::error::FileError;
use schema::message::{ListEntry, ListKind, ListReply, ListRequest};

#[derive(Clone, Debug, Default)]
pub struct Listing {
    pub entries: Vec<ListEntry>,
    pub more: bool,
    pub unreachable: Vec<(String, String)>,
}

impl Listing {
    /// Returns the list, or an error that names unreachable backends.
    pub fn whole(self) -> Result<ListReply, FileError> {
        if !self.unreachable.is_empty() {
            return Err(FileError::Unreachable(self.unreachable));
        }
        Ok(ListReply {
            entries: self.entries,
            more: self.more,
        })
    }
}

/// Sort key of an entry, compared with [`ListRequest::after`].
pub fn entry_name(kind: ListKind, entry: &ListEntry) -> Vec<u8> {
    match kind {
        ListKind::Packages | ListKind::Shard | ListKind::Repositories => entry.package.clone(),
        ListKind::Children => entry.path.clone(),
        ListKind::Skipped => [&entry.package[..], &entry.path].join(&b'/'),
        ListKind::SymbolDefinitions | ListKind::SymbolUses => {
            let place = entry.place.as_ref();
            let (line, column) = place.map_or((0, 0), |it| (it.line, it.column));
            ListEntry::place_name(&entry.package, &entry.path, line, column)
        }
        ListKind::Resolved => entry.hash.clone(),
    }
}

/// The first of equal names is kept.
pub(super) fn merge(request: &ListRequest, replies: Vec<ListReply>) -> ListReply {
    let more = replies.iter().any(|reply| reply.more);
    // Entries may be missing after this name.
    let end = replies
        .iter()
        .filter(|reply| reply.more)
        .map(|reply| reply.entries.last())
        .map(|last| last.map_or(Vec::new(), |last| entry_name(request.kind, last)))
        .min();
    let entries = replies.into_iter().flat_map(|reply| reply.entries);
    let mut named: Vec<_> = entries
        .map(|entry| (entry_name(request.kind, &entry), entry))
        .filter(|(name, _)| end.as_ref().is_none_or(|end| name <= end))
        .collect();
    named.sort_by(|(a, _), (b, _)| a.cmp(b));
    named.dedup_by(|(a, _), (b, _)| a == b);
    let count = request.count.max(1) as usize;
    let more = more || named.len() > count;
    let entries = named.into_iter().take(count).map(|(_, entry)| entry);
    ListReply {
        entries: entries.collect(),
        more,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn request(after: Vec<u8>, count: u32) -> ListRequest {
        ListRequest {
            kind: ListKind::Packages,
            package: Vec::new(),
            prefix: Vec::new(),
            after,
            count,
            visible: None,
            revision: String::new(),
        }
    }

    fn reply(names: &BTreeSet<u8>, request: &ListRequest, most: usize) -> ListReply {
        let behind = names.iter().filter(|&&name| vec![name] > request.after);
        let count = most.min(request.count as usize);
        let entry = |&name: &u8| ListEntry {
            package: vec![name],
            ..ListEntry::default()
        };
        ListReply {
            entries: behind.clone().take(count).map(entry).collect(),
            more: behind.count() > count,
        }
    }

    proptest! {
        #[test]
        fn pages_have_every_name_once(
            backends in proptest::collection::vec(
                (proptest::collection::btree_set(1_u8..40, 0..20), 1_usize..5), 0..4),
            count in 1_u32..6,
        ) {
            let (mut found, mut after) = (Vec::new(), Vec::new());
            loop {
                let request = request(after, count);
                let replies = backends.iter();
                let replies = replies.map(|(names, most)| reply(names, &request, *most));
                let page = merge(&request, replies.collect());
                prop_assert!(page.entries.len() <= count as usize);
                found.extend(page.entries.iter().map(|entry| entry.package[0]));
                if !page.more {
                    break;
                }
                after = vec![*found.last().unwrap()];
            }
            let all: BTreeSet<u8> = backends.iter().flat_map(|(names, _)| names).copied().collect();
            prop_assert_eq!(found, Vec::from_iter(all));
        }
    }

    #[test]
    fn an_empty_reply_with_more_to_come_ends_the_list() {
        let nothing = ListReply {
            more: true,
            ..ListReply::default()
        };
        let names = BTreeSet::from([1]);
        let request = request(Vec::new(), 5);
        let page = merge(&request, vec![nothing, reply(&names, &request, 5)]);
        assert!(page.entries.is_empty() && page.more);
    }
}
