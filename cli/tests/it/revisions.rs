//! Revisions in queries, answers, links, files and look-ups.

use crate::commits::git;
use crate::home::Home;
use crate::http::get;
use crate::metrics;
use serde_json::Value;

/// `src/tool` with branches and tags: `a.c` differs in all three, `b.c` in none, `old.c` is only in
/// v1.
fn home() -> Home {
    let home = Home::new();
    home.write("src/tool/a.c", "int wanted_v1;\n");
    home.write("src/tool/b.c", "int same;\n");
    home.write("src/tool/old.c", "int old;\n");
    git(&home, "src/tool", &["init", "-q", "-b", "main"]);
    commit(&home, "first");
    git(&home, "src/tool", &["tag", "v1"]);
    git(&home, "src/tool", &["rm", "-q", "old.c"]);
    home.write("src/tool/a.c", "int wanted_main;\n");
    commit(&home, "second");
    git(&home, "src/tool", &["checkout", "-q", "-b", "topic/<b>"]);
    home.write("src/tool/a.c", "int wanted_topic;\n");
    commit(&home, "third");
    git(&home, "src/tool", &["checkout", "-q", "main"]);
    home.ok("index --index I --git src/tool --ref all");
    home
}

fn commit(home: &Home, message: &str) {
    git(home, "src/tool", &["add", "."]);
    git(home, "src/tool", &["commit", "-q", "-m", message]);
}

fn id(home: &Home, revision: &str) -> String {
    git(home, "src/tool", &["rev-parse", revision])
}

fn json(address: &str, path: &str) -> Value {
    let reply = get(address, path);
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.json()
}

fn texts(address: &str, query: &str) -> Vec<String> {
    let page = json(address, &format!("/api/v2/search?q={query}"));
    let matches = page["matches"].as_array().unwrap().iter();
    let mut texts: Vec<String> = matches
        .map(|it| it["text"].as_str().unwrap().to_owned())
        .collect();
    texts.sort();
    texts
}

#[test]
fn a_query_without_a_filter_searches_the_default_revision_and_says_so() {
    let home = home();
    let server = home.start("serve --index I");
    let page = json(&server.address, "/api/v2/search?q=wanted");
    assert_eq!(page["total"], 1);
    let found = &page["matches"][0];
    assert_eq!(found["text"], "int wanted_main;");
    assert_eq!(found["revisions"], serde_json::json!(["main"]));
    assert_eq!(found["revision_count"], 1);
    assert_eq!(found["commit"], id(&home, "main"));
    let notice = page["notices"][0]["reason"].as_str().unwrap();
    assert!(notice.contains("only the default revision"), "{notice}");
    let page = json(&server.address, "/api/v2/search?q=wanted+rev:main");
    assert_eq!(page["notices"], serde_json::json!([]));
    assert_eq!(page["interpreted_as"], "wanted rev:main");
}

#[test]
fn a_search_that_finds_nothing_says_that_other_revisions_were_not_searched() {
    let home = home();
    let server = home.start("serve --index I");
    let here = [
        "--index I".to_owned(),
        format!("--server {}", server.address),
    ];
    for place in &here {
        let nothing = home.run(&format!("search {place} wanted_v1"));
        assert_eq!(nothing.code, Some(1), "{place}");
        let note = "trawl: note: only the default revision of each git repository is searched; for others add \
                    rev:NAME";
        assert!(
            nothing.stderr.starts_with(note),
            "{place}: {}",
            nothing.stderr
        );
        for quiet in ["wanted_main", "wanted_v1 --rev v1", "wanted_none --rev *"] {
            let found = home.run(&format!("search {place} {quiet}"));
            assert!(!found.stderr.contains("note:"), "{place}: {}", found.stderr);
        }
    }
}

