//! `trawl index --git`: repositories as packages, and errors about bad ones.

use crate::commits::git;
use crate::home::Home;

/// A repository `src/tool`: two files on main, tag v1, a changed file on `topic`.
fn home() -> Home {
    let home = Home::new();
    home.write("src/tool/a.c", "int wanted_here;\n");
    home.write("src/tool/b.c", "int other;\n");
    git(&home, "src/tool", &["init", "-q", "-b", "main"]);
    commit(&home, "first");
    git(&home, "src/tool", &["tag", "v1"]);
    git(&home, "src/tool", &["checkout", "-q", "-b", "topic"]);
    home.write("src/tool/a.c", "int wanted_there;\n");
    commit(&home, "second");
    git(&home, "src/tool", &["checkout", "-q", "main"]);
    home
}

fn commit(home: &Home, message: &str) {
    git(home, "src/tool", &["add", "."]);
    git(home, "src/tool", &["commit", "-q", "-m", message]);
}

fn found(home: &Home, query: &str) -> String {
    String::from_utf8(home.run(&format!("search --index I {query}")).stdout).unwrap()
}

#[test]
fn a_repository_is_searched_as_it_is_committed() {
    let home = home();
    home.write("src/tool/a.c", "int wanted_on_disk;\n");
    let closing = home.run("index --index I --git src/tool").stderr;
    assert!(
        closing.contains("indexed 2 files of 1 package"),
        "{closing}"
    );
    assert!(found(&home, "wanted").contains("wanted_here"));
    // The default branch alone is searched.
    let closing = home.run("index --index I --git src/tool --ref all").stderr;
    assert!(closing.contains("indexed 1 file of 1 package"), "{closing}");
    let lines = found(&home, "wanted");
    assert!(
        lines.contains("wanted_here") && !lines.contains("there"),
        "{lines}"
    );
    let listed = String::from_utf8(home.ok("inspect --index I --packages")).unwrap();
    for name in [
        "refs/heads/main (default)",
        "refs/heads/topic",
        "refs/tags/v1",
    ] {
        assert!(listed.contains(name), "{listed}");
    }
    let closing = home.run("index --index I --git src/tool --ref all").stderr;
    assert!(
        closing.contains("is up to date, nothing was read"),
        "{closing}"
    );
    home.ok("inspect --index I --verify");
}

#[test]
fn wrong_repositories_and_patterns_are_told() {
    let home = home();
    std::fs::create_dir(home.path("empty")).unwrap();
    for (arguments, said) in [
        ("--git nowhere", "--git nowhere"),
        (
            "--git empty",
            "no git repository, neither a bare one nor a work tree",
        ),
        (
            "--git http://example.org/x.git",
            "the scheme `http` is not allowed; allow it with --allow-scheme http",
        ),
        (
            "--git git@example.org:x.git",
            "not a URL; write https://HOST/PATH",
        ),
        ("--git ext::sh", "are never run"),
        (
            "--git file:///nowhere/x --allow-scheme file",
            "file:///nowhere/x: fatal:",
        ),
        ("--git-dir-each empty", "contains no git repository"),
        ("--git-dir-each nowhere", "--git-dir-each nowhere"),
        ("--ref main src/tool", "--git"),
        (
            "--git src/tool --alternates-root nowhere",
            "--alternates-root nowhere",
        ),
        (
            "--git src/tool src/tool",
            "two sources are the same package, `tool`",
        ),
        ("--git src/tool --ref topik", "nearest: topic"),
        ("--git src/tool --ref v2.*", "no commit has this name"),
    ] {
        let finished = home.run(&format!("index --index I {arguments}"));
        let error = finished.stderr;
        assert_eq!(finished.code, Some(2), "{arguments}: {error}");
        assert!(error.contains(said), "{arguments}: {error}");
    }
    assert!(!home.path("I/manifest").exists());
}

#[test]
fn a_broken_repository_is_listed_and_the_others_are_indexed() {
    let home = home();
    git(
        &home,
        "src",
        &["clone", "-q", "--bare", "tool", "other.git"],
    );
    std::fs::write(home.path("src/other.git/HEAD"), "nonsense").unwrap();
    let finished = home.run("index --index I --git-dir-each src");
    assert_eq!(finished.code, Some(3), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("trawl: other: "),
        "{}",
        finished.stderr
    );
    assert!(found(&home, "wanted").contains("wanted_here"));
}

