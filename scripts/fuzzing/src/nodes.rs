//! Node lists: map files and sources.

use cluster::membership::{NODES_MAX, Source, map_file};

/// The map gets a valid checksum.
pub(crate) fn nodes(data: &[u8]) {
    if let Ok(text) = str::from_utf8(data)
        && let Ok(Source::Static(members)) = text.parse()
    {
        assert!(members.iter().all(|member| member.check().is_ok()));
    }
    let _ = map_file::decode(data, "s");
    let mut file = format!("trawl nodes 1 {}\n", blake3::hash(data)).into_bytes();
    file.extend_from_slice(data);
    if let Ok(members) = map_file::decode(&file, "s") {
        assert!(members.len() <= NODES_MAX);
        assert!(members.iter().all(|member| member.check().is_ok()));
    }
}

pub(crate) fn node_seeds() -> Vec<Vec<u8>> {
    let seeds = [
        r#"{"source":"s","nodes":[{"node":"b1","address":"[::1]:28082","zone":"east","weight":2,"draining":true}]}"#,
        r#"{"source":"s","nodes":[{"node":"a","address":"a.example:1"},{"node":"b","address":"b:65535"}]}"#,
        "static:b1=10.0.0.1:28082/zone=east/weight=2,[2001:db8::1]:28082",
        "dns:_trawl._tcp.example.org:28082?server=10.0.0.53:53",
        "etcd:https://a:2379,http://[::1]:2379/prefix",
        "trawl nodes 1 00\n{}",
    ];
    seeds.map(|seed| seed.into()).into()
}
