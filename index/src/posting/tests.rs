use super::bits::Forward;
use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::slice;

fn padded(ids: &[u32], universe: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(ids, universe, &mut bytes);
    assert_eq!(
        list_size(&bytes, universe),
        Some((ids.len() as u32, bytes.len()))
    );
    bytes.extend([0xff; PADDING_BYTES]);
    bytes
}

fn ids_and_universe() -> impl Strategy<Value = (Vec<u32>, u32)> {
    (1_u32..5000, 0_u32..400).prop_flat_map(|(universe, n)| {
        let ids = proptest::collection::btree_set(0..universe, 1..=(n.min(universe) as usize + 1));
        (
            ids.prop_map(|ids: BTreeSet<u32>| ids.into_iter().collect()),
            Just(universe),
        )
    })
}

fn near_ids_and_universe() -> impl Strategy<Value = (Vec<u32>, u32)> {
    let gap = prop_oneof![6 => 0_u32..3, 2 => 0_u32..40, 1 => 0_u32..3000, 1 => 0_u32..100_000];
    let gaps = proptest::collection::vec(gap, 1..1100);
    (gaps, 1_u32..2000).prop_map(|(gaps, rest)| {
        let mut next = 0;
        let ids = gaps.into_iter().map(|gap| {
            next += gap + 1;
            next - 1
        });
        let ids: Vec<u32> = ids.collect();
        (ids, next + rest)
    })
}

fn lists() -> impl Strategy<Value = (Vec<u32>, u32)> {
    prop_oneof![ids_and_universe(), near_ids_and_universe()]
}

fn cursor(bytes: &[u8], universe: u32) -> Option<Cursor<'_>> {
    match Codec::EliasFano.decode(bytes, universe)? {
        PostingList::EliasFano(cursor) => Some(cursor),
        _ => None,
    }
}

#[test]
fn encodes_the_example_of_the_docs() {
    let mut bytes = Vec::new();
    encode(&[2, 3, 9], 12, &mut bytes);
    assert_eq!(bytes, [0x03, 0x1e, 0x13]);
}

#[test]
fn gaps_are_coded_as_in_the_docs() {
    let mut codes = Vec::new();
    gaps::encode_codes(&[2, 3, 9], 2, &mut codes);
    assert_eq!(codes, [0x4e, 0x01]);
}

#[test]
fn lists_of_near_ids_are_gaps() {
    let universe = 100_000;
    let near = |n: u32| (0..n).map(|id| id / 8 * 64 + id % 8).collect::<Vec<_>>();
    for (n, codec) in [
        (15, Codec::EliasFano),
        (16, Codec::Gaps),
        (1023, Codec::Gaps),
        (1024, Codec::EliasFano),
    ] {
        let ids = near(n);
        let bytes = padded(&ids, universe);
        let list = PostingList::decode(&bytes, universe).unwrap();
        assert_eq!((list.codec(), list.len()), (Some(codec), n));
        assert_eq!(list.within(slice::from_ref(&(0..universe))), ids);
    }
    let far: Vec<u32> = (0..100).map(|id| id * 1000).collect();
    assert_eq!(encode(&far, universe, &mut Vec::new()), Codec::EliasFano);
}

#[test]
fn gaps_of_any_size_are_decoded_or_not_encoded() {
    for last in [20, 1 << 28, (1 << 29) + 14, (1 << 29) + 15, u32::MAX - 1] {
        let ids: Vec<u32> = (0..16).chain([last]).collect();
        let is_coded = last <= (1 << 29) + 14;
        assert_eq!(gaps::code_bytes(&ids).is_some(), is_coded, "{last}");
        let bytes = padded(&ids, u32::MAX);
        let list = PostingList::decode(&bytes, u32::MAX).unwrap();
        assert_eq!(list.within(slice::from_ref(&(0..u32::MAX))), ids);
    }
}