/// Environment of a hook in `git receive-pack`.
#[test]
fn objects_of_the_environment_are_those_of_one_repository() {
    let home = home();
    git(
        &home,
        "src",
        &["clone", "-q", "--bare", "tool", "other.git"],
    );
    let run = |arguments: &str| {
        let mut command = home.command(arguments);
        command.env("GIT_OBJECT_DIRECTORY", home.path("src/tool/.git/objects"));
        command.env(
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            home.path("src/other.git/objects"),
        );
        crate::process::finish(&mut command)
    };
    let finished = run("index --index I --git src/tool");
    assert!(finished.code == Some(0), "{}", finished.stderr);
    assert!(found(&home, "wanted").contains("wanted_here"));
    let finished = run("index --index I --git-dir-each src");
    assert_eq!(finished.code, Some(2));
    assert!(
        finished.stderr.contains("are those of one repository"),
        "{}",
        finished.stderr
    );
}

#[test]
fn notes_name_the_other_way_to_index_a_repository() {
    let home = home();
    git(
        &home,
        "src",
        &["clone", "-q", "--bare", "tool", "other.git"],
    );
    let closing = home.run("index --index I src/tool").stderr;
    assert!(
        closing.contains("src/tool` indexes what is committed"),
        "{closing}"
    );
    let closing = home.run("index --index J src/other.git").stderr;
    assert!(
        closing.contains("src/other.git` indexes what its revisions have"),
        "{closing}"
    );
}

#[test]
fn update_reads_again_what_the_index_was_built_of() {
    let home = home();
    home.write("plain/x.c", "int wanted_plain;\n");
    home.ok("index --index I --git src/tool --ref main --ref v*");
    home.ok("index --index I plain");
    let closing = home.run("index --index I --update").stderr;
    assert!(
        closing.contains("is up to date, nothing was read"),
        "{closing}"
    );
    home.write("plain/x.c", "int wanted_changed;\n");
    home.write("src/tool/a.c", "int wanted_pushed;\n");
    commit(&home, "third");
    home.ok("index --index I --update");
    let lines = found(&home, "wanted");
    assert!(
        lines.contains("wanted_changed") && lines.contains("wanted_pushed"),
        "{lines}"
    );
    let listed = String::from_utf8(home.ok("inspect --index I --packages")).unwrap();
    assert!(
        listed.contains("refs/tags/v1") && !listed.contains("topic"),
        "{listed}"
    );
    std::fs::rename(home.path("src/tool"), home.path("src/gone")).unwrap();
    home.write("plain/x.c", "int wanted_again;\n");
    let finished = home.run("index --index I --update");
    assert_eq!(finished.code, Some(3), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("trawl: tool: "),
        "{}",
        finished.stderr
    );
    let lines = found(&home, "wanted");
    assert!(
        lines.contains("wanted_again") && lines.contains("wanted_pushed"),
        "{lines}"
    );
    home.ok("index --index I --remove tool");
    home.ok("index --index I --update");
    for (arguments, said) in [
        ("--update plain", "cannot be used with"),
        ("--update --ref x", "cannot be used with"),
        ("--update --each", "cannot be used with"),
    ] {
        let finished = home.run(&format!("index --index I {arguments}"));
        assert_eq!(finished.code, Some(2), "{arguments}");
        assert!(
            finished.stderr.contains(said),
            "{arguments}: {}",
            finished.stderr
        );
    }
    let finished = home.run("index --index J --update");
    assert!(
        finished.stderr.contains("no Trawl index here"),
        "{}",
        finished.stderr
    );
}

/// Each has one file with `wanted`.
fn make(home: &Home, names: &[&str]) {
    for name in names {
        home.write(&format!("{name}/f"), format!("wanted in {name}\n"));
        git(home, name, &["init", "-q", "-b", "main"]);
        git(home, name, &["add", "."]);
        git(home, name, &["commit", "-q", "-m", "first"]);
    }
}

fn files(home: &Home, flags: &str) -> Vec<String> {
    let found = home
        .run(&format!("search --index I -l {flags} wanted"))
        .stdout;
    let mut files: Vec<String> = String::from_utf8(found)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    files.sort();
    files
}

#[test]
fn a_repository_that_ends_in_a_number_has_a_name_of_its_own() {
    let home = Home::new();
    make(
        &home,
        &["svc-1", "svc-2", "log4j-2", "node", "node-18.2", "node_20"],
    );
    home.ok("index --index I --git svc-1 --git log4j-2 --git node");
    // Further ones replace nothing.
    let closing =
        home.run("index --index I --git svc-2 --git node-18.2 --git node_20 --replace-versions");
    closing.check("more", 0, &["3 read, 3 kept, 0 dropped"]);
    for name in ["svc-1", "svc-2", "log4j-2", "node", "node-18.2", "node_20"] {
        let file = [format!("{name}/f")];
        assert_eq!(files(&home, &format!("--package ={name}")), file);
        assert_eq!(files(&home, &format!("--package ^{name}$")), file);
    }
    assert_eq!(files(&home, "--package log4j-2"), ["log4j-2/f"]);
    home.run("index --index I --update")
        .check("update", 0, &["is up to date"]);
    home.ok("index --index I --remove node");
    let left = [
        "log4j-2/f",
        "node-18.2/f",
        "node_20/f",
        "svc-1/f",
        "svc-2/f",
    ];
    assert_eq!(files(&home, ""), left);
}

