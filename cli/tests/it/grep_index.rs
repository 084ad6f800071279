//! With the index process `trawl grep` prints what it prints without, after any edit.
//!
//! `GREP_EDITS=10000` and `GREP_KILLS=200` make the random tests long, `GREP_SEED` repeats one.

use crate::home::Home;
use crate::process::{Finished, Process, finish};
use crate::{WAIT_MAX, poll};
use fastrand::Rng;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::Duration;

const EDITS: u64 = 250;
const KILLS: u64 = 10;
const TICK: Duration = Duration::from_millis(2_100);
const WORDS: [&str; 8] = [
    "alpha", "beta", "gamma", "delta", "epsilon", "Straße", "kelvin", "Öl",
];
const DIRECTORIES: [&str; 9] = [
    "",
    "src",
    "src/deep",
    "src/deep/er",
    "docs",
    "ignored",
    ".hidden",
    "vendor",
    "new",
];

const PATTERNS: &[&str] = &[
    "alpha",
    "al.ha",
    "-i BETA",
    "-S kelvin",
    "-S Kelvin",
    "alpha|gamma",
    "-w delta",
    "-x delta",
    "-F epsilon",
    "-F e.silon",
    "-e alpha -e kelvin",
    "-e beta|x -e zzz",
    "(?i)straSSe|ÖL",
    "-i straße",
    "-U alpha\\nbeta",
    "-U --multiline-dotall alpha.beta",
    "(?-u:alpha.beta)",
    "--no-unicode alpha.beta",
    "--crlf gamma$",
    "gamma.?$",
    "nowhere",
    "[a-e]lpha",
    "^(del|eps)",
    "-v alpha",
];

const FLAGS: &[&str] = &[
    "",
    "-n",
    "-l",
    "-c",
    "-o",
    "-q",
    "-C 1",
    "--hidden",
    "--no-ignore",
    "-uuu",
    "-L",
    "-L --hidden",
    "-m 1",
    "-g *.c",
    "-g !src",
    "--iglob *.TXT --hidden",
    "-t c",
    "--json",
    "--stats -q",
    "--files-without-match",
    "--files -g *.c",
    "--files -g !*.c -t md",
    "--files --hidden --no-ignore --iglob **/DEEP/*",
    "-t c -t md",
    "-c --include-zero",
    "--count-matches",
    "--passthru",
    "-a",
    "--binary",
    "-E utf-16le",
    "--null-data",
    "-d 2",
    "--max-filesize 60",
    "--no-messages",
    "--debug -q",
    "-z",
];

const PATHS: &[&str] = &[
    "",
    "",
    "",
    "./",
    "src",
    "src/deep/..",
    "src docs",
    "docs ./src src/deep",
    "link",
    "absent src",
    ".hidden",
    "ignored/",
    ".git",
];

struct Edits {
    home: Home,
    rng: Rng,
    process: Process,
    /// Searches start no process.
    is_alone: bool,
}

impl Edits {
    fn new(seed: u64) -> Edits {
        let home = Home::new();
        for (index, directory) in DIRECTORIES[..8].iter().enumerate() {
            for file in 0..6 {
                let name = ["a.c", "b.txt", "c.md", "d", ".e", "f.h"][file];
                let text = format!("{}\nline {index}\n", WORDS[(index + file) % WORDS.len()]);
                home.write(&format!("t/{directory}/{name}"), text);
            }
        }
        home.write("t/.git/HEAD", "ref: refs/heads/alpha\n");
        home.write("t/.git/info/exclude", "*.excluded\n");
        home.write("t/.gitignore", "ignored\n");
        home.write("t/vendor/.git", "gitdir: beta\n");
        home.write("t/x.excluded", "alpha\n");
        symlink("src/deep", home.path("t/link")).unwrap();
        let process = Edits::start(&home);
        Edits {
            home,
            rng: Rng::with_seed(seed),
            process,
            is_alone: false,
        }
    }

    fn start(home: &Home) -> Process {
        let process = Process::start(&mut home.command("local run t"));
        poll("an index", WAIT_MAX, || {
            let status = home.run("local update");
            status.text().contains("  watched").then_some(())
        });
        process
    }

    fn path(&mut self) -> PathBuf {
        let directory = DIRECTORIES[self.rng.usize(..DIRECTORIES.len())];
        let names = [
            "a.c", "b.txt", "c.md", "d", ".e", "f.h", "new.c", "more.txt",
        ];
        let name = names[self.rng.usize(..names.len())];
        self.home.path(&format!("t/{directory}/{name}"))
    }

    fn directory(&mut self) -> PathBuf {
        let directory = DIRECTORIES[self.rng.usize(1..DIRECTORIES.len())];
        self.home.path(&format!("t/{directory}"))
    }