#[test]
fn malformed_lists_of_gaps_are_refused() {
    let ids: Vec<u32> = (0..100).collect();
    let bytes = padded(&ids, 50_000);
    assert_eq!(bytes[..3], [0, 100, 13]);
    let check = |change: &[(usize, u8)], length: usize| {
        let mut bytes = bytes.clone();
        change.iter().for_each(|&(at, byte)| bytes[at] = byte);
        bytes.truncate(length);
        PostingList::decode(&bytes, 50_000).is_some()
    };
    assert!(check(&[], bytes.len()));
    assert!(!check(&[], bytes.len() - 1), "cut");
    assert!(!check(&[], 1));
    assert!(!check(&[], 2));
    assert!(!check(&[(1, 15)], bytes.len()), "too few ids");
    assert!(!check(&[(1, 0xff), (2, 0x7f)], bytes.len()), "too many");
    assert!(!check(&[(2, 14)], bytes.len()), "longer codes");
    assert!(
        PostingList::decode(&bytes, 99).is_none(),
        "a small universe"
    );
    assert_eq!(list_size(&[0, 16, 0x81, 0x01], 50), None, "long codes");
    assert_eq!(list_size(&[0, 16, 0x80, 0x01], 50), Some((16, 132)));
    assert_eq!(list_size(&[0], 50), None);
    assert_eq!(list_size(&[], 50), None);
}

#[test]
fn common_trigrams_are_bitmaps_and_rare_ones_are_not() {
    let ids: Vec<u32> = (0..3000).step_by(2).collect();
    let bytes = padded(&ids, 3000);
    assert!(matches!(
        PostingList::decode(&bytes, 3000),
        Some(PostingList::Bitmap { .. })
    ));
    let bytes = padded(&[17, 2000, 2999], 3000);
    assert!(matches!(
        PostingList::decode(&bytes, 3000),
        Some(PostingList::EliasFano { .. })
    ));
}

/// Regression: one bits between the last zero and the end of its word were skipped.
#[test]
fn seek_stops_behind_the_last_zero_of_a_word() {
    let ids: Vec<u32> = (0..141).step_by(5).collect();
    let bytes = padded(&ids, 141);
    let mut list = cursor(&bytes, 141).unwrap();
    assert_eq!((list.seek(133), list.seek(140)), (Some(135), Some(140)));
}

fn check_seek(
    mut list: impl Forward,
    ids: &[u32],
    targets: impl IntoIterator<Item = u32>,
) -> Result<(), TestCaseError> {
    let mut rest = ids;
    for target in targets {
        let passed = rest.partition_point(|&id| id < target);
        rest = &rest[passed..];
        prop_assert_eq!(list.seek(target), rest.first().copied(), "seek {}", target);
        rest = rest.get(1..).unwrap_or(&[]);
    }
    Ok(())
}

