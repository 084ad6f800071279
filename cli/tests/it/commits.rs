//! Commits from `trawl serve`, and from backend and frontend, agree with git.

use crate::home::Home;
use crate::http::get;
use crate::metrics;
use serde_json::Value;
use std::process::Command;

/// Ignores this machine's configuration.
pub(crate) fn git(home: &Home, repository: &str, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(home.path(repository))
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([
            ("GIT_AUTHOR_NAME", "Zoë"),
            ("GIT_AUTHOR_EMAIL", "z@example.org"),
            ("GIT_AUTHOR_DATE", "1700000000 +0130"),
            ("GIT_COMMITTER_NAME", "C"),
            ("GIT_COMMITTER_EMAIL", "c@example.org"),
            ("GIT_COMMITTER_DATE", "1700000000 +0130"),
        ])
        .output()
        .expect("git is installed");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {text}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository, `tools/x`, has two commits.
fn home() -> Home {
    let home = Home::new();
    home.write("src/p_1/a.c", "int main;\n");
    home.ok("index --each --index I src");
    for (text, message) in [("one\n", "first"), ("two\n", "second\n\nWhy.")] {
        home.write("repos/tools/x/a.txt", text);
        if message == "first" {
            git(&home, "repos/tools/x", &["init", "-q", "-b", "main"]);
        }
        git(&home, "repos/tools/x", &["add", "."]);
        git(&home, "repos/tools/x", &["commit", "-q", "-m", message]);
    }
    git(&home, "repos/tools/x", &["tag", "v1"]);
    home
}

fn check(home: &Home, address: &str) {
    let read = |path: &str| -> Value {
        let reply = get(address, path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.json()
    };
    for rev in ["HEAD", "main", "v1", "HEAD~1", "main^{commit}"] {
        let commit = read(&format!("/api/v2/commit?repo=tools/x&rev={rev}"));
        let id = git(home, "repos/tools/x", &["rev-parse", &format!("{rev}^0")]);
        assert_eq!(commit["id"], Value::from(id), "{rev}");
    }
    let commit = read("/api/v2/commit?repo=tools/x");
    assert_eq!(
        [&commit["subject"], &commit["body"], &commit["tags"][0]],
        ["second", "Why.", "v1"]
    );
    assert_eq!(
        [&commit["author"]["name"], &commit["author"]["date"]],
        ["Zoë", "2023-11-14T23:43:20+01:30"]
    );
    let log = read("/api/v2/log?repo=tools/x&path=a.txt&count=1");
    assert_eq!(log["commits"][0]["id"], commit["id"]);
    let next = log["next"].as_str().unwrap();
    let log = read(&format!(
        "/api/v2/log?repo=tools/x&path=a.txt&cursor={next}"
    ));
    assert_eq!(log["commits"][0]["subject"], "first");
    assert_eq!(log["next"], Value::Null);
    let refs = read("/api/v2/refs?repo=tools/x");
    assert_eq!(refs["refs"][1]["name"], "refs/tags/v1");
    assert_eq!(refs["refs"][1]["id"], commit["id"]);
    for (query, status) in [
        ("repo=tools/y", 404),
        ("repo=../src", 400),
        ("repo=tools/x&rev=mian", 404),
        ("repo=tools/x&rev=main@{1}", 400),
    ] {
        let reply = get(address, &format!("/api/v2/commit?{query}"));
        assert_eq!(reply.status, status, "{query}: {}", reply.text());
    }
}

#[test]
fn serve_answers_for_commits_as_git_does() {
    let home = home();
    let server = home.start("serve --index I --repos repos");
    check(&home, &server.address);
}

#[test]
fn a_backend_answers_for_commits_and_counts_its_look_ups() {
    let home = home();
    let backend = home.start("backend --index I --repos repos --metrics 127.0.0.1:0");
    let frontend = home.start(&format!(
        "frontend --backend {} --spool spool",
        backend.address
    ));
    check(&home, &frontend.address);
    let counters = metrics::counters(&metrics::address(&backend));
    let count = |outcome: &str| {
        let labels = format!("{{operation=\"commit\",outcome=\"{outcome}\"}}");
        counters.get(&format!("trawl_backend_lookups_total{labels}"))
    };
    assert_eq!(count("found"), Some(&6), "{counters:?}");
    assert_eq!(count("refused"), Some(&2), "{counters:?}");
}

#[test]
fn a_directory_of_repositories_that_cannot_be_used_is_an_error_at_start() {
    let home = home();
    home.write("file", "");
    for command in ["serve --index I", "backend --index I --listen 127.0.0.1:0"] {
        for wrong in ["nowhere", "file"] {
            let finished = home.run(&format!("{command} --repos {wrong}"));
            let says = format!("--repos {wrong} cannot be used");
            finished.check(command, 2, &[&says]);
        }
    }
}

#[test]
fn commands_show_commits_logs_and_references_with_and_without_a_server() {
    let home = home();
    let server = home.start("serve --index I --repos repos");
    let id = git(&home, "repos/tools/x", &["rev-parse", "HEAD"]);
    let both = |command: &str, rest: &str| {
        let local = home.run(&format!("{command} --repos repos {rest}"));
        let remote = home.run(&format!("{command} --server {} {rest}", server.address));
        local.check(rest, 0, &[]);
        assert_eq!(local.text(), remote.text(), "{command} {rest}");
        local.text().to_owned()
    };
    let shown = both("commit", "tools/x v1");
    assert!(
        shown.starts_with(&format!("commit {id} (tag: v1)\n")),
        "{shown}"
    );
    assert!(
        shown.contains("Author: Zoë <z@example.org>, 2023-11-14T23:43:20+01:30\n"),
        "{shown}"
    );
    assert!(shown.ends_with("\n    second\n\n    Why.\n"), "{shown}");
    let json: Value = serde_json::from_str(&both("commit", "tools/x HEAD~1 --json")).unwrap();
    assert_eq!(json["subject"], "first");
    let log = both("log", "tools/x --path a.txt -n 1");
    assert_eq!(log, format!("{} 2023-11-14 second\n", &id[..12]));
    let refs = both("refs", "tools/x");
    assert_eq!(refs, format!("refs/heads/main\t{id}\nrefs/tags/v1\t{id}\n"));
    for (line, says) in [
        (
            "commit --repos repos tools/y",
            "there is no repository tools/y; did you mean tools/x?",
        ),
        ("commit --repos repos tools/x mian", "did you mean main?"),
        (
            "commit --repos repos tools/x main@{1}",
            "this revision is not answered",
        ),
        ("commit --repos nowhere x", "--repos nowhere cannot be used"),
        ("commit --repos repos --index I x", "cannot be used with"),
        ("log --repos repos tools/x -n 0", "0 is not in 1..=1000"),
        ("commit", "<REPO>"),
    ] {
        home.run(line).check(line, 2, &[says]);
    }
}

#[test]
fn a_diff_is_the_patch_that_git_prints() {
    let home = home();
    let (repo, directory) = ("repos/tools/x", "repos/tools/x/");
    let text: String = (0..60)
        .map(|line| format!("int f{line}(void);\n"))
        .collect();
    let write = |name: &str, text: &[u8]| {
        let path = home.path(&format!("{directory}{name}"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let commit = |message: &str| {
        git(&home, repo, &["add", "-A"]);
        git(&home, repo, &["commit", "-q", "-m", message]);
    };
    write("src/long.c", text.as_bytes());
    write("src/gone.c", b"int gone;\n");
    write("a \"b\"\nä", b"x");
    write("image", b"\0one");
    write("script", b"#!/bin/sh\n");
    commit("before");
    write("src/long.c", text.replace("f7(", "f8(").as_bytes());
    git(&home, repo, &["mv", "src/long.c", "src/moved.c"]);
    std::fs::remove_file(home.path(&format!("{directory}src/gone.c"))).unwrap();
    write("a \"b\"\nä", b"x\ny");
    write("image", b"\0two");
    write("new/empty", b"");
    commit("after");
    git(&home, repo, &["update-index", "--chmod=+x", "script"]);
    git(&home, repo, &["commit", "-q", "-m", "executable"]);
    let server = home.start("serve --index I --repos repos");
    for (sides, range) in [
        ("tools/x@main~2 @main", "main~2 main"),
        ("tools/x@main tools/x@main~2", "main main~2"),
        ("tools/x@main~1", "main~2 main~1"),
        ("tools/x@v1 @main -- src", "v1 main -- src"),
    ] {
        let arguments = ["diff", "--histogram", "-M", "--full-index"];
        let range: Vec<&str> = range.split(' ').collect();
        let expected = git(&home, repo, &[&arguments[..], &range].concat());
        let without_similarity = |text: &str| {
            let lines = text
                .lines()
                .filter(|line| !line.starts_with("similarity index"));
            let lines = lines.map(|line| match line.match_indices("@@").nth(1) {
                Some((end, _)) if line.starts_with("@@") => &line[..end + 2],
                _ => line,
            });
            lines.collect::<Vec<_>>().join("\n")
        };
        let (server, context) = (&server.address, "--server");
        let finished = home.run(&format!("diff {context} {server} {sides}"));
        finished.check(sides, 0, &[]);
        assert_eq!(
            finished.text().trim_end(),
            without_similarity(&expected),
            "{sides}"
        );
    }
    let same = home.run(&format!(
        "diff --server {} tools/x@main @main",
        server.address
    ));
    same.check("the same", 1, &[]);
    let json = home.run(&format!(
        "diff --server {} --json tools/x@main",
        server.address
    ));
    let json: Value = serde_json::from_str(json.text()).unwrap();
    assert_eq!(json["files"][0]["after"]["mode"], "100755");
}
