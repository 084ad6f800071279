//! Lists of what there is, from the replies of all backends: one, in the order of names.
//!
//! What two backends have is listed once. **Invariant:** nothing that a reachable backend has lies
//! between two entries of a list without being in it: where one of them has more to say behind its last
//! name, the list ends there.

use crate::error::FileError;
use schema::message::{ListEntry, ListKind, ListReply, ListRequest};

/// A list, of the backends that could be reached.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// In the order of their names.
    pub entries: Vec<ListEntry>,
    /// Whether there are others behind the last.
    pub more: bool,
    /// The backends whose entries are missing, and why.
    pub unreachable: Vec<(String, String)>,
}

impl Listing {
    /// The list, when all backends are in it; else an error that names who is not.
    pub fn whole(self) -> Result<ListReply, FileError> {
        match self.unreachable.is_empty() {
            true => Ok(ListReply {
                entries: self.entries,
                more: self.more,
            }),
            false => Err(FileError::Unreachable(self.unreachable)),
        }
    }
}

/// What an entry is ordered by, and what [`ListRequest::after`] is compared with.
pub fn entry_name(kind: ListKind, entry: &ListEntry) -> Vec<u8> {
    match kind {
        ListKind::Packages => entry.package.clone(),
        ListKind::Children => entry.path.clone(),
        ListKind::Skipped => [&entry.package[..], &entry.path].join(&b'/'),
    }
}

/// One list of all replies to a request; of what several have, the first one's.
pub(crate) fn merge(request: &ListRequest, replies: Vec<ListReply>) -> ListReply {
    let more = replies.iter().any(|reply| reply.more);
    // Behind this, others may have something in between.
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
        }
    }

    /// What a backend that has these answers, if a reply holds `most`.
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
        fn page_by_page_all_names_come_once(
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
    fn a_reply_that_says_nothing_and_has_more_ends_the_list() {
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