    fn text(&mut self) -> Vec<u8> {
        let mut text = String::new();
        for _ in 0..self.rng.usize(0..5) {
            text += WORDS[self.rng.usize(..WORDS.len())];
            text += ["\n", "\r\n", " ", "\r", "\n\n"][self.rng.usize(..5)];
        }
        match self.rng.u8(..10) {
            0 => [text.as_bytes(), b"\0alpha\n"].concat(),
            1 => [
                &b"\xff\xfe"[..],
                &text
                    .encode_utf16()
                    .flat_map(u16::to_le_bytes)
                    .collect::<Vec<_>>(),
            ]
            .concat(),
            2 => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            4 => text.chars().map(|letter| letter as u8).collect(),
            3 => [text.as_bytes(), &b"x\n".repeat(5_000), b"\0beta\n"].concat(),
            _ => text.into_bytes(),
        }
    }

    /// Edits fail where a path is gone; that is no edit.
    fn edit(&mut self) {
        let (from, to) = (self.path(), self.path());
        let (directory, other) = (self.directory(), self.directory());
        let text = self.text();
        let _ = match self.rng.u8(..20) {
            0..=4 => fs::write(from, text),
            5 => fs::create_dir_all(from.parent().unwrap()).and_then(|()| fs::write(from, text)),
            6 => fs::rename(from, to),
            7 => fs::remove_file(from),
            8 => fs::rename(directory, other.join("moved")),
            9 => fs::rename(other.join("moved"), directory),
            10 => fs::create_dir_all(directory.join("deep/er"))
                .and_then(|()| fs::write(directory.join("deep/er/b.txt"), text)),
            11 => fs::remove_dir_all(directory),
            12 => fs::write(
                directory.join([".gitignore", ".ignore", ".rgignore"][self.rng.usize(..3)]),
                ["*.c\n", "{\n", "", "!ignored\n", "deep\n"][self.rng.usize(..5)],
            ),
            13 => symlink(["../src", "a.c", "nowhere", "."][self.rng.usize(..4)], to),
            14 if self.rng.u8(..8) == 0 => fs::hard_link(from, to),
            15 => fs::set_permissions(
                &from,
                PermissionsExt::from_mode([0o644, 0o000][self.rng.usize(..2)]),
            ),
            16 => swap(&directory, &other),
            17 => fs::remove_file(&from)
                .and_then(|()| fs::create_dir(&from))
                .and_then(|()| fs::write(from.join("x.c"), text)),
            18 => keep_times(&from, &text),
            _ => fs::write(from.with_extension("new"), text)
                .and_then(|()| fs::rename(from.with_extension("new"), from)),
        };
    }

    fn grep(&self, arguments: &str, flags: &str) -> Finished {
        let mut command = self.home.command(&format!("grep {flags} {arguments}"));
        if self.is_alone {
            command.env("CODEX_SANDBOX_NETWORK_DISABLED", "1");
        }
        let mut finished = finish(command.current_dir(self.home.path("t")));
        if arguments.contains("-j2") {
            let mut lines: Vec<_> = finished.stdout.split(|&byte| byte == b'\n').collect();
            lines.sort();
            finished.stdout = lines.join(&b'\n');
        }
        let mut messages: Vec<_> = finished.stderr.lines().collect();
        messages.retain(|line| !line.starts_with("DEBUG") && !line.contains("/index"));
        messages.sort_unstable();
        finished.stderr = messages.join("\n");
        finished
    }

