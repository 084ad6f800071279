//! Requests restricted to visible packages. Anything not listed is invisible.

use super::client::Client;
use super::list::{request, served};
use crate::found::Batch;
use schema::message::{
    FailureKind, FileRange, FileRequest, FileSource, ListKind, ListRequest, Search, VisibleShard,
};

/// Matches, counts, entries and files shown under a restriction.
async fn shown(client: &mut Client, visible: Option<Vec<VisibleShard>>) -> [u64; 3] {
    let shards = match &visible {
        Some(visible) => visible.iter().map(|each| each.shard).collect(),
        None => client.shards(),
    };
    let search = Search {
        shards,
        visible: visible.clone(),
        ..client.regexp("int")
    };
    client.ask_for(&search).await;
    let answer = client.answer().await;
    let matches = answer.batches.iter().flat_map(Batch::matches).count() as u64;
    let end = answer.end.unwrap();
    let counted: u64 = end.shards.iter().map(|it| it.found + it.candidates).sum();
    let list = ListRequest {
        visible: visible.clone(),
        ..request(ListKind::Packages, "", "")
    };
    let listed = client.list(&list).await.entries.len() as u64;
    let file = FileRequest {
        package: b"a_1.0".to_vec(),
        path: b"src/a.c".to_vec(),
        range: FileRange::Lines { first: 1, count: 9 },
        revision: String::new(),
        source: FileSource::Text,
        visible,
        definitions: false,
        inside: Vec::new(),
        symbol_line: 0,
        symbol_column: 0,
    };
    let is_read = client.ask_file(&file).await.unwrap().found;
    [matches + counted, listed, u64::from(is_read)]
}

#[tokio::test]
async fn an_empty_or_short_bitmap_shows_nothing() {
    let served = served();
    let (mut client, _serving) = served.connect().await;
    let shards = client.shards();
    let same = |packages: &[u8], is_all| {
        let visible = |&shard: &[u8; 32]| VisibleShard {
            shard,
            packages: packages.into(),
            is_all,
        };
        Some(shards.iter().map(visible).collect::<Vec<_>>())
    };
    let all = shown(&mut client, None).await;
    assert!(all.iter().all(|&shown| shown > 0), "{all:?}");
    assert_eq!(shown(&mut client, same(&[], true)).await, all);
    assert_eq!(shown(&mut client, same(&[0xff; 9], false)).await, all);
    for closed in [&[][..], &[0], &[0; 9]] {
        let none = shown(&mut client, same(closed, false)).await;
        assert_eq!(none, [0; 3], "{closed:?}");
    }
}

#[tokio::test]
async fn a_shard_that_is_not_listed_is_not_read() {
    let served = served();
    let (mut client, _serving) = served.connect().await;
    assert_eq!(shown(&mut client, Some(Vec::new())).await, [0; 3]);
    let all = shown(&mut client, None).await;
    let mut sum = [0; 3];
    for shard in client.shards() {
        let one = VisibleShard {
            shard,
            is_all: true,
            ..VisibleShard::default()
        };
        let of_one = shown(&mut client, Some(vec![one])).await;
        assert_ne!(of_one, all);
        (0..3).for_each(|at| sum[at] += of_one[at]);
    }
    assert_eq!(sum, all);
    // A search's own shards must be the same.
    for visible in [Vec::new(), vec![VisibleShard::default()]] {
        let search = Search {
            visible: Some(visible),
            ..client.regexp("int")
        };
        client.ask_for(&search).await;
        let failure = client.answer().await.end.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Protocol, "{failure:?}");
    }
}
