//! `trawl index` and `trawl inspect`: contents, skipped files, and interrupted builds.

use crate::home::Home;
use crate::http;
use crate::process::Process;
use crate::{WAIT_MAX, poll};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Deadline for a backend to serve a new index.
const STALE_MAX: Duration = Duration::from_secs(2);

#[test]
fn files_left_out_are_counted_and_listed() {
    let home = Home::new();
    home.write("tree/.git/HEAD", "ref: refs/heads/main\n");
    home.write("tree/.git/info/exclude", "*.secret\n");
    home.write("tree/.gitignore", "*.o\n/target/\n");
    for path in [
        "kept.c",
        ".hidden",
        "object.o",
        "target/deep/a.c",
        "my.secret",
    ] {
        home.write(&format!("tree/{path}"), "wanted\n");
    }
    home.write("tree/binary", "wanted\n\0");
    symlink("kept.c", home.path("tree/link")).unwrap();
    let _socket = UnixListener::bind(home.path("tree/socket")).unwrap();

    let closing = home.run("index --index I tree").stderr;
    let counts = "left out: 7 (1 binary, 1 git, 3 ignored, 1 not-regular, 1 symlink)";
    assert!(
        closing.contains("indexed 3 files of 1 package"),
        "{closing}"
    );
    assert!(closing.contains(counts), "{closing}");
    assert!(
        closing.contains("`trawl inspect --index I --skipped`"),
        "{closing}"
    );
    let listed = home.ok("inspect --index I --skipped");
    let mut listed: Vec<_> = std::str::from_utf8(&listed).unwrap().lines().collect();
    listed.sort_unstable();
    let expected = [
        "tree/.git\tgit's own data",
        "tree/binary\tbinary",
        "tree/link\ta symbolic link",
        "tree/my.secret\texcluded by .git/info/exclude:1:*.secret",
        "tree/object.o\texcluded by .gitignore:1:*.o",
        "tree/socket\ta pipe, socket or device",
        "tree/target\texcluded by .gitignore:2:/target/",
    ];
    assert_eq!(listed, expected);
    assert_eq!(wanted(&home), ["tree/.hidden", "tree/kept.c"]);

    let closing = home.run("index --index I --no-ignore tree").stderr;
    let counts = "left out: 4 (1 binary, 1 git, 1 not-regular, 1 symlink)";
    assert!(closing.contains(counts), "{closing}");
    let all = [
        ".hidden",
        "kept.c",
        "my.secret",
        "object.o",
        "target/deep/a.c",
    ];
    assert_eq!(wanted(&home), all.map(|path| format!("tree/{path}")));
}

fn wanted(home: &Home) -> Vec<String> {
    let found = String::from_utf8(home.ok("search --index I wanted")).unwrap();
    let file = |line: &str| line.split(':').next().unwrap().to_owned();
    let mut files: Vec<_> = found.lines().map(file).collect();
    files.sort_unstable();
    files
}

fn has_unfinished(home: &Home) -> bool {
    let mut files = fs::read_dir(home.path("I")).unwrap();
    files.any(|file| {
        // The file may be deleted before.
        file.is_ok_and(|file| file.path().extension().is_some_and(|last| last == "tmp"))
    })
}

fn write_much(home: &Home) {
    for file in 0..40_u32 {
        let line =
            |line: u32| format!("{:x} not {file}\n", (line + file).wrapping_mul(0x9e37_79b9));
        home.write(
            &format!("new/{file}.c"),
            (0..30_000).map(line).collect::<String>(),
        );
    }
}

#[test]
fn interrupted_build_leaves_the_old_index() {
    let home = Home::new();
    home.write("old/a.c", "wanted\n");
    home.ok("index --index I old");
    write_much(&home);
    let mut command = home.command("index --index I --jobs 1 new");
    let build = Process::start(command.stderr(Stdio::null()));
    poll("a file of the build", WAIT_MAX, || {
        has_unfinished(&home).then_some(())
    });
    assert!(build.kill(), "the build ended before it was interrupted");
    assert!(has_unfinished(&home));

    assert_eq!(wanted(&home), ["old/a.c"]);
    home.ok("inspect --index I --verify");
    home.ok("index --index I old");
    assert_eq!(wanted(&home), ["old/a.c"]);
    assert!(!has_unfinished(&home), "the next build cleans up");
}

/// Sends a signal after the first write. Returns the messages.
fn interrupt(home: &Home, signal: &str) -> String {
    let mut command = home.command("index --index I --jobs 1 new");
    let stderr = fs::File::create(home.path("stderr")).unwrap();
    let mut build = Process::start(command.stderr(stderr));
    poll("a file of the build", WAIT_MAX, || {
        let is_there = home.path("I").exists() && has_unfinished(home);
        is_there.then_some(())
    });
    build.signal(signal);
    let status = build.wait(WAIT_MAX);
    assert_eq!(status.code(), Some(130), "{status}");
    fs::read_to_string(home.path("stderr")).unwrap()
}