#[test]
fn a_second_repository_of_a_name_is_refused_and_the_index_can_be_updated() {
    let home = Home::new();
    make(&home, &["a/tool", "b/tool"]);
    home.ok("index --index I --git a/tool");
    let says = ["two sources have the name `tool`", "a/tool", "b/tool"];
    home.run("index --index I --git b/tool")
        .check("second", 2, &says);
    home.run("index --index I --update")
        .check("update", 0, &["is up to date"]);
    home.ok("index --index J --git-dir-each .");
    let packages = String::from_utf8(home.ok("inspect J --packages")).unwrap();
    assert!(
        packages.contains("a/tool") && packages.contains("b/tool"),
        "{packages}"
    );
}

#[test]
fn repositories_are_removed_pruned_and_become_directories() {
    let home = Home::new();
    make(&home, &["M/a", "M/b", "M/c", "M/d"]);
    home.ok("index --index I --git-dir-each M");
    home.run("index --index I --remove a")
        .check("remove", 0, &["1 dropped (a)"]);
    std::fs::remove_dir_all(home.path("M/b")).unwrap();
    std::fs::rename(home.path("M/a"), home.path("a")).unwrap();
    home.write("M/c/f", "wanted, pushed\n");
    git(&home, "M/c", &["commit", "-q", "-a", "-m", "second"]);
    home.run("index --index I --update --prune")
        .check("prune", 0, &["1 dropped (b)"]);
    assert_eq!(
        files(&home, ""),
        ["M/c/f", "M/d/f"].map(|it| it[2..].to_owned())
    );
    assert!(found(&home, "pushed").contains("c/f"));
    home.write("M/d/u", "wanted, untracked\n");
    let says = [
        "read from another place: d (directory",
        "M/d, was git repository",
    ];
    home.run("index --index I M/d").check("directory", 0, &says);
    assert_eq!(files(&home, ""), ["c/f", "d/f", "d/u"]);
}

#[test]
fn nested_repositories_and_links_are_indexed_and_the_rest_is_listed() {
    let home = Home::new();
    make(&home, &["M/plain", "M/group/x", "elsewhere/y"]);
    std::os::unix::fs::symlink(home.path("elsewhere/y"), home.path("M/linked")).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere"), home.path("M/others")).unwrap();
    std::fs::create_dir_all(home.path("M/notes")).unwrap();
    home.write("M/notes/text", "wanted\n");
    home.write("M/list", "wanted\n");
    let finished = home.run("index --index I --git-dir-each M");
    finished.check(
        "each",
        0,
        &["left out: 3 (1 loose, 1 no-repository, 1 symlink)"],
    );
    assert_eq!(files(&home, ""), ["group/x/f", "linked/f", "plain/f"]);
    assert_eq!(files(&home, "--package =group/x"), ["group/x/f"]);
    let listed = String::from_utf8(home.ok("inspect --index I --skipped")).unwrap();
    for said in [
        "M/notes",
        "a directory without a git repository",
        "M/others",
        "M/list",
    ] {
        assert!(listed.contains(said), "{listed}");
    }
    make(&home, &["M/plain.git"]);
    let says = [
        "plain.git: left out: it has the name of",
        "not indexed as asked",
    ];
    home.run("index --index I --update")
        .check("same name", 3, &says);
}

#[test]
fn a_repository_without_a_revision_keeps_those_that_it_has() {
    let home = Home::new();
    make(&home, &["M/with", "M/without"]);
    git(&home, "M/with", &["tag", "v1"]);
    git(&home, "M/with", &["branch", "stable"]);
    let both = ["with/f", "without/f"];
    let finished = home.run("index --index I --git-dir-each M --ref HEAD --ref v*");
    finished.check(
        "a pattern",
        0,
        &["no revision for v* in 1 repository (without)"],
    );
    assert_eq!(files(&home, ""), both);
    let finished = home.run("index --index I --git-dir-each M --ref main --ref stable");
    finished.check(
        "a branch",
        0,
        &["no revision for stable in 1 repository (without)"],
    );
    assert_eq!(files(&home, ""), both);
    let finished = home.run("index --index I --git-dir-each M --ref main --ref stabel");
    let says = [
        "trawl: --ref stabel: no commit has this name",
        "nearest: stable",
    ];
    finished.check("misspelled", 3, &says);
    assert_eq!(files(&home, ""), both);
}