#[test]
fn filters_select_revisions_by_name_glob_and_commit() {
    let home = home();
    let server = home.start("serve --index I");
    let v1 = id(&home, "v1");
    let [old, main, topic] = ["int wanted_v1;", "int wanted_main;", "int wanted_topic;"];
    for (filter, expected) in [
        ("rev:v1", vec![old]),
        ("rev:refs/tags/v1", vec![old]),
        (&format!("rev:{}", &v1[..10]), vec![old]),
        ("rev:HEAD", vec![main]),
        ("rev:topic/*", vec![topic]),
        ("rev:*", vec![main, topic, old]),
        ("branch:*", vec![main, topic]),
        ("branch:v1", vec![]),
        ("(rev:v1+or+rev:main)", vec![main, old]),
        ("-rev:main", vec![topic, old]),
        ("rev:none", vec![]),
    ] {
        assert_eq!(
            texts(&server.address, &format!("wanted+{filter}")),
            expected,
            "{filter}"
        );
    }
    assert_eq!(texts(&server.address, "wanted&rev=v1"), [old]);
    assert_eq!(
        texts(&server.address, "wanted&rev=-v1&branch=*"),
        [main, topic]
    );
    let same = json(&server.address, "/api/v2/search?q=same+rev:*");
    assert_eq!(same["total"], 1, "a text in three revisions is one match");
    let names = serde_json::json!(["main", "topic/<b>", "v1"]);
    assert_eq!(same["matches"][0]["revisions"], names);
    let refused = get(&server.address, "/api/v2/search?q=wanted+rev:%5Ev1");
    assert_eq!((refused.status, &refused.json()["at"]), (400, &11.into()));
}

