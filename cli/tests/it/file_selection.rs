//! PATH, `-t`, `-T` and `-g` select the files of ripgrep; unsupported flags are rejected.

use crate::home::Home;
use crate::process::finish;
use std::process::{Command, Stdio};

/// Each has one matching line.
const FILES: [&str; 12] = [
    "Makefile",
    "lib/a.min.js",
    "lib/b.js",
    "src/a.c",
    "src/a.h",
    "src/deep/src/b.c",
    "src/deep/c.rs",
    "src/x.min.js/d.js",
    "srcs/e.c",
    "top.c",
    "vendor/f.c",
    "vendor/keep/g.c",
];

/// Flags and paths, and searched files, below the package.
const TABLE: &[(&str, &str)] = &[
    (
        "-- wanted src",
        "src/a.c src/a.h src/deep/c.rs src/deep/src/b.c src/x.min.js/d.js",
    ),
    ("-- wanted ./src/deep/", "src/deep/c.rs src/deep/src/b.c"),
    ("-- wanted src/a.c top.c", "src/a.c top.c"),
    ("-- wanted src/../lib", "lib/a.min.js lib/b.js"),
    ("-e wanted src/a.c", "src/a.c"),
    ("-t rust wanted", "src/deep/c.rs"),
    ("-t make -t rust wanted", "Makefile src/deep/c.rs"),
    ("-tc wanted src", "src/a.c src/a.h src/deep/src/b.c"),
    ("-T c -T js wanted", "Makefile src/deep/c.rs"),
    ("-t c -T c wanted", ""),
    (
        "--type=c -g !vendor wanted",
        "src/a.c src/a.h src/deep/src/b.c srcs/e.c top.c",
    ),
    ("-g *.rs wanted", "src/deep/c.rs"),
    ("-g *.{rs,h} wanted", "src/a.h src/deep/c.rs"),
    ("-g *.c -g !*.c wanted", ""),
    ("-g !*.js -g *.min.js wanted", "lib/a.min.js"),
    ("-g *.js -g !*.min.js wanted", "lib/b.js"),
    ("-g /*.c wanted", "top.c"),
    ("-g /src/*.c wanted", "src/a.c"),
    ("-g src/*.c wanted", "src/a.c"),
    ("-g src/**/*.c wanted", "src/a.c src/deep/src/b.c"),
    ("-g **/src/*.c wanted", "src/a.c src/deep/src/b.c"),
    (
        "-g !/src -g *.c wanted",
        "srcs/e.c top.c vendor/f.c vendor/keep/g.c",
    ),
    (
        "-g !src/ -g *.c wanted",
        "srcs/e.c top.c vendor/f.c vendor/keep/g.c",
    ),
    ("-g !vendor -g vendor/keep/** wanted", ""),
    ("-g vendor/** wanted", "vendor/f.c vendor/keep/g.c"),
    ("-g ?op.[ch] wanted", "top.c"),
];

fn home() -> Home {
    let home = Home::new();
    for file in FILES {
        home.write(
            &format!("all/one_1.0/{file}"),
            format!("int wanted; // {file}\n"),
        );
    }
    home.write("all/src-2.0/a.c", "int other;\n");
    home.ok("index --index I --each all");
    home
}

