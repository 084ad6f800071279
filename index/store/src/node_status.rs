//! Objects that each node writes about itself, so no consensus is needed. Its status is read by
//! operators, and by other nodes before they drop shards. Its served shards are for operators, who
//! find shards with too few replicas, also during moves; no node relies on them.

use crate::error::Result;
use crate::objects::Objects;
use std::collections::HashSet;
use std::fmt::Write;
use std::time::SystemTime;

const NODES: &str = "nodes";

const TITLE: &str = "trawl-node 1";

const SERVED: &str = "served";

const SERVED_TITLE: &str = "trawl-served 1";

/// Ten times as many as a large cluster has.
const SHARDS_MAX: usize = 1_000_000;

pub const NODES_MAX: usize = 10_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeStatus {
    pub generation: u64,
    /// Hash of nodes and replicas of the assignment.
    pub map: String,
    pub shards: u64,
    pub bytes: u64,
    /// Bytes left to download.
    pub fetching: u64,
    /// Bytes of the download.
    pub fetching_of: u64,
    /// Hash of the announced shards. Empty: an older version.
    pub announced: String,
}

impl NodeStatus {
    fn render(&self) -> String {
        format!(
            "{TITLE}\ngeneration {}\nmap {}\nshards {}\nbytes {}\nfetching {}\nfetching-of {}\nannounced {}\n",
            self.generation,
            self.map,
            self.shards,
            self.bytes,
            self.fetching,
            self.fetching_of,
            self.announced
        )
    }

    pub fn parse(text: &[u8]) -> Option<NodeStatus> {
        let mut lines = str::from_utf8(text).ok()?.lines();
        (lines.next()? == TITLE).then_some(())?;
        let mut status = NodeStatus::default();
        for line in lines {
            let (key, value) = line.split_once(' ')?;
            match key {
                "generation" => status.generation = value.parse().ok()?,
                "map" => status.map = value.to_owned(),
                "shards" => status.shards = value.parse().ok()?,
                "bytes" => status.bytes = value.parse().ok()?,
                "fetching" => status.fetching = value.parse().ok()?,
                "fetching-of" => status.fetching_of = value.parse().ok()?,
                "announced" => status.announced = value.to_owned(),
                // Later version.
                _ => {}
            }
        }
        Some(status)
    }

    pub fn report(&self, objects: &Objects, node: &str) -> Result<()> {
        objects.write(&object(NODES, node), &self.render())
    }

    pub fn of(objects: &Objects, node: &str) -> Result<Option<(NodeStatus, SystemTime)>> {
        let name = object(NODES, node);
        let (Some((text, _)), Some(found)) = (objects.read(&name)?, objects.head(&name)?) else {
            return Ok(None);
        };
        Ok(NodeStatus::parse(&text).map(|status| (status, found.modified)))
    }

    /// Nodes, and the times of their statuses by the store's clock.
    pub fn nodes(objects: &Objects) -> Result<Vec<(String, SystemTime)>> {
        let listed = objects.list(NODES)?;
        let named = listed.iter().filter_map(|object| {
            let (_, name) = object.name.rsplit_once('/')?;
            Some((unescape(name)?, object.modified))
        });
        Ok(named.take(NODES_MAX).collect())
    }
}

/// Shards of a node, by eight bytes of their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedShards(HashSet<u64>);

impl ServedShards {
    pub fn new(ids: impl IntoIterator<Item = [u8; 32]>) -> ServedShards {
        ServedShards(ids.into_iter().map(|id| short(&id)).collect())
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub fn contains(&self, id: &[u8; 32]) -> bool {
        self.0.contains(&short(id))
    }

    pub fn parse(text: &[u8]) -> Option<ServedShards> {
        let mut lines = str::from_utf8(text).ok()?.lines();
        (lines.next()? == SERVED_TITLE).then_some(())?;
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
        let mut text = format!("{SERVED_TITLE}\n");
        for id in sorted {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{id:016x}");
        }
        text
    }

    pub fn report(&self, objects: &Objects, node: &str) -> Result<()> {
        objects.write(&object(SERVED, node), &self.render())
    }

    pub fn of(objects: &Objects, node: &str) -> Result<Option<ServedShards>> {
        let read = objects.read(&object(SERVED, node))?;
        Ok(read.and_then(|(text, _)| ServedShards::parse(&text)))
    }
}

fn short(id: &[u8; 32]) -> u64 {
    let (first, _) = id.split_first_chunk().expect("an id has 32 bytes");
    u64::from_be_bytes(*first)
}

fn object(below: &str, node: &str) -> String {
    let mut name = String::new();
    for &byte in node.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-_".contains(&byte) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("={byte:02x}"));
        }
    }
    format!("{below}/{name}")
}

fn unescape(name: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        bytes.push(match byte {
            b'=' => u8::from_str_radix(str::from_utf8(rest.split_off(..2)?).ok()?, 16).ok()?,
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_read_as_it_was_reported_whatever_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let objects = Objects::open(directory.path().to_str().unwrap()).unwrap();
        let status = NodeStatus {
            generation: 7,
            map: "abc".to_owned(),
            shards: 3,
            bytes: 1000,
            fetching: 10,
            fetching_of: 40,
            announced: "0123456789abcdef".to_owned(),
        };
        for name in ["10.0.0.1:28082", "../../etc/passwd", "größe", "a=b"] {
            status.report(&objects, name).unwrap();
            let (read, _) = NodeStatus::of(&objects, name).unwrap().unwrap();
            assert_eq!(read, status);
        }
        let names = ["../../etc/passwd", "10.0.0.1:28082", "a=b", "größe"];
        let found = NodeStatus::nodes(&objects).unwrap().into_iter();
        let mut found: Vec<_> = found.map(|(name, _)| name).collect();
        found.sort();
        assert_eq!(found, names);
        assert_eq!(NodeStatus::of(&objects, "other").unwrap(), None);
        objects.swap("nodes/bad", None, b"\xff").unwrap();
        assert_eq!(NodeStatus::of(&objects, "bad").unwrap(), None);
    }

    #[test]
    fn shards_are_read_as_they_were_reported() {
        let directory = tempfile::tempdir().unwrap();
        let objects = Objects::open(directory.path().to_str().unwrap()).unwrap();
        assert_eq!(ServedShards::of(&objects, "a:1").unwrap(), None);
        for ids in [vec![], vec![[1; 32], [0xfe; 32]]] {
            let shards = ServedShards::new(ids.clone());
            shards.report(&objects, "a:1").unwrap();
            let read = ServedShards::of(&objects, "a:1").unwrap().unwrap();
            assert_eq!((&read, read.count()), (&shards, ids.len()));
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
