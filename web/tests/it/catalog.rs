//! Packages, directories, files left out, and status.

use crate::site::{AsBackend, Site, eventually};
use serde_json::json;
use testkit::backend::{Document, Fake, Fault};
use web::model::{IndexPackages, PackageState, Status, Tree, TreeEntryKind, Why};

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

/// Two backends that both have `b_1`.
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
    let site = Site::new(fakes.iter().map(AsBackend::backend).collect());
    (site, fakes)
}

#[test]
fn a_file_is_found_by_the_name_of_its_package_without_version() {
    let a = ["alpha_1.0/src/a.c", "gamma_2/c.c", "gamma_2/both.c"];
    let fakes = [
        backend("one", 1, &a),
        backend("two", 2, &["gamma_3/d.c", "gamma_3/both.c"]),
    ];
    let site = Site::new(fakes.iter().map(|fake| fake.backend()).collect());
    for (package, path) in [("alpha", "src/a.c"), ("gamma", "c.c"), ("gamma", "d.c")] {
        let raw = site.get(&format!("/api/v2/file?package={package}&path={path}"));
        assert_eq!(
            (raw.status, &raw.body[..4]),
            (200, &b"arse"[..]),
            "{package}/{path}"
        );
        let page = site.get(&format!("/show?package={package}&path={path}"));
        assert_eq!(page.status, 200, "{package}/{path}");
    }
    let page = site.get("/show?package=alpha&path=src/a.c").text();
    assert!(
        page.contains("/raw/p/alpha_1.0/src/a.c"),
        "links have the version: {page}"
    );
    let several = "several versions of gamma have both.c: gamma_2, gamma_3";
    let api = site.get("/api/v2/file?package=gamma&path=both.c");
    assert_eq!(api.status, 400);
    assert_eq!(api.json()["detail"], several);
    assert_eq!(api.json()["hint"], "name the version: package=gamma_3");
    let page = site.get("/show?package=gamma&path=both.c");
    assert_eq!(page.status, 200, "a page shows the newest");
    assert!(
        page.text().contains("this is the file in gamma_3"),
        "{}",
        page.text()
    );
    for missing in ["alpha&path=c.c", "gamma&path=src/a.c", "beta&path=a.c"] {
        let answer = site.get(&format!("/api/v2/file?package={missing}"));
        assert_eq!(answer.status, 404, "{missing}");
    }
    let tree = site.get("/api/v2/tree?package=alpha");
    assert_eq!(tree.status, 200, "as in the tree");
}

#[test]
fn lists_packages_of_all_backends_once() {
    let (site, fakes) = two();
    let list =
        |query: &str| -> IndexPackages { site.read(&format!("/api/v2/index/packages{query}")) };
    let names = |list: &IndexPackages| -> Vec<String> {
        let packages = list.packages.iter();
        packages.map(|each| each.package.clone()).collect()
    };
    let expected = ["alpha_1.0", "b_1", "gamma_2", "gamma_3"];
    let all = list("");
    assert_eq!(names(&all), expected);
    assert_eq!((all.complete, &all.next), (true, &None));
    let first = &all.packages[0];
    assert_eq!((&first.name[..], first.documents), ("alpha", 5));
    assert_eq!(first.indexed, 1_700_000_000);
    let (mut found, mut after) = (Vec::new(), Some(String::new()));
    while let Some(name) = after {
        let part = list(&format!("?count=1&after={name}"));
        found.extend(names(&part));
        after = part.next;
    }
    assert_eq!(found, expected);
    assert_eq!(names(&list("?prefix=gamma")), expected[2..]);
    fakes[1].set_down(true);
    eventually("the loss of a backend", || {
        let part = list("");
        !part.complete && part.missing[0].backend == "two" && names(&part) == expected[..2]
    });
}