#[test]
fn texts_of_one_path_are_groups_of_their_own_and_keep_their_order() {
    let home = home();
    let server = home.start("serve --index I");
    let path = "/api/v2/search?q=wanted+rev:*&group=document";
    let page = json(&server.address, path);
    let groups = page["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 3, "{page}");
    for group in groups {
        assert_eq!(
            (&group["path"], &group["total"]),
            (&"a.c".into(), &1.into())
        );
        assert_eq!(group["revision_count"], 1);
        assert_eq!(group["commit"], group["matches"][0]["commit"]);
    }
    let again = json(&server.address, path);
    assert_eq!(again["groups"], page["groups"]);
}

#[test]
fn exports_and_commands_name_revisions() {
    let home = home();
    let server = home.start("serve --index I");
    let export = |format: &str| {
        let path = format!("/api/v2/export?q=wanted+rev:v1&format={format}");
        get(&server.address, &path).text().to_owned()
    };
    let v1 = id(&home, "v1");
    let line: Value = serde_json::from_str(&export("jsonl")).unwrap();
    assert_eq!(
        (&line["commit"], &line["revisions"][0]),
        (&v1.clone().into(), &"v1".into())
    );
    let csv = export("csv");
    assert!(
        csv.contains("text_base64,commit,revision_count,revisions,kinds\r\n"),
        "{csv}"
    );
    assert!(csv.ends_with(&format!(",,,,{v1},1,v1,\r\n")), "{csv}");
    assert_eq!(export("text"), "tool/a.c:1:int wanted_v1;\n");
    for place in [
        format!("--server {}", server.address),
        "--index I".to_owned(),
    ] {
        let run = |flags: &str| {
            let line = format!("search {place} wanted {flags}");
            String::from_utf8(home.run(&line).stdout).unwrap()
        };
        assert_eq!(run("--rev v1"), "tool/a.c:1:int wanted_v1;\n");
        assert_eq!(
            run("--rev v1 --heading"),
            "tool/a.c (v1)\n1:int wanted_v1;\n"
        );
        let begin: Value =
            serde_json::from_str(run("--rev v1 --json").lines().next().unwrap()).unwrap();
        assert_eq!(begin["data"]["commit"], v1);
        assert_eq!(begin["data"]["revisions"], serde_json::json!(["v1"]));
    }
}

#[test]
fn pages_name_revisions_and_link_to_the_commit() {
    let home = home();
    let server = home.start("serve --index I");
    let page = |address: &str| {
        crate::poll("the page of an answer", crate::WAIT_MAX, || {
            let page = get(&server.address, address);
            let is_running = page.text().contains("data-events-href");
            (!is_running).then(|| page.text().to_owned())
        })
    };
    let html = page("/search?q=same+rev:*");
    for part in [
        "\">main</a>",
        "\">topic/&#60;b&#62;</a>",
        &format!("&#38;rev={}", id(&home, "main")),
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    let html = page("/search?q=same");
    assert!(html.contains("only the default revision"), "{html}");
}

#[test]
fn a_file_is_that_of_its_revision_or_the_answer_says_which_has_it() {
    let home = home();
    let server = home.start("serve --index I");
    let file = |rest: &str| {
        get(
            &server.address,
            &format!("/api/v2/file?package=tool&path={rest}"),
        )
    };
    let v1 = id(&home, "v1");
    for (rest, text) in [
        ("a.c", "int wanted_main;\n"),
        ("a.c&rev=", "int wanted_main;\n"),
        ("a.c&rev=HEAD", "int wanted_main;\n"),
        ("a.c&rev=v1", "int wanted_v1;\n"),
        (&format!("a.c&rev={v1}"), "int wanted_v1;\n"),
        (&format!("a.c&rev={}", &v1[..7]), "int wanted_v1;\n"),
        ("old.c&rev=v1", "int old;\n"),
    ] {
        let reply = file(rest);
        assert_eq!((reply.status, reply.text()), (200, text), "{rest}");
    }
    let missing = file("old.c");
    assert_eq!(missing.status, 404);
    assert_eq!(missing.json()["newest"]["rev"], "v1");
    let unknown = file("a.c&rev=mian");
    assert_eq!(
        (unknown.status, &unknown.json()["candidates"][0]),
        (404, &"main".into())
    );
    let gone = file("old.c&rev=0123456789");
    assert_eq!(gone.status, 410, "{}", gone.text());
    let newest = &gone.json()["newest"];
    assert_eq!(newest["rev"], "v1");
    let reply = get(&server.address, newest["link"].as_str().unwrap());
    assert_eq!(reply.text(), "int old;\n");
    // The repository has unindexed revisions.
    let first = file("a.c&rev=HEAD~1");
    assert_eq!((first.status, first.text()), (200, "int wanted_v1;\n"));
    assert_eq!(file("none.c&rev=HEAD~1").status, 404);
    let page = get(&server.address, "/show?package=tool&path=a.c&rev=HEAD~1");
    assert!(page.text().contains("wanted_v1"), "{}", page.text());
    std::fs::rename(home.path("src/tool"), home.path("src/moved")).unwrap();
    assert_eq!(file("a.c&rev=main~1").status, 400);
    std::fs::rename(home.path("src/moved"), home.path("src/tool")).unwrap();
    let page = get(
        &server.address,
        "/show?package=tool&path=old.c&rev=0123456789",
    );
    assert_eq!(page.status, 200);
    assert!(
        page.text()
            .contains("is not indexed, or no longer; this is the file in v1")
    );
    assert!(page.text().contains("int</") || page.text().contains("int old;"));
    let page = get(&server.address, "/show?package=tool&path=a.c&rev=v1&line=1");
    assert!(
        page.text().contains("wanted_v1") && page.text().contains(&v1),
        "{}",
        page.text()
    );
}

#[test]
fn a_backend_without_repositories_answers_for_indexed_revisions() {
    let home = home();
    let server = home.start("serve --index I");
    let v1 = id(&home, "v1");
    for rev in ["v1", "refs/tags/v1", "v1%5E%7Bcommit%7D", &v1, &v1[..8]] {
        let commit = json(
            &server.address,
            &format!("/api/v2/commit?repo=tool&rev={rev}"),
        );
        assert_eq!(commit["id"], v1, "{rev}");
    }
    let default = json(&server.address, "/api/v2/commit?repo=tool");
    assert_eq!(
        (&default["id"], &default["subject"]),
        (&id(&home, "main").into(), &"second".into())
    );
    let refs = json(&server.address, "/api/v2/refs?repo=tool");
    let names: Vec<_> = refs["refs"].as_array().unwrap().iter().collect();
    assert_eq!(names.len(), 3);
    assert!(names.iter().all(|it| it["indexed"] == true), "{refs}");
    let check = |path: &str, status| {
        let reply = get(&server.address, &format!("/api/v2/{path}"));
        assert_eq!(reply.status, status, "{path}: {}", reply.text());
    };
    check("commit?repo=tool&rev=mian", 404);
    check("commit?repo=tol", 404);
    // The rest is read from the repository at its recorded path.
    check("log?repo=tool", 200);
    check("commit?repo=tool&rev=HEAD~1", 200);
    std::fs::rename(home.path("src/tool"), home.path("away")).unwrap();
    check("log?repo=tool&rev=v1", 400);
    check("commit?repo=tool&rev=main~1", 400);
    std::fs::rename(home.path("away"), home.path("src/tool")).unwrap();
    let shown = home.run("commit --index I tool v1");
    shown.check("commit", 0, &[]);
    assert!(
        shown.text().starts_with(&format!("commit {v1}")),
        "{}",
        shown.text()
    );
    drop(server);
    let server = home.start("serve --index I --repos src");
    git(&home, "src/tool", &["branch", "later"]);
    let refs = json(&server.address, "/api/v2/refs?repo=tool");
    let later = refs["refs"].as_array().unwrap().iter();
    let indexed: Vec<_> = later.map(|it| it["indexed"] == true).collect();
    assert_eq!(indexed, [false, true, true, true], "{refs}");
}

#[test]
fn the_status_lists_repositories_and_how_far_behind_the_index_is() {
    let home = home();
    let server = home.start("serve --index I");
    let status = json(&server.address, "/api/v2/status");
    let repository = &status["repositories"][0];
    assert_eq!(
        (&repository["package"], &repository["default"]),
        (&"tool".into(), &"main".into())
    );
    assert_eq!(repository["revision_count"], 3);
    let main = &repository["revisions"][0];
    assert_eq!(
        (&main["name"], &main["commit"]),
        (&"refs/heads/main".into(), &id(&home, "main").into())
    );
    assert_eq!(main["behind"], 0);
    for text in ["one", "two"] {
        home.write("src/tool/b.c", text);
        commit(&home, text);
    }
    let status = json(&server.address, "/api/v2/status");
    assert_eq!(status["repositories"][0]["revisions"][0]["behind"], 2);
    let shown = home.run("status --index I");
    shown.check("status", 0, &[]);
    for part in [
        "tool: 3 revisions, indexed",
        "refs/heads/main at",
        "2 commits behind",
        "up to date",
    ] {
        assert!(shown.text().contains(part), "{part} in {}", shown.text());
    }
    std::fs::rename(home.path("src/tool"), home.path("src/moved")).unwrap();
    let status = json(&server.address, "/api/v2/status");
    assert_eq!(
        status["repositories"][0]["revisions"][0]["behind"],
        Value::Null
    );
}

#[test]
fn ten_and_a_thousand_results_make_the_same_number_of_look_ups() {
    let home = Home::new();
    let line = "int wanted;\n";
    home.write("src/tool/few.c", line.repeat(10));
    home.write("src/tool/many.h", line.repeat(1000));
    git(&home, "src/tool", &["init", "-q", "-b", "main"]);
    commit(&home, "first");
    home.ok("index --index I --git src/tool");
    let server = home.start("serve --index I --repos src");
    let sum = || {
        let counters = metrics::counters(&server.address);
        let value = |name: &str| {
            let name = format!("trawl_frontend_query_lookups_{name}");
            counters.get(&name).copied().unwrap_or_default()
        };
        (value("count"), value("sum"))
    };
    for (path, matches) in [("few.c", 10), ("many.h", 1000)] {
        let before = sum();
        let page = format!("/api/v2/search?q=wanted&path={path}&per_page=1000");
        let page = json(&server.address, &page);
        let found = page["matches"].as_array().unwrap();
        assert_eq!(found.len(), matches);
        assert!(
            found
                .iter()
                .all(|it| it["commit"] == id(&home, "main").as_str())
        );
        let after = sum();
        assert_eq!(
            (after.0 - before.0, after.1 - before.1),
            (1, 0),
            "one search, no look-up"
        );
    }
}