fn of_ripgrep(home: &Home, line: &str) -> Option<String> {
    let run = Command::new("rg")
        .args(["--no-config", "-l", "--sort=path"])
        .args(line.split(' '))
        .current_dir(home.path("all/one_1.0"))
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let names = String::from_utf8(run.stdout).unwrap();
    let names = names
        .lines()
        .map(|name| name.trim_start_matches("./").to_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    Some(names.join(" "))
}

fn of_trawl(home: &Home, place: &str, line: &str) -> String {
    let run = home.run(&format!("search {place} -l --sort path {line}"));
    run.check(line, i32::from(run.stdout.is_empty()), &[]);
    let names = run
        .text()
        .lines()
        .map(|name| name.strip_prefix("one_1.0/").unwrap());
    let mut names: Vec<&str> = names.collect();
    names.sort();
    names.join(" ")
}

#[test]
fn paths_types_and_globs_mean_what_they_mean_in_ripgrep() {
    let home = home();
    let server = home.start("serve --index I");
    for (line, expected) in TABLE {
        if let Some(theirs) = of_ripgrep(&home, line) {
            // Paths through a parent are printed as typed.
            assert_eq!(theirs.replace("src/../", ""), *expected, "rg {line}");
        }
        assert_eq!(of_trawl(&home, "--index I", line), *expected, "{line}");
        let remote = format!("--server {}", server.address);
        assert_eq!(of_trawl(&home, &remote, line), *expected, "{line}");
    }
}

#[test]
fn a_path_may_begin_with_the_name_of_the_package() {
    let home = home();
    for (line, expected) in [
        ("wanted one_1.0/src/a.c", "src/a.c"),
        ("wanted one/src/a.c", "src/a.c"),
        ("-g one_1.0/src/*.c wanted", "src/a.c"),
    ] {
        assert_eq!(of_trawl(&home, "--index I", line), expected, "{line}");
    }
    assert_eq!(
        of_trawl(&home, "--index I", "wanted one")
            .split(' ')
            .count(),
        12
    );
    let mut command = home.command("search --index I");
    let none = finish(command.args(["wanted", "words", "here"]));
    none.check(
        "words that are not quoted",
        1,
        &["quote them: 'wanted words here'"],
    );
}

#[test]
fn a_selection_keeps_options_and_filters_of_the_query() {
    let home = home();
    let print = |words: &[&str]| {
        let mut command = home.command("search --index I --no-line-number");
        String::from_utf8(finish(command.args(words)).ok()).unwrap()
    };
    assert_eq!(
        print(&[
            "-t",
            "c",
            "(wanted or other) path:/a.c$/ case:yes timeout:9s",
            "src"
        ]),
        "src-2.0/a.c:int other;\none_1.0/src/a.c:int wanted; // src/a.c\n"
    );
    assert_eq!(
        print(&["-tc", "--path", "^top", "-w", "-F", "wanted;"]),
        "one_1.0/top.c:int wanted; // top.c\n"
    );
    assert_eq!(
        print(&["-tc", "wanted count:1", "vendor"]).lines().count(),
        1
    );
    assert_eq!(print(&["-tc", "type:path top"]), "one_1.0/top.c\n");
    let run = home.run("search --index I -t c -e a(b");
    run.check(
        "an error in the query",
        2,
        &["unclosed group\n  a(b\n   ^\n"],
    );
}

#[test]
fn an_unknown_type_names_similar_ones() {
    let home = home();
    let refused = home.run("search --index I -t pyton wanted");
    refused.check(
        "a type",
        2,
        &["there is no file type pyton; did you mean python?"],
    );
    home.run("search --index I -T klingon wanted").check(
        "a type",
        2,
        &["there is no file type klingon", "-g '*.EXT'"],
    );
    home.run("search --index I -g src/ wanted").check(
        "a directory",
        2,
        &["-g 'src/' matches directories", "'src/**'"],
    );
    home.run("search --index I wanted ../elsewhere").check(
        "a path",
        2,
        &["../elsewhere: an index has no files outside"],
    );
}

#[test]
fn flags_that_cannot_work_on_an_index_say_what_to_write() {
    let home = Home::new();
    for (line, says) in [
        (
            "-v wanted",
            &["-v, --invert-match does not work", "'malloc -free'"][..],
        ),
        ("-U a", &["-U, --multiline", "leave it out"]),
        ("-P (?=a) ", &["-P, --pcre2", "look-around"]),
        ("--files", &["--files does not work", "'path:.'"]),
        ("-f patterns", &["-f, --file", "-e"]),
        ("-uu wanted", &["--unrestricted", "trawl index --help"]),
        ("-r new wanted", &["-r, --replace", "sed"]),
        ("--iglob *.C wanted", &["--iglob", "(?i)"]),
        ("wanted -M 80", &["--max-columns"]),
        ("-x wanted", &["--line-regexp", "^(?:PATTERN)$"]),
    ] {
        let refused = home.run(&format!("search {line}"));
        refused.check(line, 2, says);
        assert_eq!(refused.text(), "", "{line}");
    }
}
