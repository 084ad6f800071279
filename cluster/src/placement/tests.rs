use super::*;
use proptest::prelude::*;

fn shards(count: u32) -> impl Iterator<Item = [u8; 32]> {
    (0..count).map(|number| *blake3::hash(&number.to_le_bytes()).as_bytes())
}

fn node(name: usize, zone: usize, weight: u32) -> Node {
    Node {
        name: format!("node-{name}"),
        zone: format!("zone-{zone}"),
        weight,
    }
}

fn zone_and_weight() -> impl Strategy<Value = (usize, u32)> {
    let weight = prop_oneof![4 => Just(1_u32), 1 => Just(0), 2 => 1..5_u32, 1 => any::<u32>()];
    (0..3_usize, weight)
}

/// Nodes with gaps in their names.
fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let one = prop::option::weighted(0.8, zone_and_weight());
    prop::collection::vec(one, 0..12).prop_map(|all| {
        let all = all.into_iter().enumerate();
        all.filter_map(|(name, it)| it.map(|(zone, weight)| node(name, zone, weight)))
            .collect()
    })
}

fn names(owners: &[&Node]) -> Vec<String> {
    owners.iter().map(|node| node.name.clone()).collect()
}

fn score(shard: &[u8; 32], node: &Node) -> f64 {
    let uniform = uniform(mix(hash(shard), hash(node.name.as_bytes())));
    -f64::from(node.weight) / libm::log(uniform)
}

/// All scores sorted, one node per zone, then the rest.
fn naive(nodes: &[Node], replicas: usize, shard: &[u8; 32]) -> Vec<String> {
    let weighted = nodes.iter().filter(|node| node.weight > 0);
    let mut all: Vec<(f64, &Node)> = weighted.map(|node| (score(shard, node), node)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.name.cmp(&b.1.name)));
    let mut zones = Vec::new();
    let (first, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, node)| {
        let is_new = !zones.contains(&&node.zone);
        zones.push(&node.zone);
        is_new
    });
    let mut chosen: Vec<_> = first.into_iter().chain(rest).take(replicas).collect();
    chosen.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.name.cmp(&b.1.name)));
    let chosen = chosen.into_iter();
    chosen.map(|(_, node)| node.name.clone()).collect()
}

proptest! {
    #[test]
    fn shards_belong_to_the_best_nodes_of_different_zones(nodes in nodes(), replicas in 1..4_usize) {
        let placement = Placement::new(nodes.clone(), replicas);
        let mut reversed = nodes.clone();
        reversed.reverse();
        let same = Placement::new(reversed, replicas);
        for shard in shards(20) {
            let owners = names(&placement.owners(&shard));
            prop_assert_eq!(&owners, &naive(&nodes, replicas, &shard));
            prop_assert_eq!(&owners, &names(&same.owners(&shard)));
        }
    }

    #[test]
    fn a_node_that_joins_takes_shards_and_moves_no_others(nodes in nodes(), replicas in 1..4_usize, zone in 0..3_usize) {
        let before = Placement::new(nodes.clone(), replicas);
        let joined = node(99, zone, 1);
        let after = Placement::new(nodes.into_iter().chain([joined.clone()]), replicas);
        for shard in shards(20) {
            let (before, after) = (names(&before.owners(&shard)), names(&after.owners(&shard)));
            let new: Vec<_> = after.iter().filter(|name| !before.contains(name)).collect();
            prop_assert!(new.is_empty() || new == [&joined.name]);
        }
    }
}

#[test]
fn nodes_get_shards_in_proportion_to_their_weights() {
    let weights = [1, 1, 2, 4];
    let nodes = (0..).zip(weights);
    let placement = Placement::new(nodes.map(|(name, weight)| node(name, name, weight)), 1);
    let mut counts = [0_u32; 4];
    for shard in shards(40_000) {
        let owner = placement.owners(&shard)[0];
        counts[owner.name["node-".len()..].parse::<usize>().unwrap()] += 1;
    }
    for (count, weight) in counts.into_iter().zip(weights) {
        let expected = 5_000 * weight;
        assert!(count.abs_diff(expected) < expected / 20, "{counts:?}");
    }
}

/// Random sizes, one or two zones.
#[test]
fn a_fifth_node_moves_at_most_a_quarter_of_the_bytes() {
    for zones in [1, 2] {
        let nodes = |count| (0..count).map(move |name| node(name, name % zones, 1));
        let before = Placement::new(nodes(4), 2);
        let after = Placement::new(nodes(5), 2);
        let (mut moved, mut all) = (0, 0);
        for shard in shards(20_000) {
            let bytes = u64::from(shard[0]) + 1;
            let old = before.owners(&shard);
            all += 2 * bytes;
            let new = after.owners(&shard).into_iter();
            moved += bytes * new.filter(|node| !old.contains(node)).count() as u64;
        }
        assert!(moved * 4 <= all, "{zones} zones: {moved} of {all} bytes");
        assert!(moved * 8 >= all, "{zones} zones: {moved} of {all} bytes");
    }
}

#[test]
fn the_largest_and_the_smallest_mix_have_finite_scores() {
    for mixed in [0, u64::MAX] {
        let uniform = uniform(mixed);
        assert!(0.0 < uniform && uniform < 1.0, "{uniform}");
        assert!((-1.0 / libm::log(uniform)).is_finite());
    }
}
