//! What there is: packages, directories, what was left out, and how old all that is.

use crate::site::{Site, eventually};
use fake_backend::{Document, Fake, Fault};
use serde_json::{Value, json};

fn document(name: &str) -> Document {
    let (package, path) = name.split_once('/').unwrap();
    Document {
        package: package.into(),
        path: path.into(),
        lines: vec![b"arse".to_vec(); 3],
        split: false,
    }
}

fn backend(name: &str, shard: u8, names: &[&str]) -> std::sync::Arc<Fake> {
    let documents = names.iter().map(|name| document(name)).collect();
    Fake::new(name, vec![(shard, documents)])
}

/// Two backends, which both have `b_1`.
fn two() -> (Site, [std::sync::Arc<Fake>; 2]) {
    let a = [
        "alpha_1.0/src/x/a.c",
        "alpha_1.0/src/b.c",
        "alpha_1.0/README",
        "alpha_1.0/src/pic.bin",
        "alpha_1.0/.git",
        "b_1/only.c",
    ];
    let fakes = [
        backend("one", 1, &a),
        backend("two", 2, &["b_1/only.c", "gamma_2/c.c", "gamma_3/d.c"]),
    ];
    let site = Site::new(fakes.iter().map(Fake::backend).collect());
    (site, fakes)
}

fn texts(list: &Value, name: &str) -> Vec<String> {
    let each = list.as_array().unwrap().iter();
    each.map(|each| each[name].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn packages_of_all_backends_are_listed_once_and_page_by_page() {
    let (site, fakes) = two();
    let all = site.get("/api/v2/index/packages").json();
    let names = ["alpha_1.0", "b_1", "gamma_2", "gamma_3"];
    assert_eq!(texts(&all["packages"], "package"), names);
    assert_eq!(
        (&all["complete"], &all["next"]),
        (&json!(true), &json!(null))
    );
    let first = &all["packages"][0];
    assert_eq!(
        (&first["name"], &first["documents"]),
        (&json!("alpha"), &json!(5))
    );
    assert_eq!(first["indexed"], json!(1_700_000_000));
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let part = site
            .get(&format!("/api/v2/index/packages?count=1&after={after}"))
            .json();
        found.extend(texts(&part["packages"], "package"));
        match part["next"].as_str() {
            Some(next) => next.clone_into(&mut after),
            None => break,
        }
    }
    assert_eq!(found, names);
    let some = site.get("/api/v2/index/packages?prefix=gamma").json();
    assert_eq!(texts(&some["packages"], "package"), names[2..]);
    fakes[1].set_down(true);
    eventually("the loss of a backend", || {
        let part = site.get("/api/v2/index/packages").json();
        part["complete"] == json!(false)
            && part["missing"][0]["backend"] == json!("two")
            && texts(&part["packages"], "package") == names[..2]
    });
}

#[test]
fn a_tree_is_looked_at_directory_by_directory() {
    let (site, fakes) = two();
    let tree = site.get("/api/v2/tree?package=alpha").json();
    assert_eq!(tree["package"], json!("alpha_1.0"));
    assert_eq!(texts(&tree["entries"], "kind"), ["file", "directory"]);
    assert_eq!(texts(&tree["entries"], "path"), ["README", "src/"]);
    for path in ["src", "src/"] {
        let tree = site
            .get(&format!("/api/v2/tree?package=alpha_1.0&path={path}"))
            .json();
        assert_eq!(texts(&tree["entries"], "name"), ["b.c", "x"]);
        let file = &tree["entries"][0];
        assert_eq!(
            (&file["lines"], &file["language"]),
            (&json!(3), &json!("C"))
        );
        assert_eq!(tree["entries"][1]["documents"], json!(1));
    }
    let versions = site.get("/api/v2/tree?package=gamma").json();
    assert_eq!(versions["package"], json!("gamma_3"), "the last version");
    for (path, status, says) in [
        ("?package=alpa", 404, "did you mean alpha?"),
        ("?package=zzz", 404, "/api/v2/index/packages"),
        ("?package=alpha&path=scr", 404, "/api/v2/skipped"),
        ("", 400, "package is missing"),
        ("?package=alpha&count=0", 400, "count=0"),
        ("?package=alpha&after=%2B", 400, "after is malformed"),
        ("?package=alpha&depth=1", 400, "unknown parameter depth"),
    ] {
        let answer = site.get(&format!("/api/v2/tree{path}"));
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.text().contains(says), "{path}: {}", answer.text());
        assert_eq!(answer.header("content-type"), "application/problem+json");
    }
    fakes[1].set_down(true);
    eventually("the loss of a backend", || {
        site.get("/api/v2/tree?package=gamma").status == 503
    });
    assert_eq!(site.get("/api/v2/tree?package=alpha").status, 200);
}

