//! FILE and LIST of a repository, for the default and other revisions.

use super::client::{Client, Served};
use crate::corpus::{Build, Corpus};
use crate::revisions::{State, build};
use schema::message::{
    FileRange, FileReply, FileRequest, FileSource, ListEntry, ListKind, ListRequest,
};

/// Serves a repository with default branch `main` in two shards, new files in the second.
fn served() -> Served {
    let files = |files: &[(&str, &str)]| -> Corpus {
        let file = |&(path, text): &(&str, &str)| (path.into(), text.into());
        vec![files.iter().map(file).collect()]
    };
    let old = files(&[
        ("a.c", "int old;\n"),
        ("b.c", "int b;\n"),
        ("c.c", "int c;\n"),
        ("d/d.c", "int d;\n"),
    ]);
    let new = files(&[("a.c", "int new;\nint more;\n"), ("d/e.c", "int e;\n")]);
    let how = Build {
        block_bytes: 4096,
        shard_bytes: u64::MAX,
        content: index::ContentCodec::Raw,
    };
    // Bits: main, feature/x, v1.0, v1.1, origin/main.
    let (home, _) = build(&[&old, &new], how, |(_, path, hash)| {
        let is = |text: &str| hash[..] == blake3::hash(text.as_bytes()).as_bytes()[..];
        State::Revisions(match &path[..] {
            b"a.c" if is("int old;\n") => 0b00110,
            b"a.c" => 0b11001,
            b"b.c" => 0b00010,
            b"c.c" => 0,
            b"d/d.c" => 0b11111,
            _ => 0b00001,
        })
    });
    Served::over(home, 4)
}

async fn file(client: &mut Client, path: &str, revision: &str) -> FileReply {
    let request = FileRequest {
        package: b"p0_1".to_vec(),
        path: path.into(),
        range: FileRange::Bytes {
            offset: 0,
            count: 1000,
        },
        revision: revision.to_owned(),
        source: FileSource::Text,
        visible: None,
        definitions: false,
        inside: Vec::new(),
        symbol_line: 0,
        symbol_column: 0,
    };
    client.ask_file(&request).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_read_as_the_revision_has_it() {
    let served = served();
    let (mut client, _serving) = served.connect().await;
    let new = ("int new;\nint more;\n", "main origin/main v1.1");
    let old = ("int old;\n", "feature/x v1.0");
    let d = "main feature/x origin/main v1.0 v1.1";
    for (path, revision, (text, revisions), commit) in [
        ("a.c", "", new, "1"),
        ("a.c", "main", new, "1"),
        ("a.c", "HEAD", new, "1"),
        ("a.c", "refs/tags/v1.1", new, "4"),
        ("a.c", "origin/main", new, "5"),
        ("a.c", "v1.0", old, "3"),
        ("a.c", "heads/feature/x", old, "2"),
        ("a.c", "2222222", old, "2"),
        ("a.c", &"3".repeat(40), old, "3"),
        ("b.c", "feature/x", ("int b;\n", "feature/x"), "2"),
        ("d/d.c", "", ("int d;\n", d), "1"),
        ("d/e.c", "", ("int e;\n", "main"), "1"),
    ] {
        let reply = file(&mut client, path, revision).await;
        assert!(reply.found, "{path} in {revision}");
        assert_eq!(reply.text, text.as_bytes(), "{path} in {revision}");
        assert_eq!(reply.revisions.join(" "), revisions, "{path} in {revision}");
        assert_eq!(reply.commit, commit.repeat(40), "{path} in {revision}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_file_comes_with_the_newest_revision_that_has_it() {
    let served = served();
    let (mut client, _serving) = served.connect().await;
    for (path, revision, newest) in [
        ("b.c", "", "feature/x"),
        ("b.c", "main", "feature/x"),
        ("a.c", "v9", "origin/main"),
        ("a.c", "222222", "origin/main"),
        ("d/e.c", "v1.0", "main"),
        // In no revision any more.
        ("c.c", "", ""),
        ("nothing.c", "main", ""),
    ] {
        let reply = file(&mut client, path, revision).await;
        let expected = FileReply {
            newest: newest.to_owned(),
            ..FileReply::default()
        };
        assert_eq!(reply, expected, "{path} in {revision}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_have_one_revision_from_all_parts_of_a_package() {
    let served = served();
    let (mut client, _serving) = served.connect().await;
    for (kind, prefix, revision, expected) in [
        (ListKind::Packages, "", "", "p0_1: 3 33 4"),
        (
            ListKind::Children,
            "",
            "",
            "p0_1/a.c: 1 19 2, p0_1/d/: 2 14 2",
        ),
        (
            ListKind::Children,
            "d/",
            "",
            "p0_1/d/d.c: 1 7 1, p0_1/d/e.c: 1 7 1",
        ),
        (
            ListKind::Children,
            "",
            "feature/x",
            "p0_1/a.c: 1 9 1, p0_1/b.c: 1 7 1, p0_1/d/: 1 7 1",
        ),
        (ListKind::Children, "d/", "v1.0", "p0_1/d/d.c: 1 7 1"),
        (
            ListKind::Children,
            "",
            "2222222",
            "p0_1/a.c: 1 9 1, p0_1/b.c: 1 7 1, p0_1/d/: 1 7 1",
        ),
        (ListKind::Children, "", "v9", ""),
    ] {
        let request = ListRequest {
            kind,
            package: b"p0_1".to_vec(),
            prefix: prefix.into(),
            after: Vec::new(),
            count: 10,
            visible: None,
            revision: revision.to_owned(),
        };
        let reply = client.list(&request).await;
        let describe = |entry: &ListEntry| {
            let slash = if entry.path.is_empty() { "" } else { "/" };
            let name = [&entry.package[..], slash.as_bytes(), &entry.path].concat();
            let name = name.escape_ascii();
            format!(
                "{name}: {} {} {}",
                entry.documents, entry.text_bytes, entry.lines
            )
        };
        let found: Vec<_> = reply.entries.iter().map(describe).collect();
        assert_eq!(found.join(", "), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shard_lists_as_many_packages_as_it_announces_parts() {
    let served = served();
    let (mut client, _serving) = served.connect().await;
    let shards = client
        .hello
        .as_ref()
        .expect("HELLO was received")
        .shards
        .clone();
    let counted: Vec<_> = shards.iter().map(|it| (it.packages, it.parts)).collect();
    assert_eq!(counted, [(1, 1), (0, 1)], "one package in two shards");
    for shard in shards {
        let request = ListRequest {
            kind: ListKind::Shard,
            package: shard.id.to_vec(),
            prefix: Vec::new(),
            after: Vec::new(),
            count: 10,
            visible: None,
            revision: String::new(),
        };
        let listed = client.list(&request).await.entries;
        assert_eq!(listed.len(), shard.parts as usize);
    }
}
