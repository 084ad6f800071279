//! `trawl grep` prints what ripgrep prints, with its status.
//!
//! `grep.txt` has ripgrep's status and output after lines `$ ARGUMENTS`; `REWRITE=1` updates it.

use crate::home::Home;
use crate::process::finish;
use std::fmt::Write;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

const GOLDEN: &str = "tests/it/grep.txt";

/// Version whose output is in the file.
const RIPGREP: &str = "ripgrep 15.2";

/// Arguments; `--sort=path` precedes them, since several threads print in any order.
const LINES: &[&str] = &[
    // As agents call it.
    "--hidden --glob !.git --max-columns 500 -l errno",
    "--hidden --glob !.git --max-columns 500 -c -H errno",
    "--hidden --glob !.git --max-columns 500 -n -C 1 errno",
    "--hidden --glob !.git --max-columns 500 -U --multiline-dotall -n -o main.*?errno",
    "--files --glob *.c --sort=modified --no-ignore --hidden",
    "--files-with-matches --sortr=modified --regexp errno --no-messages --",
    "-nH --hidden --follow --no-messages --field-match-separator=| --regexp errno",
    "--files --glob=!.git/* --follow --hidden",
    "--files --hidden --max-depth 1 --iglob *.TXT",
    "--files",
    "--files src",
    "--files ./src src/main.c",
    "--files -uu",
    "--files --no-ignore-vcs",
    "--files --no-ignore-dot",
    "--files --no-ignore-exclude",
    "--files --no-ignore-parent src",
    "--files --no-ignore-global",
    "--files --no-require-git",
    "--files --ignore-file more.ignore",
    "--files --ignore-file more.ignore --no-ignore-files",
    "--files --ignore-file more.ignore --ignore-file-case-insensitive",
    "--files -g *.h -g !config*",
    "--files -g src/**/*.c",
    "--files -g *.log",
    "--files --iglob *.C",
    "--files --glob-case-insensitive -g *.C",
    "--files -t c",
    "--files -T c",
    "--files --type-add web:*.html -t web",
    "--files --type-clear c -t c",
    "--files -t nonsense",
    "--files --max-filesize 20",
    "--files --max-filesize 1K",
    "--files -d 1",
    "--files --maxdepth 2",
    "--files -L",
    "--files -0",
    "--files -q",
    "--files --sort none -g config.h",
    "--files --sortr path",
    "--files --sort created -g none",
    "--files --path-separator + src",
    "--files --one-file-system src",
    "--files --null absent",
    "--type-list --type-clear c --type-add c:*.see -q",
    // Patterns.
    "errno",
    "-F errno.",
    "-i ERRNO",
    "-S errno",
    "-S Errno",
    "-s -i -s errno",
    "-w errno",
    "-x errno",
    "-v errno src/main.c",
    "-e errno -e EINTR",
    "-f patterns",
    "-f patterns -e one",
    "-f /dev/null",
    "-f absent",
    "-e -x",
    "-- -x",
    "(unclosed",
    "a\\nb",
    "\\x00",
    "-U a\\nb",
    "-U -o a\\nb",
    "-U -c three\\nerrno",
    "-U --multiline-dotall three.errno",
    "--no-unicode \\w+ve",
    "--crlf five$",
    "five$",
    "--null-data -o errno src/main.c",
    "--regex-size-limit 1K \\w{30}",
    "--dfa-size-limit 1M errno src",
    "--engine default EINTR",
    "--no-pcre2 EINTR",
    // Output.
    "-n errno",
    "-N --heading errno",
    "--heading -n errno",
    "-p EINTR",
    "-H -n errno src/main.c",
    "-n errno src/main.c",
    "-I errno",
    "-c errno",
    "-c --include-zero errno",
    "-c -v errno",
    "--count-matches errno",
    "-c -o errno",
    "--count-matches -v errno",
    "-l errno",
    "-l -0 errno",
    "--files-without-match errno",
    "-q errno",
    "-q nowhere",
    "-o errno",
    "-o -b -n errno",
    "--column errno",
    "--vimgrep errno",
    "-b errno",
    "-A 1 errno",
    "-B 1 -n errno",
    "-C 2 -B 0 errno",
    "-A1 -C0 -n errno",
    "--passthru EINTR src-old",
    "--context-separator == -C 1 errno",
    "--no-context-separator -C 1 errno",
    "--field-context-separator + -C 1 -n errno src-old",
    "--field-match-separator \\t -n errno",
    "-m 1 errno",
    "-m 1 -c errno",
    "-m 0 errno",
    "-M 12 errno",
    "-M 12 --max-columns-preview errno",
    "-M 12 -o errno",
    "-r <$0> errno",
    "-r <$1> -o (err)no",
    "--trim errno",
    "--json EINTR",
    "--json -C 1 -r x errno src-old",
    "--json --no-json EINTR",
    "--json -l EINTR",
    "--color always EINTR",
    "--color ansi --heading -n EINTR",
    "--color always --colors match:fg:blue --colors path:none EINTR",
    "--color always -c EINTR",
    "--color always --hyperlink-format file://{path} -l EINTR src-old",
    "--null -c errno",
    "--stop-on-nonmatch e src-old",
    "--line-buffered errno src-old",
    "--block-buffered errno src-old",
    "--sort path --threads 4 errno",
    "--no-mmap errno src/main.c",
    "--mmap errno src",
    // Binary files and encodings.
    "needle",
    "--binary needle",
    "-a needle",
    "-uuu needle",
    "needle data.bin",
    "-c needle data.bin",
    "-l needle data.bin",
    "wide",
    "-E none wide",
    "-E utf-16le wide wide.txt",
    "-E latin1 na.ve src",
    "-E nonsense wide",
    "--no-encoding wide",
    "-b wide wide.txt",
    "--pre cat needle data.bin",
    "--pre cat --pre-glob *.txt needle",
    "--pre absent-command needle",
    "-z packed",
    "-z -c packed packed.gz",
    // Mistakes.
    "--sort=modified ( absent",
    "",
    "--max-count x errno",
    "-A",
    "--color sometimes errno",
    "--sort size errno",
    "--context-separator",
    "-uuuu errno",
    "errno absent",
    "errno absent src-old",
    "-q errno absent src-old",
    "--no-messages errno absent",
    "-g [ errno",
    "-g nothing errno",
    "-g nothing errno ./",
    "--pcre2-version",
];

