//! `trawl search` with filters, equal for an index and a server.

use crate::home::Home;
use crate::http;

/// Every file matches; i3-wm is small.
fn home() -> Home {
    let home = Home::new();
    for package in ["all/i3-status_2.14", "all/linux-6.1"] {
        for file in 0..50 {
            let text = "int other;\n".repeat(1000) + "int wanted;\n";
            home.write(&format!("{package}/src/{file}.c"), text);
        }
    }
    home.write("all/i3-wm_4.22/src/main.c", "int wanted;\n");
    home.write("all/i3-wm_4.22/src/-x.py", "wanted = 1\n");
    home.write("all/i3-wm_4.22/vendor/a.c", "int wanted;\n");
    home.ok("index --index I --each all");
    home
}

/// Names, and standard error.
fn found(home: &Home, line: &str) -> (Vec<String>, String) {
    let run = home.run(line);
    let code = if run.stdout.is_empty() { 1 } else { 0 };
    run.check(line, code, &[]);
    let name = |line: &str| line.split(':').next().unwrap().to_owned();
    let mut names: Vec<String> = run.text().lines().map(name).collect();
    names.sort();
    (names, run.stderr)
}

#[test]
fn filters_select_the_same_files_from_index_and_server() {
    let home = home();
    let server = home.start("serve --index I");
    let [main, python, vendor] = [
        "i3-wm_4.22/src/main.c",
        "i3-wm_4.22/src/-x.py",
        "i3-wm_4.22/vendor/a.c",
    ];
    let table: [(&str, &[&str]); 11] = [
        ("--package wm$", &[python, main, vendor]),
        ("--package =i3-wm", &[python, main, vendor]),
        ("--package =i3-wm_4.22 --path -^vendor/", &[python, main]),
        (
            "--package -^linux$ --package -status",
            &[python, main, vendor],
        ),
        ("--package wm --lang c", &[main, vendor]),
        ("--package wm --lang -C", &[python]),
        ("--path \\-x", &[python]),
        ("--path=-=src/main.c --package=wm", &[python, vendor]),
        ("--package nowhere", &[]),
        ("--package wm --kind vendored", &[vendor]),
        (
            "--package wm --kind=-Generated --kind code",
            &[python, main],
        ),
    ];
    for (filters, expected) in table {
        let (local, _) = found(&home, &format!("search --index I {filters} wanted"));
        assert_eq!(local, expected, "{filters}");
        let line = format!("search --server {} {filters} wanted", server.address);
        assert_eq!(found(&home, &line).0, expected, "{filters}");
    }
    let (all, _) = found(&home, "search --index I wanted");
    assert_eq!(all.len(), 103);
}

#[test]
fn a_language_is_that_of_the_text_for_index_and_server() {
    let home = Home::new();
    for (path, text) in [
        ("p/hdr.h", "// -*- C++ -*-\nclass Wanted {};\n"),
        ("p/plain.h", "int Wanted;\n"),
        ("p/run", "#!/bin/sh\nWanted=1\n"),
        ("p/x.m", "% Wanted\nfunction y = f(x)\n"),
        ("p/x.inc", "Wanted\n"),
        ("p/.gitattributes", "*.inc linguist-language=PHP\n"),
    ] {
        home.write(path, text);
    }
    home.ok("index --index I p");
    let server = home.start("serve --index I");
    for (filters, expected) in [
        ("--lang c++", &["p/hdr.h"][..]),
        ("--lang c", &["p/plain.h"]),
        ("--lang sh --kind source", &["p/run"]),
        ("--lang matlab", &["p/x.m"]),
        ("--lang php", &["p/x.inc"]),
        ("--lang objective-c --lang unknown", &[]),
    ] {
        let (local, _) = found(&home, &format!("search --index I {filters} Wanted"));
        assert_eq!(local, expected, "{filters}");
        let line = format!("search --server {} {filters} Wanted", server.address);
        assert_eq!(found(&home, &line).0, expected, "{filters}");
    }
    let shown = String::from_utf8(home.ok("inspect --index I --document p/run")).unwrap();
    assert!(shown.contains("language     Shell"), "{shown}");
}

#[test]
fn filters_reduce_the_blocks_verified() {
    let home = home();
    let verified = |line: &str| {
        let (_, said) = found(&home, &format!("search --index I --explain {line}"));
        let (_, said) = said.split_once("blocks verified: ").expect("the cost");
        let (counts, _) = said.split_once(" (").expect("the share");
        let (verified, all) = counts.split_once(" of ").expect("two numbers");
        [verified, all].map(|number| number.replace(',', "").parse::<u32>().unwrap())
    };
    // Without trigrams, all three files are scanned, two of them equal.
    let [all, blocks] = verified("--mode regexp .");
    assert_eq!(all, blocks);
    assert_eq!(verified("--package =i3-wm --mode regexp ."), [2, blocks]);
    assert_eq!(verified("--package =i3-wm wanted"), [2, blocks]);
    assert_eq!(verified("--package wm --lang Python wanted"), [1, blocks]);
    assert_eq!(verified("--path ^vendor/ --mode regexp ."), [1, blocks]);
    assert_eq!(verified("--package nowhere --mode regexp ."), [0, blocks]);
}

#[test]
fn wrong_filters_are_errors() {
    let home = home();
    let server = home.start("serve --index I");
    let table: [(&str, &[&str]); 5] = [
        (
            "--path -a(b",
            &["by path: invalid regular expression: unclosed group\n  -a(b\n    ^\n"],
        ),
        (
            "--package ''",
            &["the filter by package: the value is empty"],
        ),
        (
            "--package \\w{999}",
            &["by package: too large", "FILTER_BYTES_MAX"],
        ),
        (
            "--lang Pyhton",
            &["there is no language Pyhton", "did you mean Python?"],
        ),
        (
            "--lang klingon",
            &["there is no language klingon", "C, C++ or Python"],
        ),
    ];
    for (filters, says) in table {
        for source in ["--index I", &format!("--server {}", server.address)] {
            let line = format!("search {source} {filters} wanted");
            let run = home.run(&line);
            run.check(&line, 2, says);
            assert_eq!(run.text(), "", "{line}");
        }
    }
}

#[test]
fn facets_count_kinds_and_the_directories_below_a_selected_one() {
    let home = home();
    let server = home.start("serve --index I");
    let facets = |query: &str| {
        let path = format!("/api/v2/facets?q=wanted&package=%3Di3-wm&{query}");
        let facets = http::get(&server.address, &path).json();
        let list = |key: &str, name: &str| -> Vec<(String, u64)> {
            let list = facets[key].as_array().unwrap().iter();
            let entry = |each: &serde_json::Value| {
                (
                    each[name].as_str().unwrap().to_owned(),
                    each["total"].as_u64().unwrap(),
                )
            };
            list.map(entry).collect()
        };
        (list("kinds", "kind"), list("directories", "directory"))
    };
    let counts = |counts: &[(&str, u64)]| -> Vec<(String, u64)> {
        counts
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect()
    };
    let (kinds, directories) = facets("");
    assert_eq!(kinds, counts(&[("source", 2), ("vendored", 1)]));
    assert_eq!(directories, counts(&[("src", 2), ("vendor", 1)]));
    let (kinds, directories) = facets("path=%5Esrc/");
    assert_eq!(
        (kinds, directories),
        (counts(&[("source", 2)]), counts(&[("src", 2)]))
    );
    let (kinds, _) = facets("kind=-source");
    assert_eq!(kinds, counts(&[("vendored", 1)]));
}
