//! `trawl search` on a terminal: the best 50 matches, a count, and the index of the current
//! directory.

use crate::WAIT_MAX;
use crate::home::Home;
use crate::process::{Process, finish};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::Read;
use std::net::TcpListener;

/// Returns the output without colours.
fn on_terminal(home: &Home, line: &str, expected: i32) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let mut command = home.command(line);
    command.env("TERM", "dumb").stdout(File::from(theirs));
    let messages = home.path("messages");
    command.stderr(File::create(&messages).unwrap());
    let mut process = Process::start(&mut command);
    // Reading would not end otherwise.
    drop(command);
    let (mut printed, mut bytes) = (Vec::new(), [0; 4096]);
    // The end of a terminal is an error.
    while let Ok(read @ 1..) = File::from(ours.try_clone().unwrap()).read(&mut bytes) {
        printed.extend_from_slice(&bytes[..read]);
    }
    let code = process.wait(WAIT_MAX).code();
    let messages = std::fs::read_to_string(messages).unwrap();
    assert_eq!(code, Some(expected), "{line}: {messages}");
    String::from_utf8(printed).unwrap().replace("\r\n", "\n")
}

fn home() -> Home {
    let home = Home::new();
    for file in 0..30 {
        home.write(
            &format!("p/{file}.c"),
            format!("// {file}\n") + &"int wanted;\nint other; // wanted\nrare\n".repeat(20),
        );
    }
    home.write("p/one.h", "#define unique\n");
    home.ok("index --index I p");
    home
}

#[test]
fn the_best_50_are_printed_and_a_last_line_says_how_many_more_there_are() {
    let home = home();
    let best = on_terminal(&home, "search --index I wanted", 0);
    let lines = best.lines().filter(|line| line.contains("wanted")).count();
    assert_eq!(lines, 50, "{best}");
    let last = best.lines().last().unwrap();
    assert!(
        last.starts_with("the best 50 of 1,200 matches, in "),
        "{last}"
    );
    assert!(last.ends_with("; 1,150 more with --limit 0"), "{last}");
    let all = on_terminal(&home, "search --index I --limit 0 wanted", 0);
    assert_eq!(all.lines().last(), Some("1,200 matches in 30 files"));
    assert_eq!(
        all.lines().filter(|line| line.contains("wanted")).count(),
        1200
    );
    // A pipe gets all matches, without the count.
    let piped = home.ok("search --index I wanted");
    assert_eq!(piped.split(|&byte| byte == b'\n').count(), 1201);
}

#[test]
fn a_last_line_counts_what_was_found() {
    let home = home();
    for (flags, last) in [
        ("unique", "1 match in 1 file"),
        ("--no-heading unique", "1 match in 1 file"),
        (
            "--limit 3 wanted",
            "the best 3 of 1,200 matches, in 1 file; 1,197 more with --limit 0",
        ),
        ("--sort path wanted", "1,200 matches in 30 files"),
        ("-m 1 --limit 0 wanted", "30 of 1,200 matches, in 30 files"),
        ("-l wanted", "30 files"),
        ("-c wanted", "1,200 lines in 30 files"),
        ("--count-matches wanted", "1,200 matches in 30 files"),
        ("path:one", "1 match in 1 file"),
    ] {
        let printed = on_terminal(&home, &format!("search --index I {flags}"), 0);
        assert_eq!(printed.lines().last(), Some(last), "{flags}");
    }
    let none = on_terminal(&home, "search --index I absent", 1);
    assert_eq!(none.trim(), "0 matches in 0 files");
    assert_eq!(
        on_terminal(&home, "search --index I --total wanted", 0),
        "1200\n"
    );
    assert_eq!(on_terminal(&home, "search --index I -q wanted", 0), "");
    let json = on_terminal(&home, "search --index I --json unique", 0);
    assert!(json.trim_end().ends_with('}'), "{json}");
}

#[test]
fn without_a_server_the_index_of_this_directory_is_searched() {
    let home = Home::new();
    home.write("here/a.c", "int wanted;\n");
    // The default address may be in use.
    let Ok(free) = TcpListener::bind("127.0.0.1:8080") else {
        return;
    };
    drop(free);
    let run = |line: &str| finish(home.command(line).current_dir(home.path("here")));
    run("search wanted").check("no server and no index", 2, &["cannot reach the server"]);
    let mut serve = home.command("serve");
    serve.current_dir(home.path("here"));
    drop(home.start_command(serve));
    let found = run("search wanted");
    found.check(
        "the index of this directory",
        0,
        &["no server at http://127.0.0.1:8080; searching the index of this directory"],
    );
    assert_eq!(found.text(), "here/a.c:1:int wanted;\n");
    run("status").check("status", 0, &["the index of this directory"]);
    // Named servers must answer.
    run("search --server 127.0.0.1:1 wanted").check("a server", 2, &["cannot reach the server"]);
}

#[test]
fn copies_of_a_file_are_left_out_on_a_terminal_and_counted() {
    let home = Home::new();
    for package in ["p_1.0", "p_1.1", "q"] {
        home.write(&format!("{package}/a.c"), "int copied;\nint other;\n");
    }
    home.write("q/b.c", "int copied; // not a copy\n");
    home.ok("index --index I p_1.0 p_1.1 q");
    let folded = on_terminal(&home, "search --index I copied", 0);
    assert_eq!(folded.matches("int copied").count(), 2, "{folded}");
    let says = "4 matches in 2 files; 2 of them in copies of these files, printed with --copies";
    assert_eq!(folded.lines().last(), Some(says));
    let all = on_terminal(&home, "search --index I --copies copied", 0);
    assert_eq!(all.matches("int copied").count(), 4, "{all}");
    assert_eq!(all.lines().last(), Some("4 matches in 4 files"));
    // Programs get all.
    let piped = String::from_utf8(home.ok("search --index I copied")).unwrap();
    assert_eq!(piped.lines().count(), 4);
}
