//! Commands in a git work tree search the files as they are, without a server or an index.

use crate::home::Home;
use crate::process::{Finished, finish};
use std::fs;

/// A work tree `zoo` in `home/src`, and one file outside.
fn tree() -> Home {
    let home = Home::new();
    home.write("src/zoo/.git/HEAD", "ref: refs/heads/main\n");
    home.write("src/zoo/.gitignore", "/build/\n");
    home.write("src/zoo/cage.c", "lion\nint open_cage(void);\n");
    home.write("src/zoo/lib/cat.c", "tiger\nlion\n");
    home.write("src/zoo/lib/deep/cat.h", "lion cub\n");
    home.write("src/zoo/build/out.c", "lion\n");
    home.write("src/other.c", "lion\n");
    home
}

fn run_in(home: &Home, directory: &str, arguments: &str) -> Finished {
    finish(home.command(arguments).current_dir(home.path(directory)))
}

fn found(home: &Home, directory: &str, arguments: &str) -> Vec<String> {
    let finished = run_in(home, directory, arguments);
    assert!(matches!(finished.code, Some(0 | 1)), "{}", finished.stderr);
    let lines = String::from_utf8(finished.stdout).unwrap();
    let mut lines: Vec<String> = lines.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn a_search_finds_what_is_there_now() {
    let home = tree();
    let first = run_in(&home, "src/zoo", "search lion");
    assert!(first.stderr.contains("4 files"), "{}", first.stderr);
    let all = [
        "cage.c:1:lion",
        "lib/cat.c:2:lion",
        "lib/deep/cat.h:1:lion cub",
    ];
    assert_eq!(found(&home, "src/zoo", "search lion"), all);
    home.write("src/zoo/lib/new.c", "a lion\n");
    fs::remove_file(home.path("src/zoo/cage.c")).unwrap();
    let again = run_in(&home, "src/zoo", "search lion");
    assert_eq!(again.stderr, "");
    let now = [
        "lib/cat.c:2:lion",
        "lib/deep/cat.h:1:lion cub",
        "lib/new.c:1:a lion",
    ];
    assert_eq!(found(&home, "src/zoo", "search lion"), now);
    assert_eq!(run_in(&home, "src/zoo", "search panther").code, Some(1));
}

#[test]
fn a_file_that_cannot_be_read_is_reported() {
    let home = tree();
    assert_eq!(run_in(&home, "src/zoo", "search lion").code, Some(0));
    // The index of git, which decides about what `.gitignore` excludes.
    home.write("src/zoo/.git/index", "damaged");
    home.write("src/zoo/build/new.c", "lion\n");
    let found = run_in(&home, "src/zoo", "search lion");
    found.check("damaged", 3, &["incomplete: 1 file could not be read"]);
    fs::remove_file(home.path("src/zoo/.git/index")).unwrap();
    assert_eq!(run_in(&home, "src/zoo", "search lion").code, Some(0));
}

#[test]
fn names_and_paths_are_relative_to_the_directory() {
    let home = tree();
    let below = ["cat.c:2:lion", "deep/cat.h:1:lion cub"];
    assert_eq!(found(&home, "src/zoo/lib", "search lion"), below);
    assert_eq!(
        found(&home, "src/zoo/lib", "search -l lion deep"),
        ["deep/cat.h"]
    );
    assert_eq!(
        found(&home, "src/zoo/lib", "search -c lion .. -g !*.h"),
        ["../cage.c:1", "cat.c:1"]
    );
    assert_eq!(
        found(&home, "src/zoo/lib", "search -l lion -g /*.c"),
        ["cat.c"]
    );
    assert_eq!(
        found(&home, "src/zoo/lib/deep", "search -l -g *.h cub"),
        ["cat.h"]
    );
    let json = run_in(&home, "src/zoo/lib/deep", "search --json cub");
    let json = String::from_utf8(json.stdout).unwrap();
    assert!(json.contains(r#""path":{"text":"cat.h"}"#), "{json}");
    let outside = run_in(&home, "src/zoo/lib", "search lion ../../other.c");
    assert_eq!(outside.code, Some(2));
    assert!(
        outside.stderr.contains("outside of the work tree"),
        "{}",
        outside.stderr
    );
}

#[test]
fn a_named_server_or_index_wins_and_outside_of_a_tree_the_server_is_asked() {
    let home = tree();
    home.write("aviary/nest.c", "lion bird\n");
    home.ok("index --index I aviary");
    let index = format!("search --index {} lion", home.path("I").display());
    assert_eq!(
        found(&home, "src/zoo", &index),
        ["aviary/nest.c:1:lion bird"]
    );
    for arguments in [
        "search --server 127.0.0.1:1 lion",
        "status --server 127.0.0.1:1",
    ] {
        let refused = run_in(&home, "src/zoo", arguments);
        assert!(
            refused.stderr.contains("cannot reach the server"),
            "{}",
            refused.stderr
        );
    }
    let packages = found(&home, "src/zoo/lib", "packages");
    assert_eq!(packages.len(), 1);
    assert!(packages[0].starts_with("zoo"), "{packages:?}");
    let explained = found(&home, "src/zoo", "explain open_cage");
    assert!(
        explained.iter().any(|line| line.starts_with("query: ")),
        "{explained:?}"
    );
}
