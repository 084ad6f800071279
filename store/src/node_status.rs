//! Status objects of nodes, read by operators, and by other nodes before they drop shards. Each
//! node writes its own object, so no consensus is needed.

use crate::error::StoreError;
use crate::objects::Objects;
use std::time::SystemTime;

const NODES: &str = "nodes";

const TITLE: &str = "trawl-node 1";

/// Bound of listed nodes.
pub const NODES_MAX: usize = 10_000;

/// Node status.
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

    /// Parses arbitrary bytes.
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

    /// Writes the status of `node`.
    pub fn report(&self, objects: &Objects, node: &str) -> Result<(), StoreError> {
        objects.write(&object(NODES, node), &self.render())
    }

    /// Status and time of a node, if any.
    pub fn of(
        objects: &Objects,
        node: &str,
    ) -> Result<Option<(NodeStatus, SystemTime)>, StoreError> {
        let name = object(NODES, node);
        let (Some((text, _)), Some(found)) = (objects.read(&name)?, objects.head(&name)?) else {
            return Ok(None);
        };
        Ok(NodeStatus::parse(&text).map(|status| (status, found.modified)))
    }

    /// Nodes, and the times of their statuses by the store's clock.
    pub fn nodes(objects: &Objects) -> Result<Vec<(String, SystemTime)>, StoreError> {
        let listed = objects.list(NODES)?;
        let named = listed.iter().filter_map(|object| {
            let name = object.name.strip_prefix(NODES)?.strip_prefix('/')?;
            Some((unescape(name)?, object.modified))
        });
        Ok(named.take(NODES_MAX).collect())
    }
}

pub(crate) fn object(below: &str, node: &str) -> String {
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
}
