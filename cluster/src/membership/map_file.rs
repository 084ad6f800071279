//! Map of nodes on disk, used until the source answers.
//!
//! ```text
//! trawl nodes 1 <BLAKE3 of the rest, in hexadecimal>
//! {"source":"etcd:http://127.0.0.1:2379/trawl","nodes":[{"node":"b1","address":"10.0.0.1:28082",…}]}
//! ```
//!
//! Replaced atomically. Damaged, later or foreign files are ignored: the map is only a hint.

use super::{Member, NODES_MAX};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

const HEADER: &str = "trawl nodes ";
const VERSION: &str = "1";

/// Bytes of a file: beyond the longest map.
const BYTES_MAX: u64 = 1 << 20;

#[derive(Serialize, Deserialize)]
struct Content {
    source: String,
    nodes: Vec<Member>,
}

/// Reads the map of a source; empty without a file. Errors are reasons to ignore it.
pub fn read(path: &Path, source: &str) -> Result<Vec<Member>, String> {
    let mut bytes = Vec::new();
    let opened = File::open(path);
    match opened.and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes)) {
        Ok(_) => decode(&bytes, source),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(_) => Err("it cannot be read".to_owned()),
    }
}

pub fn write(path: &Path, source: &str, nodes: &[Member]) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = File::create(&new)?;
    file.write_all(&encode(source, nodes))?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}

fn encode(source: &str, nodes: &[Member]) -> Vec<u8> {
    let content = Content {
        source: source.to_owned(),
        nodes: nodes.to_vec(),
    };
    let content = serde_json::to_string(&content).expect("strings and numbers");
    let hash = blake3::hash(content.as_bytes());
    format!("{HEADER}{VERSION} {hash}\n{content}").into_bytes()
}

pub fn decode(bytes: &[u8], source: &str) -> Result<Vec<Member>, String> {
    let damaged = |reason: &str| format!("it is damaged: {reason}");
    if bytes.len() as u64 > BYTES_MAX {
        return Err(damaged("it is too long"));
    }
    let text = str::from_utf8(bytes).map_err(|_| damaged("it is not text"))?;
    let rest = text.strip_prefix(HEADER);
    let rest = rest.ok_or_else(|| damaged("its first line is another"))?;
    let short = || damaged("it is too short");
    let (version, rest) = rest.split_once(' ').ok_or_else(short)?;
    if version != VERSION {
        let shown: String = version.chars().take(20).collect();
        return Err(format!(
            "it has version {shown}, this program reads {VERSION}"
        ));
    }
    let (hash, content) = rest.split_once('\n').ok_or_else(short)?;
    if *hash != *blake3::hash(content.as_bytes()).to_hex() {
        return Err(damaged("its checksum differs"));
    }
    let content: Content =
        serde_json::from_str(content).map_err(|_| damaged("it is not a list of nodes"))?;
    if content.source != source {
        return Err(format!("it is of {}", content.source));
    }
    let is_fine = |member: &Member| member.check().is_ok();
    if content.nodes.len() > NODES_MAX || !content.nodes.iter().all(is_fine) {
        return Err(damaged("its nodes are malformed"));
    }
    Ok(content.nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes() -> Vec<Member> {
        let other = Member {
            name: "b2".to_owned(),
            zone: "east".to_owned(),
            weight: 3,
            draining: true,
            ..Member::at("10.0.0.2:28082")
        };
        vec![Member::at("10.0.0.1:28082"), other]
    }

    #[test]
    fn a_map_is_read_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("nodes");
        assert_eq!(read(&path, "s").unwrap(), []);
        write(&path, "s", &[]).unwrap();
        write(&path, "s", &nodes()).unwrap();
        assert_eq!(read(&path, "s").unwrap(), nodes());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        assert_eq!(read(&path, "t").unwrap_err(), "it is of s");
    }

    #[test]
    fn every_damage_is_noticed() {
        let whole = encode("s", &nodes());
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            assert!(decode(&damaged, "s").is_err(), "byte {at}");
            assert!(decode(&whole[..at], "s").is_err(), "{at} bytes");
        }
        assert!(decode(&vec![b' '; BYTES_MAX as usize + 1], "s").is_err());
        let text = String::from_utf8(whole).unwrap();
        let later = text.replacen("nodes 1", "nodes 2", 1);
        let error = decode(later.as_bytes(), "s").unwrap_err();
        assert_eq!(error, "it has version 2, this program reads 1");
    }
}
