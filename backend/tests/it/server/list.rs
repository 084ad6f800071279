//! LIST: packages, some superseded, directories, and skipped files.

use super::client::Served;
use crate::corpus::write_package;
use crate::found::Batch;
use index::corpus::sources;
use index::indexing::{BuildOptions, Changes, Progress, update};
use schema::message::{Excluded, FailureKind, ListEntry, ListKind, ListRequest, Search};
use std::time::SystemTime;

/// Two packages, one in its second version, and one without searchable files.
pub(super) fn served() -> Served {
    let directory = tempfile::tempdir().unwrap();
    let write = |package: &str, files: &[(&str, &str)]| {
        let bytes = |&(path, text): &(&str, &str)| (path.as_bytes().to_vec(), text.into());
        let files: Vec<_> = files.iter().map(bytes).collect();
        write_package(&directory.path().join("source").join(package), &files);
    };
    let build = || {
        let source = directory.path().join("source");
        let sources = sources(&[source], true).unwrap();
        let options = BuildOptions::default();
        let changes = Changes {
            replace_versions: true,
            ..Changes::default()
        };
        let out = directory.path().join("out");
        update(sources, &changes, &out, &options, &Progress::default()).unwrap();
    };
    write("b_1", &[("old.c", "int old;\n")]);
    let a = [
        ("src/a.c", "int a;\n"),
        ("src/x/b.h", "int b;\nint c;\n"),
        ("src/x/c.py", "c = 1\n"),
        ("README", "read me\n"),
        ("src/pic.png", "\0\0"),
        (".git/HEAD", "ref"),
    ];
    write("a_1.0", &a);
    build();
    std::fs::remove_dir_all(directory.path().join("source/b_1")).unwrap();
    write("b_2", &[("new.c", "int new;\n")]);
    write("c-3.1", &[("blob", "\0")]);
    build();
    Served::over(directory, 4)
}

pub(super) fn request(kind: ListKind, package: &str, prefix: &str) -> ListRequest {
    ListRequest {
        kind,
        package: package.into(),
        prefix: prefix.into(),
        after: Vec::new(),
        count: 100,
        visible: None,
        revision: String::new(),
    }
}