proptest! {
    #[test]
    fn decodes_what_was_encoded((ids, universe) in lists()) {
        let bytes = padded(&ids, universe);
        let list = PostingList::decode(&bytes, universe).unwrap();
        prop_assert_eq!(list.len() as usize, ids.len());
        prop_assert_eq!(list.bytes() + PADDING_BYTES, bytes.len());
        prop_assert_eq!(list.within(slice::from_ref(&(0..universe))), ids);
    }

    #[test]
    fn seek_equals_a_scan(
        (ids, universe) in lists(),
        targets in proptest::collection::btree_set(0_u32..5000, 0..50),
    ) {
        let mut bytes = Vec::new();
        Codec::EliasFano.encode(&ids, universe, &mut bytes);
        bytes.extend([0xff; PADDING_BYTES]);
        check_seek(cursor(&bytes, universe).unwrap(), &ids, targets)?;
    }

    #[test]
    fn seek_among_gaps_equals_a_scan(
        (ids, _) in near_ids_and_universe(),
        targets in proptest::collection::btree_set(0_u32..50_000, 0..50),
    ) {
        let mut bytes = Vec::new();
        // Eight bytes suffice for any code.
        gaps::encode_codes(&ids, 8 * ids.len(), &mut bytes);
        bytes.extend([0xff; PADDING_BYTES]);
        check_seek(GapCursor::new(ids.len() as u32, &bytes), &ids, targets)?;
    }

    #[test]
    fn intersections_and_unions_equal_those_of_sets(
        (a, universe) in lists(),
        b in proptest::collection::btree_set(0_u32..5000, 1..300),
        shared in any::<u8>(),
    ) {
        // Some ids in both.
        let shared = a.iter().copied().step_by(usize::from(shared) + 1);
        let b: Vec<u32> = b.into_iter().filter(|&id| id < universe).chain([universe - 1]).chain(shared)
            .collect::<BTreeSet<_>>().into_iter().collect();
        let (bytes_a, bytes_b) = (padded(&a, universe), padded(&b, universe));
        let list_a = PostingList::decode(&bytes_a, universe).unwrap();
        let list_b = PostingList::decode(&bytes_b, universe).unwrap();
        let (set_a, set_b) =
            (BTreeSet::from_iter(a.iter().copied()), BTreeSet::from_iter(b.iter().copied()));
        let mut both = a.clone();
        intersect(&mut both, &list_b);
        prop_assert_eq!(both, set_a.intersection(&set_b).copied().collect::<Vec<_>>());
        let mut few: Vec<u32> = b.iter().copied().step_by(set_ops::SEEK_RATIO as usize * 2).collect();
        let expected: Vec<u32> = few.iter().copied().filter(|id| set_a.contains(id)).collect();
        intersect(&mut few, &list_a);
        prop_assert_eq!(few, expected);
        let either = unite(&[list_a, list_b, PostingList::One(0)], universe, slice::from_ref(&(0..universe)), &|| false);
        let mut expected: BTreeSet<u32> = set_a.union(&set_b).copied().collect();
        expected.insert(0);
        prop_assert_eq!(either, expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn within_returns_the_ids_inside_the_ranges(
        (ids, universe) in lists(),
        ends in proptest::collection::btree_set(0_u32..5000, 0..20),
    ) {
        let bytes = padded(&ids, universe);
        let list = PostingList::decode(&bytes, universe).unwrap();
        let ends: Vec<u32> = ends.into_iter().collect();
        let ranges: Vec<_> = ends.chunks_exact(2).map(|ends| ends[0]..ends[1]).collect();
        let is_inside = |id: &u32| ranges.iter().any(|range| range.contains(id));
        let expected: Vec<u32> = ids.iter().copied().filter(is_inside).collect();
        prop_assert_eq!(list.within(&ranges), &expected[..]);
        prop_assert_eq!(unite(&[list], universe, &ranges, &|| false), expected);
    }

    #[test]
    fn decoding_random_bytes_never_panics(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        universe in 0_u32..3000,
        target in any::<u32>(),
    ) {
        if let Some(list) = PostingList::decode(&bytes, universe) {
            let _ = list.within(slice::from_ref(&(0..u32::MAX)));
            let _ = list.within(&[0..0, target / 2..target]);
            intersect(&mut vec![target], &list);
            intersect(&mut list.within(slice::from_ref(&(0..universe))), &list);
            let mut ids: Vec<u32> = bytes.iter().map(|&byte| u32::from(byte)).collect();
            intersect(&mut ids, &list);
        }
        if let Some(mut list) = cursor(&bytes, universe) {
            let _ = list.seek(target);
        }
    }

    #[test]
    fn decoding_random_gaps_never_panics(
        codes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0)], 0..200),
        n in 0_u8..=255,
        universe in prop_oneof![0_u32..3000, any::<u32>()],
        target in any::<u32>(),
        length in 0_u8..=255,
    ) {
        let mut bytes = vec![0, n, length & 0x7f];
        bytes.extend(codes);
        if let Some(list) = PostingList::decode(&bytes, universe) {
            prop_assert!(list.len() <= universe);
            let (all, any) = (0..universe, 0..u32::MAX);
            for ranges in [slice::from_ref(&all), &[0..0, target / 2..target], slice::from_ref(&any)] {
                let ids = list.within(ranges);
                prop_assert!(ids.is_sorted() && ids.len() <= list.len() as usize);
                prop_assert!(ids.iter().all(|id| ranges.iter().any(|range| range.contains(id))));
            }
            let mut few = vec![target / 2, target];
            intersect(&mut few, &list);
            intersect(&mut list.within(slice::from_ref(&(0..universe))), &list);
            unite(&[list, list], universe, slice::from_ref(&(0..universe)), &|| false);
        }
    }
}