fn home() -> Home {
    let home = Home::new();
    let source = "#include <errno.h>\n\nint main(void)\n{\n\tif (errno == EINTR && errno)\n\t\t\
                  return errno;\n\t/* ERRNO, xerrnox */\n\treturn 0;\n}\n";
    home.write("w/src/main.c", source);
    home.write("w/src/config.h", "#define CONFIG errno\n");
    home.write("w/src/deep/er/list.H", "extern int errno;\n");
    home.write("w/src/na.txt", b"na\xefve errno \xff\n\tErrno\terrno\n");
    home.write(
        "w/src-old/main.c",
        "one\ntwo\nthree\nerrno\nfive\r\nsix\nseven\nEINTR -x\n",
    );
    home.write("w/.gitignore", "*.log\n/build/\n");
    home.write("w/.ignore", "scratch\n");
    home.write("w/.rgignore", "!kept.log\n");
    home.write("w/.git/info/exclude", "excluded*\n");
    home.write("w/.git/HEAD", "ref: refs/heads/main\n");
    home.write("w/src/.gitignore", "generated.c\n");
    home.write("w/.hidden/errno.txt", "errno\n");
    for path in [
        "build/out.c",
        "debug.log",
        "kept.log",
        "scratch",
        "excluded.c",
        "src/generated.c",
        "UPPER.C",
    ] {
        home.write(&format!("w/{path}"), "int errno;\n");
    }
    home.write("w/more.ignore", "*.h\nupper.c\n");
    home.write("w/patterns", "EINTR\nmain\n");
    home.write("w/index.html", "<b>a\nb</b>\n");
    home.write("w/data.bin", b"needle\none\0two\nneedle again\n");
    let wide: Vec<u8> = "\u{feff}wide\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    home.write("w/wide.txt", wide);
    home.write("w/packed.gz", include_bytes!("grep.gz"));
    symlink("src-old", home.path("w/link")).unwrap();
    symlink("absent", home.path("w/broken")).unwrap();
    // Files of one tick of the clock would have any order.
    for (age, path) in [
        "UPPER.C",
        "kept.log",
        "excluded.c",
        "src/generated.c",
        "src/na.txt",
        "src/deep/er/list.H",
        "src/config.h",
        "src/main.c",
        "src-old/main.c",
        "build/out.c",
    ]
    .iter()
    .enumerate()
    {
        let file = File::options()
            .append(true)
            .open(home.path("w").join(path))
            .unwrap();
        let age = Duration::from_secs(3600 * (age as u64 + 1));
        file.set_modified(SystemTime::now() - age).unwrap();
    }
    home
}

