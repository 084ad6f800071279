//! `trawl index` and `trawl inspect`: what an index contains, what was left out and why, and what remains when
//! a build is interrupted.

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

    let closing = home.run("index --out I tree").stderr;
    let counts = "left out: 7 (1 binary, 1 git, 3 ignored, 1 not-regular, 1 symlink)";
    assert!(
        closing.contains("indexed 3 files of 1 package"),
        "{closing}"
    );
    assert!(closing.contains(counts), "{closing}");
    assert!(closing.contains("`trawl inspect I --skipped`"), "{closing}");
    let listed = home.ok("inspect I --skipped");
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

    let closing = home.run("index --out I --no-ignore tree").stderr;
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

/// The files of the index `I` that match `wanted`, sorted.
fn wanted(home: &Home) -> Vec<String> {
    let found = String::from_utf8(home.ok("search --index I wanted")).unwrap();
    let file = |line: &str| line.split(':').next().unwrap().to_owned();
    let mut files: Vec<_> = found.lines().map(file).collect();
    files.sort_unstable();
    files
}

/// Whether `I` has a file of an unfinished build.
fn has_unfinished(home: &Home) -> bool {
    let mut files = fs::read_dir(home.path("I")).unwrap();
    files.any(|file| {
        // A file may be deleted before it is read.
        file.is_ok_and(|file| file.path().extension().is_some_and(|last| last == "tmp"))
    })
}

#[test]
fn interrupted_build_leaves_the_old_index() {
    let home = Home::new();
    home.write("old/a.c", "wanted\n");
    home.ok("index --out I old");
    for file in 0..40_u32 {
        let line =
            |line: u32| format!("{:x} not {file}\n", (line + file).wrapping_mul(0x9e37_79b9));
        home.write(
            &format!("new/{file}.c"),
            (0..30_000).map(line).collect::<String>(),
        );
    }
    let mut command = home.command("index --out I --jobs 1 new");
    let build = Process::start(command.stderr(Stdio::null()));
    poll("a file of the build", WAIT_MAX, || {
        has_unfinished(&home).then_some(())
    });
    assert!(build.kill(), "the build ended before it was interrupted");
    assert!(has_unfinished(&home));

    assert_eq!(wanted(&home), ["old/a.c"]);
    home.ok("inspect I --verify");
    home.ok("index --out I old");
    assert_eq!(wanted(&home), ["old/a.c"]);
    assert!(!has_unfinished(&home), "the next build cleans up");
}

#[test]
fn backend_serves_a_rebuilt_index() {
    let home = Home::new();
    home.write("p/a.c", "wanted\n");
    home.ok("index --out I p");
    let backend = home.start("backend --index I");
    let frontend = home.start(&format!(
        "frontend --backend {} --spool spool",
        backend.address
    ));
    let search = || http::search_all(&frontend.address, "wanted");
    assert_eq!(search().1, ["p/a.c:1:wanted"]);
    for total in 2..4_usize {
        home.write("p/a.c", "wanted\n".repeat(total));
        home.ok("index --out I p");
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
