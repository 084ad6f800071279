//! `trawl serve --watch`: changes of files are found without a restart.

use crate::commits::git;
use crate::home::{Home, Server};
use crate::http::get;
use crate::{WAIT_MAX, poll};
use std::fs;
use std::time::Duration;

/// Rescans are far away: what is found was noticed.
const NO_RESCAN: &str = "--rescan 86400";

/// Waits until a word has so many matches, in a complete answer.
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
    // The new directory is watched, too.
    home.write("src/deep/er/c.c", "int third;\n");
    wait_for(&server, "third", 1);
    fs::remove_dir_all(home.path("src/deep")).unwrap();
    wait_for(&server, "second", 1);
    fs::rename(home.path("src/a.c"), home.path("src/z.c")).unwrap();
    wait_for(&server, "path:z.c", 1);
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
    // A file that is written may be seen twice: empty, and with its text.
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
    // Look-ups that were kept have ended.
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

#[test]
fn a_repository_that_is_away_is_logged_and_the_others_are_updated() {
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
    home.ok("index --out I src");
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