#[test]
fn why_something_is_not_found_is_said() {
    let (site, fakes) = two();
    let why = |query: &str| site.get(&format!("/api/v2/skipped?{query}")).json();
    let package = why("package=alpha");
    assert_eq!(package["state"], json!("indexed"));
    assert_eq!(texts(&package["versions"], "package"), ["alpha_1.0"]);
    assert_eq!(texts(&package["skipped"], "path"), [".git", "src/pic.bin"]);
    let unknown = why("package=alpah");
    assert_eq!(
        (&unknown["state"], &unknown["similar"]),
        (&json!("unknown"), &json!(["alpha"]))
    );
    let file = why("package=alpha&path=src/b.c");
    assert_eq!(
        (&file["state"], &file["language"]),
        (&json!("indexed"), &json!("C"))
    );
    assert_eq!(file["hash"], json!("ab".repeat(32)));
    assert_eq!(why("package=alpha&path=src/")["state"], json!("indexed"));
    let left_out = why("package=alpha&path=src/pic.bin");
    assert_eq!(left_out["state"], json!("skipped"));
    assert_eq!(
        left_out["skipped"][0],
        json!({
            "package": "alpha_1.0", "path": "src/pic.bin", "reason": "ignored",
            "words": "excluded by .gitignore:1:*.bin", "rule": ".gitignore:1:*.bin",
        })
    );
    let inside = why("package=alpha&path=.git/objects/12");
    assert_eq!(inside["state"], json!("skipped"));
    assert_eq!(inside["skipped"][0]["words"], json!("git's own data"));
    let unknown = why("package=alpha&path=src/c.c");
    assert_eq!(
        (&unknown["state"], &unknown["similar"]),
        (&json!("unknown"), &json!(["src/b.c"]))
    );
    assert_eq!(texts(&why("")["skipped"], "path").len(), 2);
    assert_eq!(site.get("/api/v2/skipped?path=a").status, 400);
    // What may be elsewhere is not called unknown.
    fakes[1].set_down(true);
    eventually("the loss of a backend", || {
        site.get("/api/v2/skipped?package=alpah").status == 503
    });
    assert_eq!(why("package=alpha&path=src/b.c")["state"], json!("indexed"));
    assert_eq!(why("package=alpha")["missing"][0]["backend"], json!("two"));
}

#[test]
fn the_status_says_what_is_searched_and_how_old_it_is() {
    let (site, fakes) = two();
    // A search waits for backends; this does not.
    let generation = site.get("/api/v2/search?q=arse").json()["generation"].clone();
    let status = site.get("/api/v2/status").json();
    assert_eq!(status["complete"], json!(true));
    assert_eq!(
        (&status["shards"], &status["documents"]),
        (&json!(2), &json!(9))
    );
    assert_eq!(status["version"], json!(env!("CARGO_PKG_VERSION")));
    assert_eq!(status["generation"], generation);
    for at in [&status, &status["backends"][0]] {
        assert_eq!(at["updated"], json!(1_600_000_000));
        assert!(at["age_s"].as_u64().unwrap() > 100_000_000);
    }
    fakes[1].set_down(true);
    eventually("the loss of a backend", || {
        let status = site.get("/api/v2/status").json();
        let lost = &status["backends"][1];
        status["complete"] == json!(false)
            && lost["connected"] == json!(false)
            && lost["reason"].is_string()
    });
}

#[test]
fn names_that_are_not_in_the_directory_are_not_proposed() {
    let fake = backend("one", 1, &["alpha_1.0/src/b.c"]);
    let site = Site::new(vec![fake.backend()]);
    let path = "/api/v2/skipped?package=alpha&path=src/c.c";
    assert_eq!(site.get(path).json()["similar"], json!(["src/b.c"]));
    fake.set(Fault::Astray);
    let why = site.get(path);
    assert_eq!((why.status, &why.json()["similar"]), (200, &json!([])));
    assert_eq!(site.get("/api/v2/tree?package=alpha&path=src").status, 200);
}