    fn check(&mut self, number: u64) {
        let any = |rng: &mut Rng, from: &[&'static str]| from[rng.usize(..from.len())];
        let mut arguments = format!(
            "{} {} {}",
            any(&mut self.rng, FLAGS),
            any(&mut self.rng, PATTERNS),
            any(&mut self.rng, PATHS),
        );
        // With several threads, the first match ends the others, and only lines can be sorted.
        let is_ordered = arguments.contains("-q") || arguments.contains("--null-data");
        let orders = ["--sort=path", "--sort=path", "--sortr=modified", "-j2"];
        let orders = &orders[..4 - usize::from(is_ordered)];
        arguments = format!("{} {arguments}", any(&mut self.rng, orders));
        let with = self.grep(&arguments, "");
        let without = self.grep(&arguments, "--no-index");
        assert_eq!(with.code, without.code, "{number}: {arguments}");
        assert_eq!(with.stderr, without.stderr, "{number}: {arguments}");
        let (with, without) = (without_times(&with.stdout), without_times(&without.stdout));
        assert_eq!(with, without, "{number}: {arguments}");
    }

    /// Kind of the index that a search uses; empty for none.
    fn index(&self) -> String {
        let stats = self.grep("--stats -q nowhere", "");
        let (_, index) = stats.text().rsplit_once("index: ").unwrap_or_default();
        index.trim().to_owned()
    }
}

/// Output without times, and without the counts of files that were opened.
fn without_times(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let is_equal = |line: &&str| {
        let is_count = line.ends_with(" searched") || line.starts_with("index: ");
        let has_time = line.contains("\"elapsed") || line.contains(" seconds ");
        !is_count && !has_time
    };
    text.lines().filter(is_equal).collect::<Vec<_>>().join("\n")
}

fn swap(a: &PathBuf, b: &PathBuf) -> std::io::Result<()> {
    let aside = a.with_extension("aside");
    fs::rename(a, &aside)?;
    let _ = fs::rename(b, a);
    fs::rename(aside, b)
}

fn keep_times(path: &PathBuf, text: &[u8]) -> std::io::Result<()> {
    let modified = fs::metadata(path)?.modified()?;
    fs::write(path, text)?;
    fs::File::options()
        .write(true)
        .open(path)?
        .set_modified(modified)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn no_answer_is_stale() {
    let edits = number("GREP_EDITS").unwrap_or(EDITS);
    let seed = number("GREP_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("GREP_SEED={seed}");
    let mut test = Edits::new(seed);
    let mut watched = 0;
    for number in 0..edits {
        test.edit();
        test.check(number);
        watched += u64::from(test.index() == "watched");
        match test.rng.u8(..200) {
            0..20 => drop(test.home.ok("local update")),
            20 => {
                let process = Edits::start(&test.home);
                // The second one ended at once.
                drop(std::mem::replace(&mut test.process, process));
                (0..4).for_each(|_| test.edit());
                test.check(number);
                test.process = Edits::start(&test.home);
            }
            _ => {}
        }
    }
    println!("{watched} of {edits} searches by a watched index");
    assert!(watched * 2 > edits, "{watched} of {edits}");
}

#[test]
fn without_the_process_files_are_compared() {
    let edits = number("GREP_EDITS").unwrap_or(EDITS) / 2;
    let seed = number("GREP_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("GREP_SEED={seed}");
    let mut test = Edits::new(seed);
    test.is_alone = true;
    for round in 0..2 {
        // Files that are as new as the index are searched in any case.
        std::thread::sleep(TICK);
        test.home.ok("local update");
        test.process.signal("KILL");
        assert_eq!(test.index(), "compared");
        for number in 0..edits {
            test.check(round * edits + number);
            test.edit();
        }
        test.process = Edits::start(&test.home);
    }
}

#[test]
fn a_killed_process_leaves_no_stale_answer() {
    let kills = number("GREP_KILLS").unwrap_or(KILLS);
    let seed = number("GREP_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("GREP_SEED={seed}");
    let mut test = Edits::new(seed);
    test.is_alone = true;
    for number in 0..kills {
        test.process.signal("KILL");
        test.process.wait(WAIT_MAX);
        (0..3).for_each(|_| test.edit());
        test.check(number);
        test.process = Process::start(&mut test.home.command("local run t"));
        // It may be starting, indexing or serving.
        std::thread::sleep(Duration::from_millis(test.rng.u64(..400)));
        test.edit();
        test.check(number);
    }
}

#[test]
fn an_overflow_is_noticed() {
    let test = Edits::new(1);
    test.process.signal("STOP");
    for round in 0..25_000 {
        let path = format!("t/src/{}", round % 100);
        fs::write(test.home.path(&path), "").unwrap();
    }
    test.home.write("t/docs/a.c", "overflown\n");
    // The process does not answer.
    assert_eq!(test.index(), "compared");
    assert_eq!(test.grep("overflown", "").text(), "docs/a.c:overflown\n");
    test.process.signal("CONT");
    assert_eq!(test.grep("overflown", "").text(), "docs/a.c:overflown\n");
    assert_eq!(test.grep("overflown", "").text(), "docs/a.c:overflown\n");
    test.home.ok("local update");
    assert_eq!(test.grep("overflown", "").text(), "docs/a.c:overflown\n");
    assert_eq!(test.index(), "watched");
}

#[test]
fn beyond_the_budget_of_watches_files_are_compared() {
    let home = Home::new();
    for number in 0..20 {
        home.write(&format!("t/{number}/x"), "alpha\n");
    }
    let mut command = home.command("local run t");
    let _process = Process::start(command.env("TRAWL_LOCAL_WATCHES", "16"));
    let status = poll("a refusal", WAIT_MAX, || {
        let status = home.run("local update").text().to_owned();
        status.contains("more than 16").then_some(status)
    });
    assert!(
        status.contains("compared: cannot watch: more than 16"),
        "{status}"
    );
    assert!(home.path("cache/trawl/local").exists(), "no index");
    assert_eq!(home.run("grep -c alpha t/3").text(), "t/3/x:1\n");
}

#[test]
fn indexes_beyond_the_limit_are_removed() {
    let home = Home::new();
    home.write("t/a", "alpha\n".repeat(1_000));
    home.write("u/a", "beta\n".repeat(1_000));
    let process = Edits::start(&home);
    let status = home.run("local");
    assert!(status.text().ends_with(" of 10000\n"), "{}", status.text());
    home.ok("local --cache-size 1T");
    assert!(home.run("local status").text().contains("  watched"));
    let status = home.run("local --cache-size 1k");
    assert_eq!(status.text().lines().last(), Some("all indexes 0 MB of 0"));
    assert!(!status.text().contains("/t"), "{}", status.text());
    assert_eq!(home.run("grep -c beta u").text(), "u/a:1000\n");
    process.signal("KILL");
    drop(process);
    home.run("local --cache-size 5 GB")
        .check("no size", 2, &["unrecognized subcommand 'GB'"]);
    home.run("local --cache-size 5GB");
    let _process = Edits::start(&home);
    let status = home.run("local");
    assert!(status.text().ends_with(" of 5368\n"), "{}", status.text());
}
