//! A shard is truncated during searches: missing parts are reported, and no process crashes.

use crate::home::{Home, Server};
use crate::{WAIT_MAX, http, poll};
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Lines of the truncated index, some hundred pages, and of the other.
const LINES: usize = 30_000;
const LINES_OF_THE_OTHER: usize = 200;

const ALL: u64 = (LINES + LINES_OF_THE_OTHER) as u64;

fn write(home: &Home, package: &str, lines: usize) {
    for file in 0..lines / 100 {
        let text: String = (0..100)
            .map(|line| format!("wanted line {file}.{line} of {package}\n"))
            .collect();
        home.write(&format!("{package}/{file}.c"), text);
    }
    home.ok(&format!("index --index {package}.index {package}"));
}

fn cut(shard: &Path, bytes: u64) {
    let file = File::options().write(true).open(shard).unwrap();
    file.set_len(bytes).unwrap();
}

/// `missing` has backends and reasons.
struct Answer {
    complete: bool,
    total: u64,
    missing: String,
}

/// A new query each time, to bypass the spool.
fn search(frontend: &Server) -> Answer {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = format!("/api/v2/search?mode=regexp&q=wanted%7Cabsent{number}");
    let page = http::get(&frontend.address, &path).page();
    Answer {
        complete: page.complete,
        total: page.total,
        missing: format!("{:?}", page.missing),
    }
}

#[test]
fn truncated_shard_is_reported_missing_and_used_again_when_rebuilt() {
    let home = Home::new();
    write(&home, "cut", LINES);
    write(&home, "stays", LINES_OF_THE_OTHER);
    let cutting = home.start("backend --index cut.index");
    let staying = home.start("backend --index stays.index");
    let frontend = home.start(&format!(
        "frontend --backend {} --backend {} --spool spool",
        cutting.address, staying.address
    ));
    let shard = home.shard("cut.index");
    let bytes = fs::read(&shard).unwrap();
    let name = shard.file_name().unwrap().to_str().unwrap();
    assert_eq!(search(&frontend).total, ALL);

    let (path, length) = (shard.clone(), bytes.len() as u64);
    let cutter = thread::spawn(move || {
        for tenth in (0..=7).rev() {
            thread::sleep(Duration::from_millis(50));
            cut(&path, length * tenth / 10 + 123);
        }
    });
    let missed = poll("an incomplete answer", WAIT_MAX, || {
        let answer = search(&frontend);
        assert!(!answer.complete || answer.total == ALL, "{}", answer.total);
        (!answer.complete).then_some(answer)
    });
    cutter.join().unwrap();
    for Answer { total, missing, .. } in [missed, search(&frontend)] {
        assert!((LINES_OF_THE_OTHER as u64..ALL).contains(&total), "{total}");
        for says in [name, "damaged at byte", "was cut", "`trawl index`"] {
            assert!(missing.contains(says), "{missing}");
        }
    }
    let printed = home.run(&format!("search --server {} wanted", frontend.address));
    printed.check("search", 3, &[name, "damaged at byte"]);
    let of_the_other = |line: &&str| line.starts_with("stays/");
    let stays = printed.text().lines().filter(of_the_other).count();
    assert_eq!(stays, LINES_OF_THE_OTHER);

    // Same name and bytes, so used again.
    home.ok("index --index cut.index cut");
    assert!(fs::read(&shard).unwrap() == bytes);
    poll("a complete answer", WAIT_MAX, || {
        let answer = search(&frontend);
        (answer.complete && answer.total == ALL).then_some(())
    });
    for server in [&cutting, &staying, &frontend] {
        server.check_no_panic();
    }
}
