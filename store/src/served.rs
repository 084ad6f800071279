//! Shards that each node reports as served. Operators find shards with too few replicas, also
//! during moves. No node relies on it.

use crate::error::StoreError;
use crate::node_status;
use crate::objects::Objects;
use std::collections::HashSet;
use std::fmt::Write;

const SERVED: &str = "served";

const TITLE: &str = "trawl-served 1";

/// Ten times as many as a large cluster has.
const SHARDS_MAX: usize = 1_000_000;

/// Shards of a node, by eight bytes of their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedShards(HashSet<u64>);

impl ServedShards {
    /// Creates a set of shards.
    pub fn new(ids: impl IntoIterator<Item = [u8; 32]>) -> ServedShards {
        ServedShards(ids.into_iter().map(|id| short(&id)).collect())
    }

    /// Shards.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True without shards.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Looks up a shard.
    pub fn contains(&self, id: &[u8; 32]) -> bool {
        self.0.contains(&short(id))
    }

    /// Parses arbitrary bytes.
    pub fn parse(text: &[u8]) -> Option<ServedShards> {
        let mut lines = str::from_utf8(text).ok()?.lines();
        (lines.next()? == TITLE).then_some(())?;
        let mut shards = HashSet::new();
        for line in lines {
            shards.insert(u64::from_str_radix(line, 16).ok()?);
            (shards.len() <= SHARDS_MAX).then_some(())?;
        }
        Some(ServedShards(shards))
    }

    fn render(&self) -> String {
        let mut sorted: Vec<u64> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        let mut text = format!("{TITLE}\n");
        for id in sorted {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{id:016x}");
        }
        text
    }

    /// Writes the shards of `node`.
    pub fn report(&self, objects: &Objects, node: &str) -> Result<(), StoreError> {
        objects.write(&node_status::object(SERVED, node), &self.render())
    }

    /// Reads the shards of a node, if any.
    pub fn of(objects: &Objects, node: &str) -> Result<Option<ServedShards>, StoreError> {
        let read = objects.read(&node_status::object(SERVED, node))?;
        Ok(read.and_then(|(text, _)| ServedShards::parse(&text)))
    }
}

fn short(id: &[u8; 32]) -> u64 {
    let (first, _) = id.split_first_chunk().expect("an id has 32 bytes");
    u64::from_be_bytes(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_read_as_they_were_reported() {
        let directory = tempfile::tempdir().unwrap();
        let objects = Objects::open(directory.path().to_str().unwrap()).unwrap();
        assert_eq!(ServedShards::of(&objects, "a:1").unwrap(), None);
        for ids in [vec![], vec![[1; 32], [0xfe; 32]]] {
            let shards = ServedShards::new(ids.clone());
            shards.report(&objects, "a:1").unwrap();
            let read = ServedShards::of(&objects, "a:1").unwrap().unwrap();
            assert_eq!((&read, read.len()), (&shards, ids.len()));
            assert!(ids.iter().all(|id| read.contains(id)));
            assert!(!read.contains(&[2; 32]));
        }
        for bad in [
            &b"trawl-served 2\n"[..],
            b"trawl-served 1\nx\n",
            b"\xff",
            b"",
        ] {
            assert_eq!(ServedShards::parse(bad), None);
        }
    }
}
