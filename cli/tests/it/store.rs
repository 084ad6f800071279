//! An index is published in a store, and served from there.

use crate::home::{Home, until};
use crate::process::{Finished, finish};
use crate::{http, metrics};
use std::io::{BufReader, Read, Write};
use std::process::Stdio;
use testkit::net::{self, HttpRequest};

fn lines(output: &[u8]) -> Vec<&str> {
    let mut lines: Vec<_> = str::from_utf8(output).unwrap().lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn what_two_machines_publish_is_found() {
    let home = Home::new();
    home.write("one/a_1/f.c", "wanted in a\n");
    home.write("two/b_1/f.c", "wanted in b\n");
    home.ok("index --index I1 --store S --each one");
    home.ok("index --index I2 --store S --each two");
    let backend = home.start("backend --store S --data D");
    let frontend = home.start(&format!("frontend --backend {} --spool P", backend.address));
    let search = format!("search --server {} wanted", frontend.address);
    let both = ["a_1/f.c:1:wanted in a", "b_1/f.c:1:wanted in b"];
    until("both are found", || {
        lines(&home.run(&search).stdout) == both
    });
    home.write("two/b_2/f.c", "wanted in the next version\n");
    home.ok("index --index I2 --store S --replace-versions two/b_2");
    let next = [
        "a_1/f.c:1:wanted in a",
        "b_2/f.c:1:wanted in the next version",
    ];
    until("the next version is found", || {
        lines(&home.run(&search).stdout) == next
    });
    home.ok("store rollback S 2");
    until("the earlier version is found", || {
        lines(&home.run(&search).stdout) == both
    });
}

fn serves_after(change: impl FnOnce(&Home)) -> Home {
    let home = Home::new();
    home.write("a_1/f.c", "wanted\n");
    home.ok("index --index I --store S a_1");
    let found = |address: &str| {
        let frontend = home.start(&format!("frontend --backend {address} --spool P"));
        let search = format!("search --server {} wanted", frontend.address);
        until("it is found", || {
            lines(&home.run(&search).stdout) == ["a_1/f.c:1:wanted"]
        });
    };
    found(&home.start("backend --store S --data D").address);
    change(&home);
    found(&home.start("backend --store S --data D").address);
    home
}

#[test]
fn a_backend_serves_what_it_has_when_the_store_is_gone() {
    serves_after(|home| std::fs::remove_dir_all(home.path("S")).unwrap());
}

#[test]
fn a_backend_serves_what_it_has_when_a_later_version_has_published() {
    let home = serves_after(|home| home.write("S/HEAD", "trawl-store 9 x\n"));
    // A backend without data fails.
    let new = home.run("backend --store S --data New --listen 127.0.0.1:0");
    new.check("a new backend", 2, &["HEAD: format 9", "update Trawl"]);
}

#[test]
fn a_backend_that_has_fetched_nothing_is_not_taken_for_one_that_has_searched_everything() {
    let home = Home::new();
    home.write("a_1/f.c", "wanted\n");
    home.ok("index --index I --store S a_1");
    std::fs::rename(home.path("S/files"), home.path("kept")).unwrap();
    let backend = home.start("backend --store S --data D --metrics 127.0.0.1:0");
    let health = |path: &str| {
        let answer = http::get(&metrics::address(&backend), path);
        let status = answer.json()["status"].as_str().unwrap().to_owned();
        (answer.status, status)
    };
    assert_eq!(health("/healthz"), (200, "fetching".to_owned()));
    assert_eq!(health("/readyz"), (503, "fetching".to_owned()));
    let frontend = home.start(&format!("frontend --backend {} --spool P", backend.address));
    let search = format!("search --server {} wanted", frontend.address);
    home.run(&search)
        .check("before", 3, &["incomplete", &backend.address]);
    let down = home.run(&format!("status --server {}", frontend.address));
    assert!(!down.text().contains("1 shard"), "{}", down.text());
    std::fs::rename(home.path("kept"), home.path("S/files")).unwrap();
    until("it is fetched and found", || {
        let found = home.run(&search);
        assert_ne!(found.code, Some(1), "complete, but not found");
        found.code == Some(0) && lines(&found.stdout) == ["a_1/f.c:1:wanted"]
    });
    assert_eq!(health("/readyz"), (200, "ok".to_owned()));
}

#[test]
fn machines_share_packages() {
    let home = Home::new();
    let names: Vec<String> = (0..40)
        .map(|number| format!("package{number:02}_1"))
        .collect();
    for name in &names {
        home.write(&format!("src/{name}/f.c"), format!("wanted in {name}\n"));
    }
    let mut machines: Vec<_> = (0..3)
        .map(|number| {
            let mut command = home.command(&format!(
                "index --index I{number} --store S --claim --each --jobs 1 src"
            ));
            command.stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut built = 0;
    for machine in &mut machines {
        let mut said = String::new();
        machine
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        assert!(machine.wait().unwrap().success(), "{said}");
        let last = said.lines().last().unwrap();
        let count = last.strip_suffix(" were built here").unwrap();
        built += count.rsplit(' ').next().unwrap().parse::<usize>().unwrap();
    }
    assert_eq!(built, names.len());
    let backend = home.start("backend --store S --data D");
    let frontend = home.start(&format!("frontend --backend {} --spool P", backend.address));
    let search = format!("search --server {} wanted", frontend.address);
    until("all are found", || {
        lines(&home.run(&search).stdout).len() == names.len()
    });
}

#[test]
fn an_operator_sees_the_history_and_checks_and_cleans_the_store() {
    let home = Home::new();
    for version in 1..=3 {
        home.write(
            &format!("{version}/a_{version}/f.c"),
            format!("version {version}\n"),
        );
        let flags = "--index I --store S --each --prune";
        home.ok(&format!("index {flags} {version}"));
    }
    let history = home.ok("store history --store S");
    let history: Vec<_> = str::from_utf8(&history).unwrap().lines().collect();
    assert_eq!(history.len(), 3);
    assert!(history[0].starts_with("*      3 "), "{history:?}");
    assert!(history[0].ends_with("+1 -1"), "{history:?}");
    // A shard and a source record each.
    let verified = home.run("store verify --store S");
    let expected = "checked every byte of 6 files in 3 generations";
    assert!(verified.stderr.contains(expected), "{}", verified.stderr);
    assert!(verified.stderr.contains("all whole"), "{}", verified.stderr);
    let collected = home.run("store gc --store S --keep 1 --keep-days 0");
    let expected = "removed 2 generations and 0 files";
    assert!(collected.stderr.contains(expected), "{}", collected.stderr);
    let expected = "4 files younger than a day";
    assert!(collected.stderr.contains(expected), "{}", collected.stderr);
    for file in std::fs::read_dir(home.path("S/files")).unwrap() {
        std::fs::write(file.unwrap().path(), "other").unwrap();
    }
    let verified = home.run("store verify --quick S");
    assert_eq!(verified.code, Some(3), "{}", verified.stderr);
}

#[test]
fn mistakes_are_explained() {
    let home = Home::new();
    home.write("a_1/f.c", "text\n");
    home.ok("index --index I a_1");
    let check = |arguments: &str, expected: &str| {
        let finished = home.run(arguments);
        assert_eq!(finished.code, Some(2), "{}", finished.stderr);
        assert!(finished.stderr.contains(expected), "{}", finished.stderr);
    };
    check(
        "index --index I --store gs://bucket/x a_1",
        "gs://bucket/x: not a store; give a directory, or s3://BUCKET/PREFIX",
    );
    check(
        "store history --store Empty",
        "no index has been published here; publish one with `trawl index --store`",
    );
    check(
        "store verify --store Empty",
        "no index has been published here",
    );
    check("store gc --store Empty", "no index has been published here");
    check("store rollback Empty", "no generation 0");
    check("index --index Nowhere --store S", "no Trawl index here");
    check("backend --store S", "--data");
    check(
        "backend --index I --store S --data D",
        "cannot be used with",
    );
    check("backend", "give --index DIR, or --store STORE");
    home.ok("index --index I --store S");
    home.write("b_1/f.c", "text\n");
    home.ok("index --index J --block-size 8K b_1");
    check(
        "index --index J --store S",
        "the store has an index with other options (--block-size 4096, this one --block-size 8192)",
    );
    check(
        "store rollback S 7",
        "no generation 7; `trawl store history` lists them",
    );
    home.ok("index --index K --store T b_1");
    std::fs::write(home.path("S/HEAD"), "trawl-store 9 x\n").unwrap();
    check(
        "store history --store S",
        "format 9; this version of Trawl reads format 1: update Trawl",
    );
}

/// Conditions are ignored.
const ACCEPTED: &str = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 0\r\n\r\n";

/// The key is unknown.
const DENIED: &str = "HTTP/1.1 403 Forbidden\r\nContent-Length: 46\r\n\r\n<Error><Code>InvalidAccessKeyId</Code></Error>";

fn storage(answer: &'static str) -> String {
    let address = net::serve(move |mut stream| -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        while HttpRequest::read(&mut reader)?.is_some() {
            stream.write_all(answer.as_bytes())?;
        }
        Ok(())
    });
    format!("http://{address}")
}

/// Uses the store s3://bucket/prefix.
fn with_storage(home: &Home, command: &str, answer: &'static str) -> Finished {
    let mut command = home.command(command);
    command
        .env("AWS_ENDPOINT_URL", storage(answer))
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_ACCESS_KEY_ID", "x")
        .env("AWS_SECRET_ACCESS_KEY", "x")
        .env("AWS_REGION", "us-east-1");
    finish(&mut command)
}

#[test]
fn a_storage_without_conditional_writes_is_refused() {
    let home = Home::new();
    home.write("a_1/f.c", "text\n");
    home.ok("index --index I a_1");
    let finished = with_storage(
        &home,
        "index --index I --store s3://bucket/prefix",
        ACCEPTED,
    );
    let expected = "accepts a write whose condition (If-Match, If-None-Match) does not hold";
    finished.check("index", 2, &[expected]);
}

#[test]
fn wrong_credentials_of_a_storage_are_explained() {
    let home = Home::new();
    home.write("a_1/f.c", "text\n");
    home.ok("index --index I a_1");
    for command in [
        "index --index I --store s3://bucket/prefix",
        "store history --store s3://bucket/prefix",
        "store verify --store s3://bucket/prefix",
    ] {
        let finished = with_storage(&home, command, DENIED);
        let expected = [
            "s3://bucket/prefix/",
            "access is denied: check AWS_ACCESS_KEY_ID",
            "InvalidAccessKeyId",
        ];
        finished.check(command, 2, &expected);
    }
}
