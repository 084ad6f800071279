//! Symbols of SCIP files: definitions and references of other packages, of those that a caller may
//! see, and of texts that did not change.

use crate::home::{Home, Server};
use crate::http::get_with;
use protobuf::Message;
use scip::types::{Document, Index, Occurrence, SymbolInformation};
use serde_json::Value;
use testkit::authorization::FakeService;

const ADD: &str = "npm a 1 `add.ts`/add().";
const OTHER: &str = "npm a 1 `other.ts`/add().";

fn document(path: &str, occurrences: &[([i32; 3], &str, i32)]) -> Document {
    let occurrence = |&(range, symbol, symbol_roles): &([i32; 3], &str, i32)| Occurrence {
        range: range.to_vec(),
        symbol: symbol.to_owned(),
        symbol_roles,
        ..Occurrence::default()
    };
    Document {
        relative_path: path.to_owned(),
        occurrences: occurrences.iter().map(occurrence).collect(),
        symbols: vec![SymbolInformation {
            symbol: ADD.to_owned(),
            documentation: vec!["Adds <b>one</b>.".to_owned()],
            ..SymbolInformation::default()
        }],
        ..Document::default()
    }
}

fn scip(documents: Vec<Document>) -> Vec<u8> {
    let index = Index {
        documents,
        ..Index::default()
    };
    index.write_to_bytes().unwrap()
}

/// Packages `a` with two functions `add`, `b` that uses one, and `c` without a SCIP file.
fn home() -> Home {
    let home = Home::new();
    home.write("src/a/add.ts", "export function add() {}\n");
    home.write("src/a/other.ts", "'🦀'; function add() {}\nadd();\n");
    home.write("src/b/use.ts", "add();\n");
    home.write("src/c/guess.ts", "add(); // guess\n");
    let of_a = scip(vec![
        document("add.ts", &[([0, 16, 19], ADD, 1)]),
        document(
            "other.ts",
            &[([0, 15, 18], OTHER, 1), ([1, 0, 3], OTHER, 0)],
        ),
        document("../b/use.ts", &[([0, 0, 3], OTHER, 0)]),
    ]);
    home.write("src/a/index.scip", of_a);
    home.write(
        "b.scip",
        scip(vec![document("use.ts", &[([0, 0, 3], ADD, 0)])]),
    );
    home
}

/// Places of the symbol at the start of `b/use.ts`, or as the `position` says.
fn places(server: &Server, what: &str, position: &str, cookie: &str) -> Value {
    let path = format!("/api/v2/{what}?{position}");
    let answer = get_with(&server.address, &path, &[("cookie", cookie)]);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn shown(places: &Value) -> Vec<String> {
    let places = places["places"].as_array().unwrap().iter();
    let shown = places.map(|it| {
        let [package, path] = ["package", "path"].map(|key| it[key].as_str().unwrap());
        let (line, column, precise) = (&it["line"], &it["column"], &it["precise"]);
        format!("{package}/{path}:{line}:{column} {precise}")
    });
    shown.collect()
}

const USE: &str = "package=b&path=use.ts&line=1&column=3";

#[test]
fn precise_places_win_over_guesses_as_long_as_the_text_is_the_same() {
    let home = home();
    let built = home.run("index --index I --each src");
    built.check(
        "index",
        0,
        &[
            "a/index.scip: symbols of 2 of 3 documents in a; 1 left out",
            ": ../b/use.ts",
        ],
    );
    home.run("index --index I --scip b.scip src/b").check(
        "--scip",
        0,
        &["b.scip: symbols of 1 of 1 document in b"],
    );
    home.ok("index --index I --each src");
    let server = home.start("serve --index I");
    let definitions = places(&server, "definitions", USE, "");
    assert_eq!(shown(&definitions), ["a/add.ts:1:16 true"]);
    let first = &definitions["places"][0];
    assert_eq!(first["documentation"], "Adds <b>one</b>.");
    assert_eq!(
        (&first["kind"], &first["text"]),
        (&"function".into(), &"export function add() {}".into())
    );
    assert_eq!(
        (&definitions["total"], &definitions["total_relation"]),
        (&1.into(), &"eq".into())
    );
    let uses = places(
        &server,
        "references",
        "package=a&path=add.ts&line=1&column=17",
        "",
    );
    assert_eq!(shown(&uses), ["b/use.ts:1:0 true", "c/guess.ts:1:0 false"]);
    let own = places(
        &server,
        "references",
        "package=a&path=other.ts&line=1&column=17",
        "",
    );
    assert_eq!(shown(&own), ["a/other.ts:2:0 true", "c/guess.ts:1:0 false"]);
    let guessed = places(&server, "definitions", "package=b&path=use.ts&name=add", "");
    assert_eq!(shown(&guessed).len(), 2);
    assert!(shown(&guessed)[0].ends_with(" false"));
    drop(server);
    home.write("src/b/use.ts", "\nadd();\n");
    home.ok("index --index I --each src");
    let server = home.start("serve --index I");
    let changed = places(
        &server,
        "definitions",
        "package=b&path=use.ts&line=2&column=0",
        "",
    );
    assert_eq!(
        shown(&changed),
        ["a/add.ts:1:16 false", "a/other.ts:1:17 false"]
    );
}

#[test]
fn places_of_hidden_packages_are_neither_shown_nor_counted() {
    let home = home();
    home.ok("index --index I --each src");
    home.ok("index --index I --scip b.scip src/b");
    let service = FakeService::start();
    service.allow("ann", &["b"]);
    let url = service.url();
    let server = home.start(&format!("serve --index I --auth-url {url} --public a"));
    let uses = |cookie| {
        let position = "package=a&path=add.ts&line=1&column=17";
        let uses = places(&server, "references", position, cookie);
        (shown(&uses), uses["total"].clone())
    };
    assert_eq!(uses("bob"), (Vec::new(), 0.into()));
    assert_eq!(
        uses("ann"),
        (vec!["b/use.ts:1:0 true".to_owned()], 1.into())
    );
}

#[test]
fn a_scip_file_that_cannot_be_used_is_named() {
    let home = home();
    home.write("bad.scip", "no protocol buffer");
    home.run("index --index I --scip bad.scip src/b").check(
        "bad",
        2,
        &["bad.scip: not a SCIP file"],
    );
    home.run("index --index I --scip gone.scip src/b")
        .check("gone", 2, &["gone.scip"]);
    let outside = home.run("index --index I --each src --scip b.scip");
    outside.check(
        "outside",
        2,
        &["b.scip: this SCIP file is of none of the given packages"],
    );
}
