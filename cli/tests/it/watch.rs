//! `trawl serve --watch`: changes are found without a restart.

use crate::commits::git;
use crate::home::{Home, Server};
use crate::http::get;
use crate::{WAIT_MAX, poll};
use std::fs;
use std::time::Duration;

/// Disables rescans, so notifications find changes.
const NO_RESCAN: &str = "--rescan 86400";

/// The answer must be complete.
fn wait_for(server: &Server, word: &str, matches: u64) {
    let what = format!("{matches} matches of {word}");
    poll(&what, WAIT_MAX, || {
        let reply = get(&server.address, &format!("/api/v2/search?q={word}"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        let answer = reply.json();
        assert_eq!(answer["complete"], true, "{answer}");
        (answer["total"] == matches).then_some(())
    });
}

#[test]
fn a_saved_file_is_found_and_a_removed_one_is_not() {
    let home = Home::new();
    home.write("src/a.c", "int first;\n");
    let server = home.start(&format!("serve --watch {NO_RESCAN} src"));
    wait_for(&server, "first", 1);
    home.write("src/a.c", "int second;\n");
    wait_for(&server, "second", 1);
    wait_for(&server, "first", 0);
    home.write("src/deep/er/b.c", "int second;\n");
    wait_for(&server, "second", 2);
    // New directories are watched.
    home.write("src/deep/er/c.c", "int third;\n");
    wait_for(&server, "third", 1);
    fs::remove_dir_all(home.path("src/deep")).unwrap();
    wait_for(&server, "second", 1);
    fs::rename(home.path("src/a.c"), home.path("src/z.c")).unwrap();
    wait_for(&server, "path:z.c", 1);
    server.check_no_panic();
}

/// Waits for all earlier changes.
fn fresh(server: &Server, word: &str) -> u64 {
    let reply = get(
        &server.address,
        &format!("/api/v2/search?q={word}&wait=fresh"),
    );
    let answer = reply.json();
    assert_eq!(
        (&answer["complete"], &answer["pending"]),
        (&true.into(), &0.into()),
        "{answer}"
    );
    answer["total"].as_u64().unwrap()
}

#[test]
fn every_file_that_decides_what_is_searchable_is_watched() {
    let home = Home::new();
    home.write("tree/.gitignore", "*.gen\n");
    home.write("tree/src/.gitignore", "/build\n");
    home.write("tree/src/a.gen", "int generated;\n");
    home.write("tree/src/build/b.c", "int built;\n");
    home.write("tree/src/excluded.c", "int excluded;\n");
    git(&home, "tree", &["init", "-q", "-b", "main"]);
    let server = home.start(&format!("serve --watch {NO_RESCAN} tree/src"));
    let found = || ["generated", "built", "excluded"].map(|word| fresh(&server, word));
    assert_eq!(found(), [0, 0, 1]);
    git(&home, "tree", &["add", "-f", "src/a.gen"]);
    assert_eq!(found(), [1, 0, 1]);
    git(&home, "tree", &["rm", "-q", "--cached", "src/a.gen"]);
    assert_eq!(found(), [0, 0, 1]);
    home.write("tree/.git/info/exclude", "excluded.c\n");
    assert_eq!(found(), [0, 0, 0]);
    // Patterns above and in the source; its directory is watched, too.
    home.write("tree/.gitignore", "");
    assert_eq!(found(), [1, 0, 0]);
    home.write("tree/src/.gitignore", "");
    assert_eq!(found(), [1, 1, 0]);
    home.write("tree/src/build/c.c", "int built;\n");
    assert_eq!(found(), [1, 2, 0]);
    // The file is tracked.
    git(&home, "tree", &["add", "src/build/b.c"]);
    home.write("tree/src/.gitignore", "/build\n");
    assert_eq!(found(), [1, 1, 0]);
    home.write("tree/src/build/b.c", "int built; int generated;\n");
    assert_eq!(found(), [2, 1, 0]);
    fs::rename(home.path("tree/.git"), home.path("git")).unwrap();
    assert_eq!(found(), [2, 2, 1]);
    server.check_no_panic();
}

#[test]
fn an_answer_says_how_many_changed_files_it_lacks() {
    let home = Home::new();
    home.write("src/a.c", "int word_0;\n");
    let server = home.start(&format!("serve --watch {NO_RESCAN} src"));
    assert_eq!(fresh(&server, "word_0"), 1);
    let mut number = 0;
    let reply = poll("an answer that lacks a file", WAIT_MAX, || {
        number += 1;
        home.write("src/a.c", format!("int word_{number};\n"));
        let reply = get(&server.address, &format!("/api/v2/search?q=word_{number}"));
        (reply.json()["pending"] == 1).then_some(reply)
    });
    assert_eq!(reply.json()["complete"], true);
    // The page would change soon.
    assert_eq!(reply.header("etag"), "");
    assert_eq!(fresh(&server, &format!("word_{number}")), 1);
    home.write("src/b.c", "int other;\n");
    let url = format!("http://{}", server.address);
    let found = home.run(&format!("search --server {url} --fresh other"));
    assert_eq!(found.text(), "src/b.c:1:int other;\n");
    let page = poll("a page that says so", WAIT_MAX, || {
        number += 1;
        home.write("src/a.c", format!("int word_{number};\n"));
        let page = get(&server.address, "/search?q=other");
        page.text().contains("1 file has changed").then_some(page)
    });
    assert!(page.text().contains("wait=fresh"), "{}", page.text());
    let note = poll("a note of the command line", WAIT_MAX, || {
        number += 1;
        home.write("src/a.c", format!("int word_{number};\n"));
        let found = home.run(&format!("search --server {url} other"));
        found
            .stderr
            .contains("not searched yet")
            .then_some(found.stderr)
    });
    assert!(
        note.contains("1 file has changed and is not searched yet; --fresh"),
        "{note}"
    );
    let here = home.run("search --index I --fresh other");
    here.check("an index alone", 2, &["--fresh is for a server"]);
    server.check_no_panic();
}

#[test]
fn packages_come_and_go_while_they_are_watched() {
    let home = Home::new();
    home.write("src/one/a.c", "int wanted;\n");
    let server = home.start(&format!("serve --watch {NO_RESCAN} --each src"));
    wait_for(&server, "wanted", 1);
    home.write("elsewhere/a.c", "int wanted;\n");
    fs::rename(home.path("elsewhere"), home.path("src/two")).unwrap();
    wait_for(&server, "wanted", 2);
    fs::remove_dir_all(home.path("src/one")).unwrap();
    wait_for(&server, "wanted", 1);
    server.check_no_panic();
}

#[test]
fn a_source_that_is_away_stays_searchable_until_it_is_back() {
    let home = Home::new();
    home.write("src/a.c", "int first;\n");
    let server = home.start("serve --watch --rescan 1 src");
    fs::rename(home.path("src"), home.path("away")).unwrap();
    poll("a warning", WAIT_MAX, || {
        server
            .log()
            .contains("cannot update the index")
            .then_some(())
    });
    wait_for(&server, "first", 1);
    home.write("away/a.c", "int second;\n");
    fs::rename(home.path("away"), home.path("src")).unwrap();
    wait_for(&server, "second", 1);
    server.check_no_panic();
}

#[test]
fn an_index_inside_its_source_does_not_update_itself() {
    let home = Home::new();
    home.write("src/a.c", "int first;\n");
    let server = home.start(&format!(
        "serve --watch {NO_RESCAN} --index src/I --spool src/spool src"
    ));
    let updates = || server.log().matches("updated the index").count();
    for word in ["second", "third"] {
        home.write("src/a.c", format!("int {word};\n"));
        wait_for(&server, word, 1);
    }
    // Files may be seen empty first.
    poll("a second without an update", WAIT_MAX, || {
        let before = updates();
        std::thread::sleep(Duration::from_secs(1));
        (updates() == before).then_some(())
    });
    assert!((2..=4).contains(&updates()), "{}", server.log());
}

#[test]
fn a_push_to_a_watched_repository_is_found() {
    let home = Home::new();
    home.write("work/a.c", "int first;\n");
    git(&home, "work", &["init", "-q", "-b", "main"]);
    let commit = || {
        git(&home, "work", &["add", "."]);
        git(&home, "work", &["commit", "-q", "-m", "a change"]);
    };
    commit();
    git(&home, "work", &["clone", "-q", "--bare", ".", "../x.git"]);
    let server = home.start(&format!(
        "serve --watch {NO_RESCAN} --git x.git --repos . --ref all"
    ));
    wait_for(&server, "first", 1);
    let id = || {
        let reply = get(&server.address, "/api/v2/commit?repo=x");
        reply.json()["id"].as_str().unwrap().to_owned()
    };
    let before = id();
    for word in ["second", "third"] {
        home.write("work/a.c", format!("int {word};\n"));
        commit();
        git(&home, "work", &["push", "-q", "../x.git", "main"]);
        wait_for(&server, word, 1);
    }
    // Look-up caches have expired.
    assert_eq!(id(), git(&home, "work", &["rev-parse", "HEAD"]));
    assert_ne!(id(), before);
    wait_for(&server, "first", 0);
    git(&home, "work", &["checkout", "-q", "-b", "new/branch"]);
    home.write("work/b.c", "int fourth;\n");
    commit();
    git(&home, "work", &["push", "-q", "../x.git", "new/branch"]);
    wait_for(&server, "fourth%20rev:new/branch", 1);
    git(&home, "x.git", &["pack-refs", "--all"]);
    git(&home, "x.git", &["gc", "-q"]);
    wait_for(&server, "third", 1);
    server.check_no_panic();
}

fn two_repositories() -> Home {
    let home = Home::new();
    for name in ["a", "b"] {
        home.write(&format!("r/{name}/a.c"), format!("int first_{name};\n"));
        git(&home, &format!("r/{name}"), &["init", "-q", "-b", "main"]);
        git(&home, &format!("r/{name}"), &["add", "."]);
        git(
            &home,
            &format!("r/{name}"),
            &["commit", "-q", "-m", "a change"],
        );
    }
    home
}

#[test]
fn a_repository_that_is_removed_is_gone_and_a_push_to_its_neighbour_is_found() {
    let home = two_repositories();
    let server = home.start("serve --watch --rescan 1 --git-dir-each r");
    wait_for(&server, "path:a.c", 2);
    fs::remove_dir_all(home.path("r/a")).unwrap();
    wait_for(&server, "first_a", 0);
    home.write("r/b/a.c", "int second_b;\n");
    git(&home, "r/b", &["commit", "-q", "-a", "-m", "a change"]);
    wait_for(&server, "second_b", 1);
    server.check_no_panic();
}

#[test]
fn a_repository_that_is_away_is_logged_and_the_others_are_updated() {
    let home = two_repositories();
    let server = home.start("serve --watch --rescan 1 --git-dir-each r");
    wait_for(&server, "path:a.c", 2);
    fs::write(home.path("r/a/.git/refs/heads/main"), "garbage").unwrap();
    home.write("r/b/a.c", "int second_b;\n");
    git(&home, "r/b", &["commit", "-q", "-a", "-m", "a change"]);
    wait_for(&server, "second_b", 1);
    wait_for(&server, "first_a", 1);
    poll("a warning", WAIT_MAX, || {
        server
            .log()
            .contains("cannot index a repository")
            .then_some(())
    });
    server.check_no_panic();
}

#[test]
fn wrong_flags_of_watching_are_errors() {
    let home = Home::new();
    home.write("src/a.c", "int first;\n");
    home.ok("index --index I src");
    for (line, says) in [
        (
            "serve --watch --index I --listen 127.0.0.1:0",
            "--watch needs a SOURCE or --git",
        ),
        (
            "serve --watch --rescan 0 src --listen 127.0.0.1:0",
            "1..=86400",
        ),
        ("serve --rescan 5 src --listen 127.0.0.1:0", "--watch"),
        (
            "serve --watch nowhere --listen 127.0.0.1:0",
            "nowhere: no such directory",
        ),
    ] {
        home.run(line).check(line, 2, &[says]);
    }
}
