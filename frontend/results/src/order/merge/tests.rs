use super::*;
use crate::order::pointer::{Origin, sort};
use proptest::prelude::*;
use schema::order::{RankKey, path_hash, rank};

impl From<Collision> for String {
    fn from(Collision: Collision) -> String {
        "collision".to_owned()
    }
}

impl Sorted<String> for std::vec::IntoIter<Pointer> {
    fn next(&mut self) -> Result<Option<Pointer>, String> {
        Ok(Iterator::next(self))
    }
}

#[derive(Clone, Debug)]
struct Match {
    rank: f32,
    document: DocumentName,
    line: u32,
}

fn pointers(matches: &[Match], streams: u16, hash: impl Fn(&DocumentName) -> u64) -> Vec<Pointer> {
    let pointer = |(index, each): (u32, &Match)| {
        let origin = Origin {
            hash: hash(&each.document),
            package: 0,
            stream: index as u16 % streams,
            offset: u64::from(index) * 8,
        };
        origin.pointer(each.rank, each.line, 0)
    };
    (0..).zip(matches).map(pointer).collect()
}

fn merged(
    pointers: &[Pointer],
    sources: usize,
    continued: &[Continued],
    document: impl FnMut(FrameAt) -> Result<DocumentName, String>,
) -> Result<Vec<Pointer>, String> {
    let piece = pointers.len().div_ceil(sources).max(1);
    let sources: Vec<_> = pointers
        .chunks(piece)
        .map(|chunk| {
            let mut chunk = chunk.to_vec();
            sort(&mut chunk);
            chunk.into_iter()
        })
        .collect();
    let mut out = Vec::new();
    merge(sources, continued, document, |pointer| {
        out.push(pointer);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(out)
}

fn continued(streams: u16) -> Vec<Continued> {
    (0..streams).map(|_| Continued::default()).collect()
}

fn matches() -> impl Strategy<Value = Vec<Match>> {
    let document = ("[ab]", "[abc]").prop_map(|(package, path)| (package.into(), path.into()));
    let rank = prop::sample::select(vec![1.0, rank(1.0, 0.5), rank(1.5, 1.0), 1.5, 0.0]);
    let one = (rank, document, 1_u32..4).prop_map(|(rank, document, line)| Match {
        rank,
        document,
        line,
    });
    prop::collection::vec(one, 0..40)
}

proptest! {
    #[test]
    fn the_order_depends_on_the_matches_alone(
        all in matches(), seed in any::<u64>(), streams in 1_u16..4, sources in 1_usize..9,
        collide in any::<bool>()
    ) {
        let hash = |document: &DocumentName| {
            if collide { 7 } else { path_hash(&document.0, &document.1) }
        };
        let mut expected = all.clone();
        expected.sort_by(|a, b| {
            let (key, other) = (RankKey::of(a.rank), RankKey::of(b.rank));
            (key.score.cmp(&other.score))
                .then_with(|| hash(&a.document).cmp(&hash(&b.document)))
                .then_with(|| a.document.cmp(&b.document))
                .then_with(|| key.place.cmp(&other.place))
                .then_with(|| a.line.cmp(&b.line))
        });
        let expected: Vec<_> = expected.iter().map(|each| format!("{each:?}")).collect();
        let mut shuffled = all;
        let length = shuffled.len().max(1);
        let mut state = seed;
        for at in 0..shuffled.len() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            shuffled.swap(at, (state >> 33) as usize % length);
        }
        let name = |(_, offset): FrameAt| Ok(shuffled[offset as usize / 8].document.clone());
        let pointers = pointers(&shuffled, streams, hash);
        let found = merged(&pointers, sources, &continued(streams), name).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|pointer| format!("{:?}", shuffled[pointer.offset() as usize / 8]))
            .collect();
        prop_assert_eq!(found, expected);
    }
}

/// `count` pointers of equal rank and hash, one per frame, ten frames per document.
fn ties(count: u32) -> (Vec<Pointer>, Continued) {
    let mut continued = Continued::default();
    let pointer = |index: u32| {
        let offset = u64::from(index) * 8;
        let first = offset / 80 * 80;
        if offset != first {
            continued.push(offset, first);
        }
        let origin = Origin {
            hash: 7,
            package: 0,
            stream: 0,
            offset,
        };
        origin.pointer(1.0, index, 0)
    };
    ((0..count).map(pointer).collect(), continued)
}

#[test]
fn documents_are_read_only_where_they_share_a_hash() {
    // Ten documents with hashes of their own, each in ten frames.
    let (all, continued) = ties(100);
    let apart = |pointer: &Pointer| Pointer {
        key: [
            pointer.key[0],
            (pointer.offset() / 80) << 48 | pointer.key[1] & 0xff,
        ],
        ..*pointer
    };
    let all: Vec<_> = all.iter().map(apart).collect();
    let unread = |_| Err("must not be read".to_owned());
    assert_eq!(merged(&all, 3, &[continued], unread).unwrap().len(), 100);
}

#[test]
fn a_document_may_have_any_number_of_matches_of_one_rank() {
    let count = 3 * GROUP_LEN_MAX as u32 + 5;
    let (all, _) = ties(count);
    let one = |_| Ok((b"p".to_vec(), b"d".to_vec()));
    let found = merged(&all, 7, &continued(1), one).unwrap();
    assert!(found.iter().map(Pointer::line).eq(0..count));
    let other = |(_, offset)| Ok((b"p".to_vec(), vec![(offset / 80 % 2) as u8]));
    let error = merged(&all, 7, &continued(1), other);
    assert_eq!(error.unwrap_err(), "collision");
}

#[test]
fn a_merge_ends_when_nobody_wants_more() {
    let (all, continued) = ties(10);
    let mut left = 4;
    merge(
        vec![all.into_iter()],
        &[continued],
        |_| Err("must not be read".to_owned()),
        |_| {
            left -= 1;
            Ok(match left {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            })
        },
    )
    .unwrap();
    assert_eq!(left, 0);
    let nothing: Vec<std::vec::IntoIter<Pointer>> = Vec::new();
    merge(nothing, &[], |_| Err(String::new()), |_| Err(String::new())).unwrap();
}
