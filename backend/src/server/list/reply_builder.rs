//! Builds a LIST reply: the first entries by name that fit.
//!
//! Names come in any order and number; memory holds only the reply.
//!
//! **Invariant:** entries left out come after those of the reply, and set [`ListReply::more`].

use schema::message::{ListEntry, ListReply, ListRequest};
use std::collections::BTreeMap;

/// Half a frame, so an entry with the longest names fits.
const REPLY_BYTES_MAX: usize = 512 << 10;

/// Bytes of an entry besides package, path and detail.
const ENTRY_BYTES: usize = 208;

pub(super) struct ReplyBuilder<T> {
    after: Vec<u8>,
    count: usize,
    /// Entries by name, with their bytes.
    kept: BTreeMap<Vec<u8>, (usize, T)>,
    bytes: usize,
    /// First name left out.
    end: Option<Vec<u8>>,
}

impl<T> ReplyBuilder<T> {
    /// Collects the requested number, but at least one, for progress.
    pub(super) fn new(request: &ListRequest) -> Self {
        ReplyBuilder {
            after: request.after.clone(),
            count: request.count.max(1) as usize,
            kept: BTreeMap::new(),
            bytes: 0,
            end: None,
        }
    }

    /// Entry of a name, or `None` if not among the first. `bytes` is the size of package, path and
    /// detail.
    pub(super) fn entry(
        &mut self,
        name: &[u8],
        bytes: usize,
        new: impl FnOnce() -> T,
    ) -> Option<&mut T> {
        let is_left_out = self.end.as_ref().is_some_and(|end| name >= &end[..]);
        if name <= &self.after[..] || is_left_out {
            return None;
        }
        if !self.kept.contains_key(name) {
            let bytes = ENTRY_BYTES + bytes;
            self.bytes += bytes;
            self.kept.insert(name.to_vec(), (bytes, new()));
            self.shrink();
        }
        self.kept.get_mut(name).map(|(_, kept)| kept)
    }

    fn shrink(&mut self) {
        while self.kept.len() > self.count || (self.bytes > REPLY_BYTES_MAX && self.kept.len() > 1)
        {
            let Some((name, (bytes, _))) = self.kept.pop_last() else {
                return;
            };
            self.bytes -= bytes;
            self.end = Some(name);
        }
    }

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

    fn reply<'a>(
        names: impl IntoIterator<Item = &'a Vec<u8>>,
        after: &[u8],
        count: u32,
    ) -> ListReply {
        let mut builder = ReplyBuilder::new(&ListRequest {
            kind: ListKind::Packages,
            package: Vec::new(),
            prefix: Vec::new(),
            after: after.to_vec(),
            count,
            visible: None,
            revision: String::new(),
        });
        for name in names {
            builder.entry(name, name.len(), || name.clone());
        }
        let describe = |package| {
            Ok::<_, ()>(ListEntry {
                package,
                ..ListEntry::default()
            })
        };
        builder.finish(describe).unwrap()
    }

    proptest! {
        #[test]
        fn successive_replies_have_every_name_once_in_order(
            names in proptest::collection::vec("[a-c]{1,3}", 0..40),
            count in 0_u32..5,
        ) {
            let names: Vec<_> = names.into_iter().map(String::into_bytes).collect();
            let (mut found, mut after) = (Vec::new(), Vec::new());
            loop {
                let reply = reply(&names, &after, count);
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
    fn reply_fits_into_a_frame() {
        let names: Vec<_> = (0..20_u8).map(|n| vec![n + 1; 64 << 10]).collect();
        let many: Vec<_> = (0..20_000)
            .map(|n| format!("{n:05}").into_bytes())
            .collect();
        for names in [names, many] {
            let reply = reply(&names, b"", u32::MAX);
            let mut frame = Vec::new();
            reply.encode(&mut frame).unwrap();
            assert!(frame.len() < FRAME_BYTES_MAX && reply.more);
            assert!(reply.entries.len() > 5);
        }
    }
}
