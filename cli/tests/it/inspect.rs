//! `trawl inspect` and `trawl search --explain`.

use crate::home::Home;

/// One document has two blocks, one is empty, and a name has an escape sequence.
fn home() -> Home {
    let home = Home::new();
    home.write("all/hello_1.0/hello.c", "int wanted;\n");
    home.write(
        "all/hello_1.0/tests/long.c",
        "x = wanted + 1;\n".repeat(300),
    );
    home.write("all/hello_1.0/logo.c", "\x7fELF\0");
    home.write("all/other/\x1b[31mred", "unwanted\n");
    home.write("all/other/empty.h", "");
    home.ok("index --index I --each all");
    home
}

/// `SHARD` replaces the name of the only shard.
fn shown(home: &Home, line: &str) -> String {
    let shard = home.shard("I");
    let name = shard
        .file_name()
        .expect("a file")
        .to_str()
        .expect("hex digits");
    let out = String::from_utf8(home.ok(line)).expect("text");
    out.replace(name, "SHARD")
}

#[track_caller]
fn check(home: &Home, line: &str, expected: &str) {
    assert_eq!(shown(home, line), expected.trim_start(), "{line}");
}

#[test]
fn trigram_shows_its_blocks() {
    let home = home();
    let expected = r#"
I/SHARD
  "ant" in blocks: 4 of 4 (100.000 %); Elias-Fano, 2 bytes (4.0 bits a block)
  block 0, from hello_1.0/hello.c:1 on
  block 1, from hello_1.0/tests/long.c:1 on
  block 2, from hello_1.0/tests/long.c:257 on
  block 3, from other/\u{1b}[31mred:1 on
"#;
    check(&home, "inspect --index I --trigram AnT", expected);
    let expected = r#"
I/SHARD
  "int" in blocks: 1 of 4 (25.000 %); in the dictionary
  block 0, from hello_1.0/hello.c:1 on
"#;
    check(&home, r"inspect --index I --trigram \x69nt", expected);
    let limited = shown(&home, "inspect --index I --trigram ted --limit 1");
    let last = limited.lines().last();
    assert_eq!(last, Some("  and 3 more; --limit 4 shows them"));
    home.run(r"inspect --index I --trigram \x00\xff-").check(
        "inspect",
        1,
        &[r#""\x00\xff-": no block contains this trigram"#],
    );
}

#[test]
fn removed_packages_are_not_shown() {
    let home = home();
    home.ok("index --index I --remove other");
    let expected = r#"
I/SHARD
  "ant" in blocks: 4 of 4 (100.000 %); Elias-Fano, 2 bytes (4.0 bits a block)
  1 block of packages that were replaced or removed
  block 0, from hello_1.0/hello.c:1 on
  and 2 more; --limit 3 shows them
"#;
    check(&home, "inspect --index I --trigram ant --limit 1", expected);
    let expected = r#"
plan: "ant"
I/SHARD: 3 of 3 (100.000 %) are candidates, 4.8 kB to verify
        blocks  in this order
             4  "ant"
"#;
    check(&home, "inspect --index I --plan ant", expected);
    home.run("inspect --index I --document other/empty.h")
        .check("inspect", 1, &["the index has no package of this name"]);
}

#[test]
fn document_shows_its_tables() {
    let home = home();
    let expected = "
hello_1.0/tests/long.c
  shard        I/SHARD
  document     1 of 0 to 3
  copies       0 other documents in this shard
  blocks       1 to 2 of 0 to 3 (2)
  lines        300
  bytes        4800
  language     C
  class        tests
  static rank  0.1
  BLAKE3";
    let out = shown(&home, "inspect --index I --document hello_1.0/tests/long.c");
    let (rows, hash) = out.trim_end().rsplit_once("       ").expect("columns");
    assert_eq!((rows, hash.len()), (expected.trim(), 64));
    let out = shown(&home, "inspect --index I --document other/empty.h");
    assert!(out.contains("blocks       none"), "{out}");
    let unknown = |name: &str, says: &str| {
        let run = home.run(&format!("inspect --index I --document {name}"));
        run.check(name, 1, &[name, says]);
        assert_eq!(run.text(), "");
    };
    unknown("hello_1.0/logo.c", "left out of the index: binary");
    unknown("hello_1.0/no.c", "the package has no such document");
    unknown("hello/hello.c", "the index has no package of this name");
}

#[test]
fn plan_shows_lists_in_reading_order() {
    let home = home();
    let expected = r#"
plan: "ant" "int" "nte" "wan" ("ted" | "ten")
I/SHARD: 1 of 4 (25.000 %) are candidates, 12 B to verify
        blocks  in this order
             1  all of
             1    "int"
             4    "ant"
             4    "nte"
             4    "wan"
             4    one of
             4      "ted"
             0      "ten"
"#;
    let line = "inspect --index I --plan int.*want(ed|en) --mode regexp";
    check(&home, line, expected);
    let rows = shown(&home, &format!("{line} --limit 1"));
    let more = [
        "    and 4 more; --limit 5 shows them",
        "--limit 2 shows them",
    ];
    assert!(rows.contains(more[0]) && !rows.contains(more[1]), "{rows}");
    let expected = r#"
plan: "unw"
I/SHARD: 1 of 4 (25.000 %) are candidates, 9 B to verify
        blocks  in this order
             1  "unw"
"#;
    check(&home, "inspect --index I -i --plan UNW", expected);
    let expected = "
plan: no trigram: all 4 blocks are scanned (the text that all matches share is shorter than three bytes)
I/SHARD: 4 of 4 (100.000 %) are candidates, 4.8 kB to verify
";
    check(&home, "inspect --index I --plan te", expected);
}

#[test]
fn explain_says_whether_everything_was_scanned() {
    let home = home();
    let server = home.start("serve --index I");
    let explained = |query: &str| {
        let here = home.run(&format!("search --index I --explain {query}"));
        let there = home.run(&format!(
            "search --server {} --explain {query}",
            server.address
        ));
        assert_eq!(
            (&here.stderr, here.code),
            (&there.stderr, there.code),
            "{query}"
        );
        here.stderr
    };
    for query in [
        "w",
        "te",
        "--mode regexp te|int",
        "--mode regexp [a-z]+;",
        "--mode regexp ;$",
    ] {
        let says = explained(query);
        assert!(
            says.contains("no trigram: all 4 blocks are scanned"),
            "{query}: {says}"
        );
        assert!(
            says.contains("blocks verified: 4 of 4 (100.000 %)"),
            "{query}: {says}"
        );
    }
    for query in ["int", "--mode regexp int|nil", "wanted"] {
        let says = explained(query);
        assert!(says.starts_with("plan: "), "{query}: {says}");
        assert!(!says.contains("scanned"), "{query}: {says}");
    }
    let says = explained(r"--mode regexp [a&&b]");
    assert!(
        says.starts_with("plan: none: no line can match\n"),
        "{says}"
    );
}
