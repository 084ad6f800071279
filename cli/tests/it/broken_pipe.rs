//! `trawl … | head`: commands end quietly without a reader.

use crate::WAIT_MAX;
use crate::home::Home;
use crate::process::Process;
use std::fs::File;
use std::io::{self, Read};
use std::process::{Command, Stdio};

fn closed_pipe() -> Stdio {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn run(home: &Home, command: &mut Command) -> (Option<i32>, String) {
    let messages = home.path("messages");
    command.stdout(closed_pipe());
    command.stderr(File::create(&messages).unwrap());
    let code = Process::start(command).wait(WAIT_MAX).code();
    (code, std::fs::read_to_string(messages).unwrap())
}

#[test]
fn all_commands_end_quietly_when_their_output_is_not_read() {
    let home = Home::new();
    home.write("p/a.c", "int wanted;\n");
    home.write("trawl.toml", "[serve]\nrunning = 9\n");
    home.ok("index --index I p");
    for line in [
        "config show",
        "config check trawl.toml",
        "search --index I wanted",
        "search --index I --stream wanted",
        "search --index I --json --heading wanted",
        "search --index I -c wanted",
        "search --index I --total wanted",
        "explain --index I wanted",
        "status --index I",
        "status --index I --json",
        "packages --index I",
        "skipped --index I p a.c",
        "inspect --index I",
        "inspect --index I --document p/a.c",
        "inspect --index I --trigram wan",
        "completions bash",
        "man",
        "help",
        "search --help",
        "backend --index I --listen 127.0.0.1:0",
        "serve --index I --listen 127.0.0.1:0",
    ] {
        let (code, messages) = run(&home, &mut home.command(line));
        assert_eq!(code, Some(0), "{line}: {messages}");
        // A server has a log.
        let listens = line.contains("--listen");
        assert!(listens || messages.is_empty(), "{line}: {messages}");
        assert!(!messages.contains("panicked"), "{line}: {messages}");
    }
}

#[test]
fn messages_that_nobody_reads_do_not_change_the_exit_status() {
    let home = Home::new();
    home.write("p/a.c", "int wanted;\n");
    for (line, expected) in [
        ("index --index I p", 0),
        ("search --index I --explain wanted", 0),
        ("search --index I --explain absent", 1),
        ("search --index nowhere wanted", 2),
        ("config check nowhere.toml", 2),
        ("skipped --index I q", 1),
    ] {
        let mut command = home.command(line);
        let mut process = Process::start(command.stdout(Stdio::piped()).stderr(closed_pipe()));
        let mut out = Vec::new();
        process.stdout().read_to_end(&mut out).unwrap();
        assert_eq!(process.wait(WAIT_MAX).code(), Some(expected), "{line}");
    }
}
