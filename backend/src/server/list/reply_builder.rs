//! The first names of many, in their order, as many as fit into a reply.
//!
//! Names come in any order and any number; no more of them are held than are kept.
//! **Invariant:** when something is left out it lies behind all that is kept, and
//! [`ListReply::more`] says so.

use schema::message::{ListEntry, ListReply, ListRequest};
use std::collections::BTreeMap;

/// Bytes of a reply's entries, at most: half of what a frame may have, which leaves room for a single
/// entry with names as long as a shard can hold them.
pub(super) const REPLY_BYTES_MAX: usize = 512 << 10;

/// What an entry takes beside its package, path and detail: numbers, pointers, a language, a hash, and
/// what each is filled up with.
const ENTRY_BYTES: usize = 208;

/// What is kept so far.
pub(super) struct ReplyBuilder<T> {
    after: Vec<u8>,
    count: usize,
    /// With the bytes that each takes.
    kept: BTreeMap<Vec<u8>, (usize, T)>,
    bytes: usize,
    /// The first name that was left out.
    end: Option<Vec<u8>>,
}

impl<T> ReplyBuilder<T> {
    /// As many as the request asks for, and one at least: whoever asks again gets on.
    pub(super) fn new(request: &ListRequest) -> Self {
        ReplyBuilder {
            after: request.after.clone(),
            count: request.count.max(1) as usize,
            kept: BTreeMap::new(),
            bytes: 0,
            end: None,
        }
    }

    /// What is kept under a name, `new` when it was not known; `None` when that is not among the first.
    /// `bytes` are those of the entry's package, path and detail.
    pub(super) fn entry(
        &mut self,
        name: &[u8],
        bytes: usize,
        new: impl FnOnce() -> T,
    ) -> Option<&mut T> {
        let is_behind = self.end.as_ref().is_some_and(|end| name >= &end[..]);
        if name <= &self.after[..] || is_behind {
            return None;
        }
        if !self.kept.contains_key(name) {
            let bytes = ENTRY_BYTES + bytes;
            self.bytes += bytes;
            self.kept.insert(name.to_vec(), (bytes, new()));
            self.leave_out();
        }
        self.kept.get_mut(name).map(|(_, kept)| kept)
    }

    fn leave_out(&mut self) {
        while self.kept.len() > self.count || (self.bytes > REPLY_BYTES_MAX && self.kept.len() > 1)
        {
            let Some((name, (bytes, _))) = self.kept.pop_last() else {
                return;
            };
            self.bytes -= bytes;
            self.end = Some(name);
        }
    }

    /// The reply, of entries that `describe` makes.
    pub(super) fn finish<E>(
        self,
        describe: impl FnMut(T) -> Result<ListEntry, E>,
    ) -> Result<ListReply, E> {
        let kept = self.kept.into_values().map(|(_, kept)| kept);
        Ok(ListReply {
            entries: kept.map(describe).collect::<Result<_, _>>()?,
            more: self.end.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use schema::frame::FRAME_BYTES_MAX;
    use schema::message::ListKind;
    use std::collections::BTreeSet;

    fn first<'a>(
        names: impl IntoIterator<Item = &'a Vec<u8>>,
        after: &[u8],
        count: u32,
    ) -> ListReply {
        let mut first = ReplyBuilder::new(&ListRequest {
            kind: ListKind::Packages,
            package: Vec::new(),
            prefix: Vec::new(),
            after: after.to_vec(),
            count,
        });
        for name in names {
            first.entry(name, name.len(), || name.clone());
        }
        let describe = |package| {
            Ok::<_, ()>(ListEntry {
                package,
                ..ListEntry::default()
            })
        };
        first.finish(describe).unwrap()
    }

    proptest! {
        #[test]
        fn reply_by_reply_all_names_come_in_order_and_once(
            names in proptest::collection::vec("[a-c]{1,3}", 0..40),
            count in 0_u32..5,
        ) {
            let names: Vec<_> = names.into_iter().map(String::into_bytes).collect();
            let (mut found, mut after) = (Vec::new(), Vec::new());
            loop {
                let reply = first(&names, &after, count);
                found.extend(reply.entries.into_iter().map(|entry| entry.package));
                if !reply.more {
                    break;
                }
                after = found.last().unwrap().clone();
            }
            let sorted: BTreeSet<_> = names.into_iter().collect();
            prop_assert_eq!(found, Vec::from_iter(sorted));
        }
    }

    #[test]
    fn a_reply_fits_into_a_frame() {
        let names: Vec<_> = (0..20_u8).map(|n| vec![n + 1; 64 << 10]).collect();
        let many: Vec<_> = (0..20_000)
            .map(|n| format!("{n:05}").into_bytes())
            .collect();
        for names in [names, many] {
            let reply = first(&names, b"", u32::MAX);
            let mut frame = Vec::new();
            reply.encode(&mut frame).unwrap();
            assert!(frame.len() < FRAME_BYTES_MAX && reply.more);
            assert!(reply.entries.len() > 5);
        }
    }
}
