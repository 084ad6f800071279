//! Measures look-ups of commits in this process against spawning `git log -1`, in the same run.
//!
//! The two take turns, and their answers must agree. Then many repositories are looked up in turn.
//! Descriptors, mappings and resident memory must not grow past the number of open repositories.
//!
//! usage: cargo bench -p git --bench lookups -- REPOSITORY [SECONDS [REPOSITORIES]]
//!
//! REPOSITORY is a bare repository or the `.git` of a work tree. Default, as under `cargo test`: a
//! new repository with 40 commits, which needs `git`.

use git::Repositories;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

/// Repositories that are looked up before memory is first measured.
const WARM_UP: usize = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    let directory = tempfile::tempdir()?;
    let root = directory.path().canonicalize()?;
    let given = arguments.next().map(PathBuf::from);
    let number =
        |argument: Option<String>, default: f64| argument.map_or(Ok(default), |it| it.parse());
    let seconds = number(arguments.next(), if given.is_some() { 3.0 } else { 0.01 })?;
    let many = number(
        arguments.next(),
        if given.is_some() { 10_000.0 } else { 300.0 },
    )? as usize;
    let source = match given {
        Some(path) => path.canonicalize()?,
        None => make(&root.join("source"))?,
    };
    run(
        &[
            "clone",
            "-q",
            "--mirror",
            &text(&source),
            &text(&root.join("r.git")),
        ],
        &root,
    )?;
    age(&root.join("r.git"))?;
    rates(&root, Duration::from_secs_f64(seconds))?;
    memory(&root, many)
}

/// Makes tags look as old as those of a repository in use: fresh ones are read again each time.
fn age(bare: &Path) -> Result<(), Box<dyn Error>> {
    for name in ["packed-refs", "refs/tags"] {
        std::fs::File::open(bare.join(name))?.set_modified(SystemTime::UNIX_EPOCH)?;
    }
    Ok(())
}

/// Prints look-ups a second.
fn rates(root: &Path, time: Duration) -> Result<(), Box<dyn Error>> {
    let repositories = Repositories::new(root)?;
    let bare = root.join("r.git");
    let id = run(&["rev-parse", "HEAD~3"], &bare)?;
    let branch = run(&["symbolic-ref", "--short", "HEAD"], &bare)?;
    println!(
        "{:16}{:>14}{:>14}{:>10}",
        "look-ups a s", "in process", "git log -1", "ratio"
    );
    let forms = [
        ("default branch", ""),
        ("full id", id.as_str()),
        ("HEAD~25", "HEAD~25"),
        ("branch", &branch),
    ];
    for (what, rev) in forms {
        let asked = if rev.is_empty() { "HEAD" } else { rev };
        let spawn = || run(&["log", "-1", "--format=%H", asked], &bare);
        let found = repositories.commit("r", rev)?.id;
        assert_eq!(found, spawn()?, "{what}");
        let in_process = rate(time, || Ok(repositories.commit("r", rev).map(drop)?))?;
        let spawned = rate(time, || spawn().map(drop))?;
        println!(
            "{what:16}{in_process:14.0}{spawned:14.0}{:10.0}",
            in_process / spawned
        );
    }
    Ok(())
}

/// Looks up one commit in each of many repositories, and prints what the process holds.
fn memory(root: &Path, many: usize) -> Result<(), Box<dyn Error>> {
    let small = make(&root.join("small"))?;
    for index in 0..many {
        copy(&small, &root.join(format!("many/{index}/.git")))?;
    }
    let repositories = Repositories::new(root)?;
    let mut looked = 0;
    let mut warm = None;
    println!(
        "{:16}{:>14}{:>14}{:>10}",
        "repositories", "descriptors", "mappings", "MiB"
    );
    for until in [WARM_UP, many / 2, many] {
        for index in looked..until {
            repositories.commit(&format!("many/{index}"), "HEAD~3")?;
        }
        looked = until.max(looked);
        let (descriptors, mappings) = (entries("/proc/self/fd"), lines("/proc/self/maps"));
        let mebibytes = resident()? >> 10;
        println!("{looked:16}{descriptors:14}{mappings:14}{mebibytes:10}");
        let (files, maps, before) = *warm.get_or_insert((descriptors, mappings, mebibytes));
        assert!(descriptors <= files + 16, "descriptors grow");
        assert!(mappings <= maps + 64, "mappings grow");
        assert!(mebibytes <= before + 16, "memory grows");
    }
    Ok(())
}

fn rate(
    time: Duration,
    look: impl Fn() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let started = Instant::now();
    let mut count = 0;
    while started.elapsed() < time || count == 0 {
        look()?;
        count += 1;
    }
    Ok(f64::from(count) / started.elapsed().as_secs_f64())
}

/// Makes a packed repository with 40 commits, and returns its git directory.
fn make(path: &Path) -> Result<PathBuf, Box<dyn Error>> {
    std::fs::create_dir(path)?;
    run(&["init", "-q", "-b", "main"], path)?;
    for index in 0..40 {
        let message = format!("change {index}");
        run(&["commit", "-q", "--allow-empty", "-m", &message], path)?;
    }
    run(&["gc", "-q"], path)?;
    Ok(path.join(".git"))
}

fn run(arguments: &[&str], directory: &Path) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", "/nonexistent");
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "a")
            .env(format!("GIT_{role}_EMAIL"), "a");
    }
    let output = command
        .output()
        .map_err(|error| format!("git cannot be run ({error}): install it"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

fn copy(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let (entry, to) = (entry?, to);
        let name = entry.file_name();
        if entry.file_type()?.is_dir() {
            if name != "hooks" && name != "logs" {
                copy(&entry.path(), &to.join(name))?;
            }
        } else {
            std::fs::hard_link(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn entries(path: &str) -> usize {
    std::fs::read_dir(path).map_or(0, Iterator::count)
}

fn lines(path: &str) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

fn resident() -> Result<usize, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line
        .and_then(|line| line.split_whitespace().next())
        .ok_or("no VmRSS")?;
    Ok(number.parse()?)
}