#[test]
fn ctrl_c_says_what_remains_and_leaves_nothing_behind() {
    let home = Home::new();
    write_much(&home);
    let said = interrupt(&home, "INT");
    let expected = "interrupted: no index was built, and nothing is left in I";
    assert!(said.contains(expected), "{said}");
    assert!(!home.path("I").exists());

    home.write("old/a.c", "wanted\n");
    home.ok("index --index I old");
    let said = interrupt(&home, "TERM");
    let expected = "interrupted: the index in I is whole, without these changes";
    assert!(said.contains(expected), "{said}");
    assert!(!has_unfinished(&home));
    assert_eq!(wanted(&home), ["old/a.c"]);
    let shards = fs::read_dir(home.path("I")).unwrap();
    assert_eq!(
        shards.count(),
        4,
        "the lock, the manifest, the records and the old shard"
    );
}

#[test]
fn what_lies_beside_the_packages_of_each_is_counted_and_listed() {
    let home = Home::new();
    for path in [
        "S/a/x.c",
        "S/README",
        "S/.cache/x",
        "S/out/x",
        "S/.git/HEAD",
    ] {
        home.write(path, "wanted\n");
    }
    home.write("S/.gitignore", "out\n");
    symlink("a", home.path("S/link")).unwrap();
    let counts = "left out: 6 (1 git, 1 hidden, 1 ignored, 2 loose, 1 symlink)";
    for _ in 0..2 {
        home.run("index --index I --each S")
            .check("each", 0, &[counts]);
    }
    let listed = String::from_utf8(home.ok("inspect --index I --skipped")).unwrap();
    for row in [
        "/S/.cache\ta hidden directory beside the packages\n",
        "/S/README\ta file beside the packages, in none of them\n",
        "/S/out\texcluded by .gitignore:1:out\n",
        "/S/link\ta symbolic link\n",
    ] {
        assert!(listed.contains(row), "{listed}");
    }
    assert_eq!(wanted(&home), ["a/x.c"]);
}

#[test]
fn an_index_inside_its_own_source_is_left_out_of_it() {
    let home = Home::new();
    home.write("S/a/x.c", "wanted\n");
    for each in ["", "--each "] {
        let out = format!("S/I{}", each.len());
        let line = format!("index --index {out} {each}S");
        for _ in 0..2 {
            home.run(&line)
                .check(&line, 0, &["is inside", "are not searched"]);
            home.write("S/a/x.c", "wanted\nonce more\n");
        }
        let listed = home.ok(&format!("inspect --index {out} --packages"));
        assert_eq!(String::from_utf8(listed).unwrap().lines().count(), 1);
    }
    let line = "index --index S S";
    home.run(line)
        .check(line, 2, &["this is a source, so the index cannot be here"]);
}

#[test]
fn sources_that_hold_nothing_are_errors() {
    let home = Home::new();
    fs::create_dir_all(home.path("void/inner")).unwrap();
    let line = "index --index I void";
    home.run(line)
        .check(line, 2, &["void: contains no file to index"]);
    assert!(!home.path("I").exists());
}

#[test]
fn a_bare_repository_is_indexed_with_a_hint() {
    let home = Home::new();
    for path in ["bare.git/HEAD", "bare.git/objects/x", "bare.git/refs/x"] {
        home.write(path, "wanted\n");
    }
    let line = "index --index I bare.git";
    home.run(line)
        .check(line, 0, &["is a bare git repository", "`--git "]);
}

#[test]
fn backend_serves_a_rebuilt_index() {
    let home = Home::new();
    home.write("p/a.c", "wanted\n");
    home.ok("index --index I p");
    let backend = home.start("backend --index I");
    let frontend = home.start(&format!(
        "frontend --backend {} --spool spool",
        backend.address
    ));
    let search = || http::search_all(&frontend.address, "wanted");
    assert_eq!(search().1, ["p/a.c:1:wanted"]);
    for total in 2..4_usize {
        home.write("p/a.c", "wanted\n".repeat(total));
        home.ok("index --index I p");
        let built = Instant::now();
        let all = poll("the new index", STALE_MAX, || {
            let (answer, lines) = search();
            assert!(answer.complete, "{:?}", answer.missing);
            (lines.len() != total - 1).then_some(lines.len())
        });
        assert_eq!(all, total);
        assert!(built.elapsed() < STALE_MAX, "{:?}", built.elapsed());
    }
}
