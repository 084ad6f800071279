//! Which shards each node serves, as it says in the store. Operators see from it which shards have too few replicas, also while
//! shards move and the nodes know different lists of nodes. No node relies on it.

use crate::error::StoreError;
use crate::node_status;
use crate::objects::Objects;
use std::collections::HashSet;
use std::fmt::Write;

/// Where the objects are.
const SERVED: &str = "served";

/// The first line of such an object.
const TITLE: &str = "trawl-served 1";

/// Shards that are listed, at most; ten times as many as a large cluster has.
const SHARDS_MAX: usize = 1_000_000;

/// The shards of a node, by the first eight bytes of their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedShards(HashSet<u64>);

impl ServedShards {
    /// Makes a set of shards.
    pub fn new(ids: impl IntoIterator<Item = [u8; 32]>) -> ServedShards {
        ServedShards(ids.into_iter().map(|id| short(&id)).collect())
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a shard is one of them.
    pub fn contains(&self, id: &[u8; 32]) -> bool {
        self.0.contains(&short(id))
    }

    /// Parses what a node has said, which may be any bytes.
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

    /// Writes what the node of this name serves.
    pub fn report(&self, objects: &Objects, node: &str) -> Result<(), StoreError> {
        let text = self.render();
        let name = node_status::object(SERVED, node);
        objects.upload(&name, &mut text.as_bytes(), text.len() as u64)
    }

    /// Reads what a node serves; `None` if it has not said so.
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