#[test]
fn lists_directories() {
    let (site, fakes) = two();
    let list = |query: &str| -> Tree { site.read(&format!("/api/v2/tree?package={query}")) };
    let tree = list("alpha");
    assert_eq!(tree.package, "alpha_1.0");
    let [readme, src] = &tree.entries[..] else {
        panic!("{tree:?}")
    };
    assert_eq!(
        (readme.kind, &readme.path[..]),
        (TreeEntryKind::File, "README")
    );
    assert_eq!(
        (src.kind, &src.path[..]),
        (TreeEntryKind::Directory, "src/")
    );
    for path in ["src", "src/"] {
        let tree = list(&format!("alpha_1.0&path={path}"));
        let [file, directory] = &tree.entries[..] else {
            panic!("{tree:?}")
        };
        assert_eq!((&file.name[..], file.lines), ("b.c", 3));
        assert_eq!(file.language.as_deref(), Some("C"));
        assert_eq!((&directory.name[..], directory.documents), ("x", Some(1)));
    }
    assert_eq!(list("gamma").package, "gamma_3", "the last version");
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
fn explains_why_a_path_is_not_found() {
    use PackageState::{Indexed, Skipped, Unknown};
    let (site, fakes) = two();
    let why = |query: &str| -> Why { site.read(&format!("/api/v2/skipped?{query}")) };
    let paths = |why: &Why| -> Vec<String> {
        let skipped = why.skipped.iter();
        skipped.map(|each| each.path.clone()).collect()
    };
    let package = why("package=alpha");
    assert_eq!(package.state, Some(Indexed));
    assert_eq!(package.versions.len(), 1);
    assert_eq!(package.versions[0].package, "alpha_1.0");
    assert_eq!(paths(&package), [".git", "src/pic.bin"]);
    let unknown = why("package=alpah");
    assert_eq!(
        (unknown.state, &unknown.similar[..]),
        (Some(Unknown), &["alpha".to_owned()][..])
    );
    let file = why("package=alpha&path=src/b.c");
    assert_eq!(
        (file.state, file.language.as_deref()),
        (Some(Indexed), Some("C"))
    );
    assert_eq!(file.hash.map(|hash| hash.len()), Some(64));
    assert_eq!(why("package=alpha&path=src/").state, Some(Indexed));
    let left_out = site
        .get("/api/v2/skipped?package=alpha&path=src/pic.bin")
        .json();
    assert_eq!(left_out["state"], json!("skipped"));
    assert_eq!(
        left_out["skipped"][0],
        json!({
            "package": "alpha_1.0", "path": "src/pic.bin", "reason": "ignored",
            "words": "excluded by .gitignore:1:*.bin", "rule": ".gitignore:1:*.bin",
        })
    );
    let inside = why("package=alpha&path=.git/objects/12");
    assert_eq!(inside.state, Some(Skipped));
    assert_eq!(inside.skipped[0].words, "git's own data");
    let unknown = why("package=alpha&path=src/c.c");
    assert_eq!(
        (unknown.state, &unknown.similar[..]),
        (Some(Unknown), &["src/b.c".to_owned()][..])
    );
    assert_eq!(paths(&why("")).len(), 2);
    assert_eq!(site.get("/api/v2/skipped?path=a").status, 400);
    // It may be on the lost backend.
    fakes[1].set_down(true);
    eventually("the loss of a backend", || {
        site.get("/api/v2/skipped?package=alpah").status == 503
    });
    assert_eq!(why("package=alpha&path=src/b.c").state, Some(Indexed));
    assert_eq!(why("package=alpha").missing[0].backend, "two");
}

#[test]
fn reports_the_status_of_the_index() {
    let (site, fakes) = two();
    // A search waits for backends; the status does not.
    let generation = site.search("arse")["generation"].clone();
    let read = || -> Status { site.read("/api/v2/status") };
    let status = read();
    assert!(status.complete);
    assert_eq!((status.shards, status.documents), (2, 9));
    assert_eq!(status.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(json!(status.generation), generation);
    let backend = &status.backends[0];
    for (updated, age_s) in [
        (status.updated, status.age_s),
        (backend.updated, backend.age_s),
    ] {
        assert_eq!(updated, Some(1_600_000_000));
        assert!(age_s.unwrap() > 100_000_000);
    }
    fakes[1].set_down(true);
    eventually("the loss of a backend", || {
        let status = read();
        let lost = &status.backends[1];
        !status.complete && !lost.connected && lost.reason.is_some()
    });
}

#[test]
fn ignores_names_of_other_directories() {
    let fake = backend("one", 1, &["alpha_1.0/src/b.c"]);
    let site = Site::new(vec![fake.backend()]);
    let path = "/api/v2/skipped?package=alpha&path=src/c.c";
    assert_eq!(site.get(path).json()["similar"], json!(["src/b.c"]));
    fake.set(Fault::Astray);
    let why = site.get(path);
    assert_eq!((why.status, &why.json()["similar"]), (200, &json!([])));
    assert_eq!(site.get("/api/v2/tree?package=alpha&path=src").status, 200);
}
