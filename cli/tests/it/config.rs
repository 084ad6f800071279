//! Configuration file: mistakes have positions; flags and variables take precedence.

use crate::home::Home;

const FILE: &str = r#"
[serve]
listen = "127.0.0.1:0"
source = ["p"]
spool-bytes = "1G"
running = 9

[frontend]
backend = ["127.0.0.1:1", "127.0.0.1:2"]
"#;

fn home() -> Home {
    let home = Home::new();
    home.write("p/a.c", "int wanted;\n");
    home.write("trawl.toml", FILE);
    home
}

fn check(text: &str, says: &[&str]) {
    let home = Home::new();
    home.write("c.toml", text);
    let run = home.run("config check c.toml");
    run.check(text, 2, says);
    assert_eq!(run.text(), "", "{text}");
    // No server starts with it.
    let run = home.run("serve --config c.toml --listen nonsense");
    run.check(text, 2, &says[..1]);
}

#[test]
fn mistakes_are_reported_with_their_place() {
    check(
        "[serve]\nlistne = 'x'",
        &["c.toml:2:1: unknown key listne; did you mean listen?"],
    );
    check(
        "[serve]\nxyz = 1",
        &["c.toml:2:1: unknown key xyz; expected one of index, listen"],
    );
    check(
        "[server]\n",
        &["c.toml:1:2: unknown table server; did you mean serve?"],
    );
    check("serve = 1", &["c.toml:1:1: serve must be a table: [serve]"]);
    check(
        "[serve]\n\nspool-bytes = '5X'",
        &["c.toml:3:15: spool-bytes: ", "not a size; write bytes"],
    );
    check(
        "[serve]\nrunning = 99",
        &["c.toml:2:11: running: ", "99 is not in 1..=64"],
    );
    check(
        "[serve]\neach = 'yes'",
        &["c.toml:2:8: each: expected true or false"],
    );
    check(
        "[serve]\nlisten = true",
        &["c.toml:2:10: listen: expected text or a number"],
    );
    check(
        "[serve]\nlisten = ['a']",
        &["c.toml:2:10: listen: expected one value, not a list"],
    );
    check(
        "[serve]\nlisten = 'a'\nlisten = 'b'",
        &["c.toml:3:1: ", "duplicate key"],
    );
    check("[serve\n", &["c.toml:1:7: "]);
    check(
        "[serve]\nlistne = 1\nrunnig = 2",
        &["c.toml:2:1: ", "c.toml:3:1: "],
    );
}

#[test]
fn precedence_is_flag_variable_file_default() {
    let home = home();
    let show = |variable: &str| {
        let mut command = home.command("config show --config trawl.toml");
        let shown = crate::process::finish(command.env("TRAWL_SERVE_RUNNING", variable)).ok();
        String::from_utf8(shown).unwrap()
    };
    let has = |text: &str, start: &str, end: &str| {
        let is_there = |line: &str| line.starts_with(start) && line.ends_with(end);
        assert!(text.lines().any(is_there), "{start} {end} in:\n{text}");
    };
    let (file, variable) = (show(""), show("3"));
    has(&file, "running = \"9\"", "# trawl.toml:6:11");
    has(&variable, "running = \"3\"", "# TRAWL_SERVE_RUNNING");
    for text in [file, variable] {
        has(&text, "queued = \"32\"", "# default");
        has(&text, "source = [\"p\"]", "# trawl.toml:4:10");
        has(
            &text,
            "backend = [\"127.0.0.1:1\", \"127.0.0.1:2\"]",
            "# trawl.toml:9:11",
        );
        has(&text, "# spool is not set", "");
        home.write("again.toml", text);
        home.ok("config check again.toml");
    }
}

#[test]
fn server_uses_the_file() {
    let home = home();
    let server = home.start("serve --config trawl.toml");
    let found = home.ok(&format!("search --server {} wanted", server.address));
    assert_eq!(String::from_utf8(found).unwrap(), "p/a.c:1:int wanted;\n");

    let mut command = home.command("serve --listen 192.0.2.1:1");
    let run = crate::process::finish(command.env("TRAWL_CONFIG", "trawl.toml"));
    let says = ["cannot listen on 192.0.2.1:1"];
    run.check("a flag before the file", 2, &says);
    let mut command = home.command("serve --config trawl.toml");
    let run = crate::process::finish(command.env("TRAWL_SERVE_LISTEN", "192.0.2.1:2"));
    run.check(
        "a variable before the file",
        2,
        &["cannot listen on 192.0.2.1:2"],
    );
}

#[test]
fn default_file_is_optional_and_a_named_one_is_not() {
    let home = home();
    home.write(
        ".config/trawl/config.toml",
        "[serve]\nlisten = '192.0.2.1:3'\n",
    );
    home.run("serve p")
        .check("the default file", 2, &["cannot listen on 192.0.2.1:3"]);
    let listed = home.run("config check");
    listed.check("the default file", 0, &[]);
    assert!(
        listed.text().contains("config.toml: 1 setting"),
        "{}",
        listed.text()
    );
    let missing = ["cannot read the configuration file nowhere.toml"];
    home.run("serve --config nowhere.toml")
        .check("a name", 2, &missing);
    home.run("config check nowhere.toml")
        .check("a name", 2, &missing);
    let mut command = home.command("serve p");
    let run = crate::process::finish(command.env("TRAWL_SERVE_LISTNE", "x"));
    run.check(
        "a variable",
        2,
        &["TRAWL_SERVE_LISTNE", "did you mean TRAWL_SERVE_LISTEN?"],
    );
    home.run("backend --help").check("help", 0, &[]);
}
