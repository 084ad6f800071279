//! Compares updates of a large placement with full computations.
//!
//! usage: cargo bench -p cluster --bench placement -- [SHARDS NODES]
//!
//! Prints milliseconds, and the share moved by a fifth node. Small without numbers (`cargo test`).

use cluster::placement::{Node, Placement, ShardMap};
use std::time::Instant;

fn main() {
    let arguments = std::env::args().skip(1);
    let numbers: Vec<usize> = arguments
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let [shards, nodes] = numbers[..] else {
        return measure(500, 40);
    };
    measure(shards, nodes);
}

fn measure(shard_count: usize, node_count: usize) {
    for (what, weight) in [
        ("equal weights", 1),
        ("four weights", 4),
        ("all weights differ", usize::MAX),
    ] {
        let node = |number: usize| Node {
            name: format!("node-{number}"),
            zone: format!("zone-{}", number % 3),
            weight: 100 + (number % weight) as u32,
        };
        let nodes: Vec<Node> = (0..node_count).map(node).collect();
        let began = Instant::now();
        let mut map = ShardMap::new(Placement::new(nodes.clone(), 2), shards(shard_count));
        print(
            &format!("{what}: {shard_count} shards on {node_count} nodes"),
            began,
        );
        let middle = node_count / 2;
        let mut joined = nodes.clone();
        joined.push(node(node_count));
        change(&mut map, "  a node joins", &joined, shard_count);
        change(&mut map, "  it leaves", &nodes, shard_count);
        let mut heavier = nodes.clone();
        heavier[middle].weight += 100;
        change(
            &mut map,
            "  a node gets twice the weight",
            &heavier,
            shard_count,
        );
        change(&mut map, "  it gets half of that", &nodes, shard_count);
        let mut without = nodes.clone();
        without[middle].weight = 0;
        change(&mut map, "  it gets none", &without, shard_count);
    }
    fifth(shard_count);
}

fn change(map: &mut ShardMap, what: &str, nodes: &[Node], shard_count: usize) {
    let began = Instant::now();
    map.set_nodes(nodes.iter().cloned());
    print(what, began);
    let fresh = ShardMap::new(Placement::new(nodes.to_vec(), 2), shards(shard_count));
    let owners =
        |map: &ShardMap| -> Vec<usize> { map.iter().flat_map(|(_, owners)| owners).collect() };
    assert_eq!(
        owners(map),
        owners(&fresh),
        "the map is not the one from nothing"
    );
}

/// Share of equal shards that a fifth node moves.
fn fifth(shard_count: usize) {
    let nodes = |count: usize| {
        (0..count).map(|number| Node {
            name: format!("node-{number}"),
            zone: format!("zone-{}", number % 2),
            weight: 1,
        })
    };
    let mut map = ShardMap::new(Placement::new(nodes(4), 2), shards(shard_count));
    let before = map.clone();
    map.set_nodes(nodes(5));
    let after = map.iter().zip(before.iter());
    let moved: usize = after
        .map(|((_, new), (_, old))| {
            let old: Vec<usize> = old.collect();
            new.filter(|node| !old.contains(node)).count()
        })
        .sum();
    let share = 100.0 * moved as f64 / (2 * shard_count) as f64;
    println!("a fifth node moves {share:.1} % of the bytes");
}

fn print(what: &str, began: Instant) {
    println!("{what}: {:.1} ms", began.elapsed().as_secs_f64() * 1e3);
}

fn shards(count: usize) -> impl Iterator<Item = [u8; 32]> {
    (0..count).map(|number| {
        let mut id = [0; 32];
        // Pseudorandom, like shard ids.
        let mut state = number as u64;
        for part in id.chunks_exact_mut(8) {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            part.copy_from_slice(&(mixed ^ (mixed >> 27)).to_le_bytes());
        }
        id
    })
}