/// Status and output, with the name of the program and its times left out.
fn section(home: &Home, line: &str, command: &mut Command, text: &mut String) {
    let place = home.path("").display().to_string();
    let run = finish(command.stdin(Stdio::null()));
    writeln!(text, "$ {line}\n  status {:?}", run.code).unwrap();
    for row in run.stdout.split_inclusive(|&byte| byte == b'\n') {
        writeln!(
            text,
            "  {}",
            timeless(&row.escape_ascii().to_string()).replace(&place, "HOME/")
        )
        .unwrap();
    }
    for row in run.stderr.lines() {
        let row = row.trim_start_matches("trawl: ").trim_start_matches("rg: ");
        writeln!(text, "  ! {row}").unwrap();
    }
}

/// Leaves out the object that has the times, which ends a JSON line.
fn timeless(row: &str) -> String {
    let mut row = row.to_owned();
    while let Some(at) = row.find("elapsed") {
        let length = row[at..].find('}').map_or(row.len() - at, |end| end + 1);
        row.replace_range(at..at + length, "");
    }
    row
}

fn arguments(line: &str) -> impl Iterator<Item = &str> {
    ["--sort=path"].into_iter().chain(line.split_whitespace())
}

fn of_trawl(home: &Home) -> String {
    let mut text = String::new();
    for line in LINES {
        let mut command = home.command("grep");
        command.args(arguments(line)).current_dir(home.path("w"));
        section(home, line, &mut command, &mut text);
    }
    text
}

fn of_ripgrep(home: &Home) -> Option<String> {
    let version = Command::new("rg").arg("--version").output().ok()?;
    if !version.stdout.starts_with(RIPGREP.as_bytes()) {
        return None;
    }
    let mut text = String::new();
    for line in LINES {
        let mut command = Command::new("rg");
        command
            .args(arguments(line))
            .current_dir(home.path("w"))
            .env("HOME", home.path(""))
            .env_remove("RIPGREP_CONFIG_PATH");
        section(home, line, &mut command, &mut text);
    }
    Some(text)
}

#[test]
fn prints_what_ripgrep_prints() {
    let home = home();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    if let Some(theirs) = of_ripgrep(&home) {
        if std::env::var_os("REWRITE").is_some() {
            fs::write(&golden, &theirs).unwrap();
        }
        let known = fs::read_to_string(&golden).unwrap();
        assert!(
            known == theirs,
            "the installed ripgrep has other output:\n{theirs}"
        );
    }
    let expected = fs::read_to_string(&golden).unwrap();
    let printed = of_trawl(&home);
    let differ = expected.lines().zip(printed.lines()).find(|(a, b)| a != b);
    assert!(
        printed == expected,
        "{printed}\nfirst difference: {differ:?}"
    );
}

#[test]
fn flags_that_are_not_there_are_refused_by_name() {
    let home = Home::new();
    for (line, says) in [
        ("-P errno", "-P: PCRE2 is not built in"),
        ("--pcre2 errno", "--pcre2: PCRE2 is not built in"),
        ("--engine auto errno", "--engine: PCRE2 is not built in"),
        ("--auto-hybrid-regex errno", "call rg -P"),
        ("--generate man", "call trawl man"),
        (
            "--ignore-cas errno",
            "similar flags that are available: --ignore-case",
        ),
        ("--nonsense errno", "unrecognized flag --nonsense"),
        (
            "--path-separator ab errno",
            "exactly one byte, but this one has 2",
        ),
        ("-# errno", "unrecognized flag -#"),
    ] {
        home.run(&format!("grep {line}")).check(line, 2, &[says]);
    }
}

#[test]
fn a_link_named_rg_is_ripgrep() {
    let home = Home::new();
    home.write("a.c", "int errno;\n");
    symlink(env!("CARGO_BIN_EXE_trawl"), home.path("rg")).unwrap();
    let rg = |word: &str| {
        let mut command = Command::new(home.path("rg"));
        command
            .args(["--no-config", word])
            .current_dir(home.path(""));
        finish(command.stdin(Stdio::null()))
    };
    let version = rg("--version");
    assert!(version.text().starts_with("ripgrep 15.2.0\n"));
    assert_eq!(rg("errno").text(), "a.c:int errno;\n");
    let missing = rg("--nonsense");
    missing.check("--nonsense", 2, &["rg: unrecognized flag --nonsense"]);
}
