//! Histories: commits with their changed lines, beside those of `git log`.

use crate::support::{Root, Worktree};
use git::{
    BlobCache, ChangedFile, FileHunks, Mailmap, ObjectId, SourceOptions, SourceRepository,
    Unchanged,
};
use std::collections::BTreeSet;
use std::path::Path;

fn open(path: &Path) -> SourceRepository {
    SourceRepository::open(path, &SourceOptions::default()).expect("it is a repository")
}

fn id(hex: &str) -> ObjectId {
    ObjectId::from_hex(hex.as_bytes()).expect("an id")
}

fn rendered(found: &FileHunks) -> Vec<String> {
    let (mut old, mut new) = (1, 1);
    let mut lines = found.text.split_inclusive(|&byte| byte == b'\n');
    let mut rendered = Vec::new();
    for hunk in &found.hunks {
        (old, new) = (old + hunk.gap, new + hunk.gap);
        for (mark, first, count) in [('-', old, hunk.removed.lines), ('+', new, hunk.added.lines)] {
            for (number, line) in (first..first + count).zip(lines.by_ref()) {
                let line = String::from_utf8_lossy(line);
                rendered.push(format!("{number}{mark}{}", line.trim_end_matches('\n')));
            }
        }
        (old, new) = (old + hunk.removed.lines, new + hunk.added.lines);
    }
    assert_eq!(lines.next(), None);
    rendered
}

struct Reader {
    repository: SourceRepository,
    people: std::sync::Arc<Mailmap>,
    cache: BlobCache,
}

impl Reader {
    fn of(worktree: &Worktree) -> Reader {
        Reader {
            repository: open(&worktree.path),
            people: std::sync::Arc::default(),
            cache: BlobCache::new(1 << 20),
        }
    }

    fn files(&mut self, commit: &str) -> Vec<ChangedFile> {
        let found = self
            .repository
            .changed_files(id(commit), &self.people, &mut self.cache);
        found.expect("it is read").files
    }

    fn changes(&mut self, commit: &str) -> Vec<(String, Option<String>, Vec<String>)> {
        let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        let files = self.files(commit).into_iter();
        let changes = files.map(|file| {
            let lines = match self.repository.hunks(&file, &mut self.cache) {
                Ok(found) => rendered(&found),
                Err(reason) => vec![format!("{reason:?}")],
            };
            (text(&file.path), file.former.as_deref().map(text), lines)
        });
        changes.collect()
    }
}

fn change(
    path: &str,
    former: Option<&str>,
    lines: &[&str],
) -> (String, Option<String>, Vec<String>) {
    let lines = lines.iter().map(|line| (*line).to_owned()).collect();
    (path.to_owned(), former.map(str::to_owned), lines)
}

#[test]
fn a_commit_has_the_changed_lines_of_its_files() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commit("src/a.c", "one\ntwo\nthree\n", "first");
    worktree.commit("src/a.c", "one\n2\nthree\nfour", "second");
    let mut reader = Reader::of(&worktree);
    let (first, second) = (
        worktree.git(["rev-parse", "HEAD~"]),
        worktree.git(["rev-parse", "HEAD"]),
    );
    assert_eq!(
        reader.changes(&first),
        [change("src/a.c", None, &["1+one", "2+two", "3+three"])]
    );
    assert_eq!(
        reader.changes(&second),
        [change("src/a.c", None, &["2-two", "2+2", "4+four"])]
    );
    let list = reader
        .repository
        .history(&[id(&second)], None)
        .expect("it is read");
    let ids: Vec<String> = list.commits.iter().map(|it| it.0.to_string()).collect();
    assert_eq!(ids, [second, first]);
}

#[test]
fn moves_binary_files_links_and_submodules_are_named() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commit("old/name.txt", "1\n2\n3\n4\n5\n6\n7\n8\n", "first");
    worktree.git(["mv", "old", "new"]);
    std::fs::write(
        worktree.path.join("new/name.txt"),
        "1\n2\n3\n4\n5\n6\n7\neight\n",
    )
    .unwrap();
    std::fs::write(worktree.path.join("b.bin"), b"a\0b").unwrap();
    std::os::unix::fs::symlink("new/name.txt", worktree.path.join("link")).unwrap();
    let bump = "1".repeat(40);
    worktree.git([
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("160000,{bump},sub"),
    ]);
    worktree.git(["add", "-A", "b.bin", "link", "new"]);
    worktree.git(["commit", "-q", "-m", "second"]);
    let head = worktree.git(["rev-parse", "HEAD"]);
    assert_eq!(
        Reader::of(&worktree).changes(&head),
        [
            change("b.bin", None, &[&format!("{:?}", Unchanged::Binary)]),
            change("link", None, &["1+new/name.txt"]),
            change("new/name.txt", Some("old/name.txt"), &["8-8", "8+eight"]),
            change("sub", None, &[&format!("1+Subproject commit {bump}")]),
        ]
    );
}

#[test]
fn people_have_the_names_of_the_mailmap() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commit(
        ".mailmap",
        "Ada L <l@example.org> <ada@example.org>\n",
        "first",
    );
    let head = id(&worktree.git(["rev-parse", "HEAD"]));
    let mut reader = Reader::of(&worktree);
    reader.people = reader.repository.mailmap(head);
    let found = reader
        .repository
        .changed_files(head, &reader.people, &mut reader.cache);
    let commit = found.expect("it is read").commit;
    let person = |of: &schema::message::Signature| [of.name.clone(), of.email.clone()];
    assert_eq!(person(&commit.author), [&b"Ada L"[..], b"l@example.org"]);
    assert_eq!(person(&commit.committer), [&b"Bob"[..], b"bob@example.org"]);
}

#[test]
fn a_merge_has_only_what_it_changed_itself() {
    let root = Root::new();
    let worktree = root.init("r");
    worktree.commit("a", "1\n2\n3\n", "base");
    worktree.git(["checkout", "-q", "-b", "side"]);
    worktree.commit("a", "1\n2\nside\n", "side");
    worktree.commit("only-side", "x\n", "side too");
    worktree.git(["checkout", "-q", "main"]);
    worktree.commit("a", "main\n2\n3\n", "main");
    worktree.git(["merge", "-q", "--no-commit", "side"]);
    std::fs::write(worktree.path.join("a"), "main\n2\nevil\nside\n").unwrap();
    worktree.git(["commit", "-q", "-a", "-m", "merge"]);
    let head = worktree.git(["rev-parse", "HEAD"]);
    let mut reader = Reader::of(&worktree);
    assert_eq!(reader.changes(&head), [change("a", None, &["3+evil"])]);
    let tips = ["main", "side"].map(|name| id(&worktree.git(["rev-parse", name])));
    let list = reader.repository.history(&tips, None).expect("it is read");
    let sets: BTreeSet<(String, Vec<u32>)> = (list.commits.iter())
        .map(|(commit, set)| {
            let subject = worktree.git(["log", "-1", "--format=%s", &commit.to_string()]);
            (subject, list.sets[*set as usize].clone())
        })
        .collect();
    let of = |subject: &str, set: &[u32]| (subject.to_owned(), set.to_vec());
    assert_eq!(
        sets,
        BTreeSet::from([
            of("base", &[0, 1]),
            of("main", &[0]),
            of("merge", &[0]),
            of("side", &[0, 1]),
            of("side too", &[0, 1]),
        ])
    );
}
