//! Computes the owners of many shards.
//!
//! usage: cargo bench -p cluster --bench placement -- [SHARDS NODES]
//!
//! Prints milliseconds, and the share moved by a fifth node. Small without numbers (`cargo test`).

use cluster::placement::{Node, Placement};
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
        let began = Instant::now();
        let placement = Placement::new((0..node_count).map(node), 2);
        let owners: usize = shards(shard_count)
            .map(|shard| placement.owners(&shard).len())
            .sum();
        assert_eq!(owners, 2 * shard_count);
        println!(
            "{what}: {shard_count} shards on {node_count} nodes: {:.1} ms",
            began.elapsed().as_secs_f64() * 1e3
        );
    }
    fifth(shard_count);
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
    let (before, after) = (Placement::new(nodes(4), 2), Placement::new(nodes(5), 2));
    let moved: usize = shards(shard_count)
        .map(|shard| {
            let (old, new) = (before.owners(&shard), after.owners(&shard));
            new.iter().filter(|node| !old.contains(node)).count()
        })
        .sum();
    let share = 100.0 * moved as f64 / (2 * shard_count) as f64;
    println!("a fifth node moves {share:.1} % of the bytes");
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
