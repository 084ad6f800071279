//! Former names of flags, keys and variables work, with a warning.

use crate::home::Home;
use crate::process::finish;

fn home() -> Home {
    let home = Home::new();
    home.write("p/a.c", "int wanted;\n");
    home
}

fn warnings(stderr: &str) -> Vec<&str> {
    let lines = stderr.lines();
    lines.filter(|line| line.contains("goes in")).collect()
}

#[test]
fn a_former_flag_works_and_is_reported_once() {
    let home = home();
    for line in ["index --out I p", "index --out=J p"] {
        let run = home.run(line);
        assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
        let expected = ["trawl: --out is now --index, and goes in 0.3"];
        assert_eq!(warnings(&run.stderr), expected, "{line}");
    }
    let new = home.run("index --index I p");
    new.check("the new flag", 0, &["is up to date"]);
    assert_eq!(warnings(&new.stderr), [""; 0]);
    home.run("index --index I --out I p")
        .check("both", 2, &["cannot be used multiple times"]);
    for (line, old, new) in [
        (
            "serve --index I --search-memory 64M",
            "--search-memory",
            "--memory",
        ),
        (
            "backend --index I --pattern-memory 1M",
            "--pattern-memory",
            "--memory",
        ),
    ] {
        let server = home.start(line);
        server.log_with(&format!("trawl: {old} is now {new}, and goes in 0.3"));
    }
}

#[test]
fn former_flags_are_in_no_help_and_no_completion() {
    let home = home();
    for (line, old) in [
        ("index --help", "--out"),
        ("serve --help", "--search-memory"),
        ("backend --help", "--pattern-memory"),
        ("completions bash", "--pattern-memory"),
        ("config show", "search-memory"),
        ("config show", "pattern-memory"),
    ] {
        let shown = String::from_utf8(home.ok(line)).unwrap();
        assert!(shown.contains("memory"), "{line}");
        assert!(!shown.contains(old), "{line}");
    }
}

#[test]
fn former_keys_and_variables_work() {
    let home = home();
    home.write(
        "c.toml",
        "[backend]\npattern-memory = '1M'\n[serve]\nsearch-memory = '2M'\n",
    );
    let checked = home.run("config check c.toml");
    let says = [
        "trawl: c.toml:2:1: pattern-memory is now memory, and goes in 0.3",
        "trawl: c.toml:4:1: search-memory is now memory, and goes in 0.3",
    ];
    checked.check("a file", 0, &says);
    let mut command = home.command("config show --config c.toml");
    command.env("TRAWL_BACKEND_PATTERN_MEMORY", "3M");
    let shown = finish(&mut command);
    let variable =
        "trawl: TRAWL_BACKEND_PATTERN_MEMORY is now TRAWL_BACKEND_MEMORY, and goes in 0.3";
    shown.check("a variable", 0, &[variable]);
    let has = |start: &str, end: &str| {
        let mut lines = shown.text().lines();
        lines.any(|line| line.starts_with(start) && line.ends_with(end))
    };
    assert!(
        has("memory = \"3M\"", "# TRAWL_BACKEND_PATTERN_MEMORY"),
        "{}",
        shown.text()
    );
    assert!(
        has("search-memory = \"2M\"", "# c.toml:4:17"),
        "{}",
        shown.text()
    );
    home.write(
        "both.toml",
        "[backend]\npattern-memory = '1M'\nmemory = '1M'\n",
    );
    home.run("config check both.toml").check(
        "both",
        2,
        &["both.toml:2:1: pattern-memory and memory are the same"],
    );
}

#[test]
fn places_are_named_by_flags_or_alone() {
    let home = home();
    home.ok("index --index I --store S p");
    for [flag, alone] in [
        ["inspect --index I", "inspect I"],
        [
            "store history --store S --limit 0",
            "store history S --limit 0",
        ],
        ["store verify --store S", "store verify S"],
        ["store gc --store S --dry-run", "store gc S --dry-run"],
        ["store rollback --store S 1", "store rollback S 1"],
    ] {
        assert_eq!(home.ok(flag), home.ok(alone), "{flag}");
        let (command, _) = flag.split_once(" --").unwrap();
        home.run(command).check(command, 2, &["required"]);
    }
    home.run("inspect --index I I")
        .check("both", 2, &["cannot be used with"]);
    home.run("store rollback S first").check(
        "no number",
        2,
        &["first: expected the number of a generation"],
    );
}
