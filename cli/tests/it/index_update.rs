//! `trawl index` on an existing index: packages read, replaced, dropped and kept.

use crate::home::Home;
use crate::{http, poll};
use std::fs;
use std::time::Duration;

/// Deadline for a backend to serve a new index.
const STALE_MAX: Duration = Duration::from_secs(2);

/// `I` has `S/i3-wm_4.22`, `S/sed_4.8` and `S/sed_4.9`.
fn home() -> Home {
    let home = Home::new();
    for package in ["i3-wm_4.22", "sed_4.8", "sed_4.9"] {
        home.write(&format!("S/{package}/main.c"), "int wanted;\n");
        home.write(&format!("S/{package}/README"), "nothing\n");
    }
    home.ok("index --index I --each S");
    home
}

fn wanted(home: &Home) -> Vec<String> {
    sorted(home.ok("search --index I wanted"))
}

fn packages(home: &Home) -> Vec<String> {
    sorted(home.ok("inspect --index I --packages"))
}

fn sorted(text: Vec<u8>) -> Vec<String> {
    let text = String::from_utf8(text).unwrap();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

fn run(home: &Home, arguments: &str, says: &[&str]) {
    home.run(arguments).check(arguments, 0, says);
}

fn manifest(home: &Home) -> Vec<u8> {
    fs::read(home.path("I/manifest")).unwrap()
}

#[test]
fn changed_file_updates_one_package() {
    let home = home();
    home.write("S/sed_4.9/main.c", "int wanted_more;\n");
    let says = [
        "indexed 2 files of 1 package",
        "packages: 1 read, 2 kept, 0 dropped, 0 merged",
        "in 2 shards",
    ];
    run(&home, "index --index I --each S", &says);
    let expected = [
        "i3-wm_4.22/main.c:1:int wanted;",
        "sed_4.8/main.c:1:int wanted;",
        "sed_4.9/main.c:1:int wanted_more;",
    ];
    assert_eq!(wanted(&home), expected);
    let expected = ["2\ti3-wm_4.22", "2\tsed_4.8", "2\tsed_4.9"];
    assert_eq!(packages(&home), expected);
    let summary = String::from_utf8(home.ok("inspect --index I")).unwrap();
    for says in [
        // The packages have the same two texts.
        "  format 2, 2 packages, 4 documents, 2 blocks, 40 B of text (20 B unique), ",
        "  not counted: 1 package replaced or removed, 0 B of text\n",
        "  format 2, 1 package, 2 documents, 2 blocks, 25 B of text (25 B unique), ",
    ] {
        assert!(summary.contains(says), "no `{says}` in: {summary}");
    }
    home.ok("inspect --index I --verify");

    let before = manifest(&home);
    let says = ["the index in I is up to date, nothing was read (3 packages, "];
    run(&home, "index --index I --each S", &says);
    assert_eq!(manifest(&home), before);
    // Only the recorded sources change.
    run(&home, "index --index I S/sed_4.8 S/sed_4.9", &says);
}

#[test]
fn new_version_replaces_other_versions_if_that_is_asked_for() {
    let home = home();
    home.write("S/sed_4.10/main.c", "int wanted;\n");
    let says = [
        "packages: 1 read, 3 kept, 0 dropped, 0 merged",
        "other versions kept: sed_4.8 beside sed_4.10, sed_4.9 beside sed_4.10",
        "--replace-versions drops them",
    ];
    run(&home, "index --index I S/sed_4.10", &says);
    assert_eq!(packages(&home).len(), 4);
    let before = manifest(&home);
    let flags = "index --index I S/sed_4.10 --replace-versions";
    let says = ["dry run", "0 new, 2 to be dropped (sed_4.8, sed_4.9)"];
    run(&home, &format!("{flags} --dry-run"), &says);
    assert_eq!(manifest(&home), before);
    // The kept package has all texts of the two dropped.
    run(&home, flags, &["2 dropped (sed_4.8, sed_4.9)"]);
    assert_eq!(packages(&home), ["1\tsed_4.10", "2\ti3-wm_4.22"]);
}

#[test]
fn names_of_packages_have_versions_inside_each_alone_and_not_with_the_switch() {
    let home = home();
    let found = |index: &str, filter: &str| {
        let query = format!("search --index {index} -c --package ={filter} wanted");
        home.run(&query).code
    };
    assert_eq!(
        (found("I", "sed"), found("I", "sed_4.9")),
        (Some(0), Some(0))
    );
    home.ok("index --index J --each --no-versions S");
    assert_eq!(
        (found("J", "sed"), found("J", "sed_4.9")),
        (Some(1), Some(0))
    );
    run(&home, "index --index J --update", &["is up to date"]);
    assert_eq!(found("J", "sed"), Some(1));
    home.ok("index --index K S/sed_4.9");
    assert_eq!(
        (found("K", "sed"), found("K", "sed_4.9")),
        (Some(1), Some(0))
    );
    let both = home.run("index --index K --no-versions S/sed_4.9");
    both.check("--no-versions", 2, &["--each"]);
}

#[test]
fn a_package_of_the_same_name_from_another_place_is_refused() {
    let home = Home::new();
    home.write("a/tool/x.c", "int wanted;\n");
    home.write("b/tool/y.c", "int wanted;\n");
    home.ok("index --index I a/tool");
    let before = manifest(&home);
    for given in ["b/tool", "--each b"] {
        let finished = home.run(&format!("index --index I {given}"));
        let says = [
            "two sources have the name `tool`",
            "a/tool",
            "b/tool",
            "--remove tool",
        ];
        finished.check(given, 2, &says);
    }
    assert_eq!(manifest(&home), before);
    run(&home, "index --index I --update", &["is up to date"]);
    std::fs::rename(home.path("a"), home.path("c")).unwrap();
    let says = [
        "read from another place: tool (directory",
        "c/tool, was directory",
        "a/tool)",
    ];
    run(&home, "index --index I c/tool", &says);
    run(&home, "index --index I --update", &["is up to date"]);
}

#[test]
fn packages_are_removed_and_pruned() {
    let home = home();
    run(
        &home,
        "index --index I --remove sed_4.8",
        &["0 read, 2 kept"],
    );
    assert_eq!(packages(&home), ["2\ti3-wm_4.22", "2\tsed_4.9"]);
    let before = manifest(&home);
    for (arguments, says) in [
        (
            "--remove sad",
            "no package `sad` in the index; did you mean `sed`?",
        ),
        (
            "--remove i3-wm --remove sed_4.8",
            "no package `sed_4.8` in the index",
        ),
        (
            "--remove sed S/sed_4.9",
            "`sed_4.9` is to be removed and is also among the sources",
        ),
        (
            "--no-ignore S/sed_4.9",
            "but these are not among the sources: i3-wm_4.22; name their directories too",
        ),
        ("--prune", "required"),
        ("", "required"),
    ] {
        let finished = home.run(&format!("index --index I {arguments}"));
        finished.check(arguments, 2, &[says]);
    }
    assert_eq!(manifest(&home), before);
    run(
        &home,
        "index --index I --prune S/sed_4.9",
        &["0 read, 1 kept, 1 dropped"],
    );
    assert_eq!(packages(&home), ["2\tsed_4.9"]);
    let says = [
        "the index had been built with other options",
        "1 read, 0 kept",
    ];
    run(&home, "index --index I --no-ignore S/sed_4.9", &says);
    run(
        &home,
        "index --index I --remove sed_4.9",
        &["0 read, 0 kept, 1 dropped (sed_4.9)"],
    );
    assert_eq!(packages(&home), [""; 0]);
    home.run("search --index I wanted").check("search", 1, &[]);
}

#[test]
fn running_backend_serves_the_updated_index() {
    let home = home();
    let backend = home.start("backend --index I");
    let frontend = home.start(&format!(
        "frontend --backend {} --spool spool",
        backend.address
    ));
    let search = |q| {
        let (answer, lines) = http::search_all(&frontend.address, q);
        assert!(answer.complete, "{:?}", answer.missing);
        lines
    };
    assert_eq!(search("wanted").len(), 3);
    home.write("S/sed_4.9/main.c", "int changed;\n");
    home.ok("index --index I --each S");
    let changed = poll("the new package", STALE_MAX, || {
        Some(search("changed")).filter(|lines| !lines.is_empty())
    });
    assert_eq!(changed, ["sed_4.9/main.c:1:int changed;"]);
    assert_eq!(search("wanted").len(), 2, "the old text is gone");
    // A pattern without trigrams scans all live blocks.
    assert_eq!(search("t;").len(), 0);
    assert_eq!(search("d;").len(), 3);
    home.ok("index --index I --remove i3-wm");
    poll("the package to be dropped", STALE_MAX, || {
        (search("wanted") == ["sed_4.8/main.c:1:int wanted;"]).then_some(())
    });
    let gone = http::get(
        &frontend.address,
        "/api/v2/file?package=i3-wm_4.22&path=main.c&offset=0&count=9",
    );
    assert_eq!(gone.status, 404, "{}", gone.text());
}

#[test]
fn verify_says_what_differs() {
    let home = home();
    let line = "index --index I --verify --each S";
    let says = ["verified 6 unchanged files and all checksums: nothing differs"];
    run(&home, line, &says);
    let shard = home.shard("I");
    let mut bytes = fs::read(&shard).unwrap();
    let at = bytes.windows(6).position(|it| it == b"wanted").unwrap();
    bytes[at] ^= 1;
    fs::write(&shard, bytes).unwrap();
    run(
        &home,
        line,
        &["1 damaged shard, read again", "3 read, 0 kept"],
    );
    assert_eq!(wanted(&home).len(), 3);
}

fn answers(home: &Home, index: &str) -> Vec<Vec<u8>> {
    let searches = [
        "wanted",
        "-C 2 /line_[0-9]*7/",
        "--count line_",
        r"/line_16.*\nint/",
        "nowhere",
    ];
    let run = |search| home.run(&format!("search --index {index} {search}"));
    searches.map(|search| run(search).stdout).into()
}

fn codecs(home: &Home, index: &str) -> (usize, usize) {
    let inspected = home.ok(&format!("inspect --index {index}"));
    let inspected = String::from_utf8(inspected).unwrap();
    let compressed = inspected.matches("content in zstd").count();
    (
        compressed,
        inspected.matches("format ").count() - compressed,
    )
}

#[test]
fn an_index_stays_compressed_until_a_run_says_otherwise() {
    let home = home();
    home.ok("index --index Z --each --content zstd S");
    assert_eq!(codecs(&home, "Z"), (1, 0));
    for (package, flag, expected) in [
        ("new1", "", (2, 0)),
        ("new2", "--content raw", (2, 1)),
        ("new3", "", (2, 2)),
        ("new4", "--content zstd", (3, 2)),
        ("new5", "--content zstd", (4, 2)),
        ("new6", "", (5, 2)),
    ] {
        home.write(&format!("S/{package}/main.c"), format!("int {package};\n"));
        home.ok(&format!("index --index Z {flag} S/{package}"));
        assert_eq!(codecs(&home, "Z"), expected, "{package}");
    }
    home.ok("index --index Z --each --content raw S");
    assert_eq!(codecs(&home, "Z"), (5, 2), "nothing to write");
    home.write("S/new7/main.c", "int new_7;\n");
    home.write("S/new8/main.c", "int new_8;\n");
    home.ok("index --index Z S/new7");
    home.ok("index --index Z S/new8");
    let (compressed, raw) = codecs(&home, "Z");
    assert!(compressed > 0 && compressed + raw < 9, "nothing was merged");
    home.ok("index --index Z --each --block-size 2K S");
    assert_eq!(codecs(&home, "Z"), (1, 0), "built again");
}

#[test]
fn a_server_keeps_the_codec_of_its_index() {
    let home = home();
    home.ok("index --index Z --each --content zstd S");
    home.write("S/new_1/main.c", "int new_1;\n");
    let server = home.start("serve --each --index Z S");
    drop(server);
    assert_eq!(codecs(&home, "Z"), (2, 0));
}

#[test]
fn raw_and_compressed_shards_give_the_same_answers() {
    let home = home();
    home.ok("index --index Z --each --content zstd S");
    for round in 0..4 {
        let lines: String = (0..900)
            .map(|n| format!("int line_{} = {round};\n", n * n))
            .collect();
        home.write("S/sed_4.9/main.c", &lines);
        home.write(
            &format!("S/new_{round}/main.c"),
            format!("int wanted;\n{lines}"),
        );
        home.ok("index --index I --each S");
        let content = if round % 2 == 0 {
            "--content raw"
        } else {
            "--content zstd"
        };
        home.ok(&format!("index --index Z --each {content} S"));
        assert_eq!(answers(&home, "Z"), answers(&home, "I"), "round {round}");
    }
    let inspected = String::from_utf8(home.ok("inspect Z")).unwrap();
    let compressed = inspected.matches("content in zstd").count();
    assert!(
        0 < compressed && compressed < inspected.matches("format 2").count(),
        "{inspected}"
    );
    home.ok("index --index Z --each --verify --content zstd S");
    assert_eq!(answers(&home, "Z"), answers(&home, "I"));
    home.run("index --index Z --content gzip S").check(
        "an unknown codec",
        2,
        &["gzip", "raw, zstd"],
    );
}
