//! Small store objects.

use crate::shards::{MANIFEST_1, correct_manifest};
use index::manifest::Manifest;
use std::collections::BTreeSet;
use store::{Generation, Head, NodeStatus, ServedShards};

const BEFORE_MANIFEST: &[u8] = b"\nindex\n";

/// Corrects a manifest checksum first.
pub(crate) fn objects(data: &[u8]) {
    let _ = Head::parse("HEAD", data);
    let _ = NodeStatus::parse(data);
    let _ = ServedShards::parse(data);
    let mut text = data.to_vec();
    if let Some(at) = data
        .windows(BEFORE_MANIFEST.len())
        .position(|it| it == BEFORE_MANIFEST)
    {
        let mut manifest = text.split_off(at + BEFORE_MANIFEST.len());
        correct_manifest(&mut manifest);
        text.append(&mut manifest);
    }
    if let Ok(generation) = Generation::parse("generation", &text) {
        // Names of files in a backend's directory.
        let is_plain = |name: &String| !name.contains('/') && !name.starts_with('.');
        assert!(generation.files.keys().all(is_plain));
    }
}

pub(crate) fn object_seeds() -> Vec<Vec<u8>> {
    let hash = "91d0fedcba987654".repeat(4);
    let store = "0123456789abcdef".repeat(2);
    let head = format!("trawl-store 1 {store}\n{:020}-{hash}\n", 17);
    let status = "trawl-node 1\ngeneration 7\nmap abc\nshards 3\nbytes 1000\nfetching 0\n";
    let manifest = Manifest::parse(MANIFEST_1).expect("it is valid");
    let names: BTreeSet<&str> = manifest.files().collect();
    let files = names
        .iter()
        .map(|name| format!("file {hash} 1048576 {name}\n"));
    let generation = format!(
        "trawl-generation 1\nstore {store}\nnumber 17\nwritten 1769212345\nreplicas 2\n{}index\n{}",
        files.collect::<String>(),
        manifest.render()
    );
    assert!(Generation::parse("seed", generation.as_bytes()).is_ok());
    [head, status.to_owned(), generation]
        .map(String::into_bytes)
        .into()
}