fn line(entry: &ListEntry) -> String {
    let ListEntry {
        documents,
        text_bytes,
        lines,
        language,
        reason,
        ..
    } = entry;
    let (package, path) = (entry.package.escape_ascii(), entry.path.escape_ascii());
    format!("{package} {path} {documents} {text_bytes} {lines} {language} {reason}")
        .trim_end()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_are_listed_by_name() {
    let served = served();
    let (mut client, _serving) = served.connect().await;
    let table: [(ListRequest, &[&str]); 13] = [
        (
            request(ListKind::Packages, "", ""),
            &["a_1.0  4 35 5", "b_2  1 9 1", "c-3.1  0 0 0"],
        ),
        (request(ListKind::Packages, "", "b"), &["b_2  1 9 1"]),
        (request(ListKind::Packages, "", "b_1"), &[]),
        (request(ListKind::Packages, "c", ""), &["c-3.1  0 0 0"]),
        (request(ListKind::Packages, "b_1", ""), &[]),
        (
            request(ListKind::Children, "a_1.0", ""),
            &["a_1.0 README 1 8 1", "a_1.0 src/ 3 27 4"],
        ),
        (
            request(ListKind::Children, "a", "src/"),
            &["a_1.0 src/a.c 1 7 1 C", "a_1.0 src/x/ 2 20 3"],
        ),
        (
            request(ListKind::Children, "a", "src/x/"),
            &["a_1.0 src/x/b.h 1 14 2 C", "a_1.0 src/x/c.py 1 6 1 Python"],
        ),
        (request(ListKind::Children, "b_1", ""), &[]),
        (
            request(ListKind::Children, "a", "s"),
            &["a_1.0 src/ 3 27 4"],
        ),
        (
            request(ListKind::Skipped, "", ""),
            &[
                "a_1.0 .git 0 0 0  git",
                "a_1.0 src/pic.png 0 0 0  binary",
                "c-3.1 blob 0 0 0  binary",
            ],
        ),
        (
            request(ListKind::Skipped, "a", ".git/objects/pack"),
            &["a_1.0 .git 0 0 0  git"],
        ),
        (request(ListKind::Skipped, "a", "src/a.c"), &[]),
    ];
    for (request, expected) in table {
        let reply = client.list(&request).await;
        let lines: Vec<_> = reply.entries.iter().map(line).collect();
        assert_eq!(lines, expected, "{request:?}");
        assert!(!reply.more);
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
        let is_new = |entry: &ListEntry| (now - 100..=now).contains(&entry.indexed);
        assert!(reply.entries.iter().all(is_new), "{request:?}");
    }
    let file = client
        .list(&request(ListKind::Children, "a", "src/a.c"))
        .await;
    assert_eq!(file.entries[0].hash, blake3::hash(b"int a;\n").as_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn list_continues_after_its_last_name() {
    let served = served();
    let (mut client, _serving) = served.connect().await;
    for (whole, key) in [
        (request(ListKind::Packages, "", ""), 0),
        (request(ListKind::Children, "a", ""), 1),
        (request(ListKind::Skipped, "", ""), 2),
    ] {
        let expected = client.list(&whole).await.entries;
        let (mut found, mut after) = (Vec::new(), Vec::new());
        loop {
            let next = ListRequest {
                count: 1,
                after,
                ..whole.clone()
            };
            let reply = client.list(&next).await;
            found.extend(reply.entries);
            let ListEntry { package, path, .. } = found.last().unwrap();
            after = match key {
                0 => package.clone(),
                1 => path.clone(),
                _ => [&package[..], path].join(&b'/'),
            };
            if !reply.more {
                break;
            }
        }
        assert_eq!(found, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_leaves_out_the_packages_that_it_excludes() {
    let served = served();
    let (mut client, _serving) = served.connect().await;
    let mut listed = Vec::new();
    for (shard, id) in (0..).zip(client.shards()) {
        let request = ListRequest {
            package: id.to_vec(),
            ..request(ListKind::Shard, "", "")
        };
        let entries = client.list(&request).await.entries;
        listed.extend(entries.into_iter().map(|entry| (shard, entry)));
    }
    listed.sort_by(|(_, a), (_, b)| a.package.cmp(&b.package));
    let lines: Vec<_> = listed.iter().map(|(_, entry)| line(entry)).collect();
    assert_eq!(lines, ["a_1.0  4 35 0", "b_2  1 9 0", "c-3.1  0 0 0"]);
    // Again with the cached narrowed shard.
    for _ in 0..2 {
        for (excluded, expected) in [(None, 4), (Some(0), 1), (Some(1), 3), (Some(2), 4)] {
            let excluded = excluded.map(|at: usize| Excluded {
                shard: listed[at].0,
                packages: vec![listed[at].1.number],
            });
            let search = Search {
                excluded: excluded.into_iter().collect(),
                ..client.regexp("int")
            };
            client.ask_for(&search).await;
            let answer = client.answer().await;
            let sent = answer.batches.iter().flat_map(Batch::matches).count() as u64;
            let end = answer.end.unwrap();
            let counted: u64 = end.shards.iter().map(|shard| shard.found).sum();
            assert_eq!((sent, counted), (expected, expected), "{search:?}");
        }
    }
    for (shard, package) in [(0, u32::MAX), (99, 0)] {
        let packages = vec![package];
        let search = Search {
            excluded: vec![Excluded { shard, packages }],
            ..client.regexp("int")
        };
        client.ask_for(&search).await;
        let failure = client.answer().await.end.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Protocol, "{failure:?}");
    }
}
