//! `trawl status`, `packages`, `skipped`, `explain`, `completions` and `man`.

use crate::home::Home;
use crate::process::Finished;

fn home() -> Home {
    let home = Home::new();
    home.write("all/ant_1.0/a.c", "int wanted;\n");
    home.write("all/ant_1.0/image", b"\0\0\0\0");
    home.write("all/bee-2/b.c", "int wanted;\nint other;\n");
    home.ok("index --index I --each all");
    home
}

/// The index and its server must agree.
fn both(home: &Home, server: &str, line: &str, code: i32) -> Finished {
    let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
    let local = home.run(&format!("{command} --index I {rest}"));
    let remote = home.run(&format!("{command} --server {server} {rest}"));
    local.check(line, code, &[]);
    remote.check(line, code, &[]);
    assert_eq!(local.stderr, remote.stderr, "{line}");
    local
}

#[test]
fn status_packages_and_skipped_describe_the_index() {
    let home = home();
    let server = home.start("serve --index I");
    let say = |line: &str, code: i32| both(&home, &server.address, line, code);

    let status = say("status", 0);
    let first = status.text().lines().next().unwrap().to_owned();
    assert!(
        first.starts_with("2 packages, 2 documents, 35 B, 1 shard"),
        "{first}"
    );

    assert_eq!(say("packages", 0).text(), "ant_1.0\t1\t12\nbee-2\t1\t23\n");
    assert_eq!(say("packages be", 0).text(), "bee-2\t1\t23\n");
    assert_eq!(say("packages none", 1).text(), "");
    let json: serde_json::Value = serde_json::from_str(say("packages --json", 0).text()).unwrap();
    assert_eq!(json["packages"][1]["package"], "bee-2");

    assert_eq!(say("skipped", 0).text(), "ant_1.0/image\tbinary\n");
    assert_eq!(say("skipped ant", 0).text(), "ant_1.0/image\tbinary\n");
    assert_eq!(
        say("skipped ant image", 0).text(),
        "ant_1.0/image\tbinary\n"
    );
    assert_eq!(say("skipped ant a.c", 0).text(), "indexed\n");
    assert_eq!(say("skipped bee", 1).text(), "");
    let unknown = say("skipped ant a.h", 1);
    assert!(
        unknown.stderr.contains("did you mean a.c?"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn explain_shows_plan_and_cost() {
    let home = home();
    let server = home.start("serve --index I");
    let say = |line: &str, code: i32| both(&home, &server.address, line, code);
    let explained = say("explain -F wanted", 0);
    for part in [
        "query: wanted case:yes\n",
        "plan: ",
        "blocks to read: 2 of 2",
    ] {
        assert!(
            explained.text().contains(part),
            "no {part} in {}",
            explained.text()
        );
    }
    assert!(say("explain -e .", 0).text().contains("plan: no trigram"));
    let refused = say("explain -e a(b", 2);
    assert!(
        refused.stderr.contains("unclosed group\n  a(b\n   ^\n"),
        "{}",
        refused.stderr
    );
}

#[test]
fn missing_server_or_index_is_an_error() {
    let home = Home::new();
    for line in ["status", "packages", "skipped", "explain wanted"] {
        let line = format!("{line} --server 127.0.0.1:1");
        home.run(&line)
            .check(&line, 2, &["cannot reach the server at http://127.0.0.1:1"]);
        let line = line.replace("--server 127.0.0.1:1", "--index nowhere");
        home.run(&line)
            .check(&line, 2, &["nowhere: no Trawl index here"]);
    }
}

#[test]
fn completions_and_manual_pages_have_all_commands() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = String::from_utf8(home.ok(&format!("completions {shell}"))).unwrap();
        for word in ["explain", "files-with-matches", "config"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    home.write("man/x", "");
    home.ok("man --out man");
    let page = std::fs::read_to_string(home.path("man/trawl-search.1")).unwrap();
    assert!(page.contains("vimgrep"));
    assert!(!home.ok("man").is_empty());
}
