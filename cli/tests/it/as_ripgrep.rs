//! `trawl search` prints the output of ripgrep, flag by flag.
//!
//! `as_ripgrep.txt` has ripgrep's output after lines `$ FLAGS QUERY`; `REWRITE=1` updates it.

use crate::home::Home;
use std::fmt::Write;
use std::process::{Command, Stdio};

const GOLDEN: &str = "tests/it/as_ripgrep.txt";

/// Flags and a query. `-U` is passed only to ripgrep.
const LINES: &[&str] = &[
    "-F errno",
    "-F -n errno",
    "-F -N errno",
    "-F -H errno",
    "-F -I errno",
    "-F -I -N errno",
    "-F -l errno",
    "-F -l -0 errno",
    "-F -c errno",
    "-F -c -i errno",
    "-F -c -I errno",
    "-F -c -0 errno",
    "-F --count-matches errno",
    "-F -c -o errno",
    "-F -o errno",
    "-F -o --column errno",
    "-F -i errno",
    "-F -s Errno",
    "-F -S errno",
    "-F -S Errno",
    "-F -w errno",
    "-F -w -i errno",
    "-e e[r]+no",
    "-e errno -e EINTR",
    "-F -e errno -e main(",
    "-e ^$",
    "-w -e e[a-z]+",
    "-F -C 1 errno",
    "-F -A 2 errno",
    "-F -B 2 errno",
    "-F -A 1 -B 2 errno",
    "-F -C 2 -B 0 errno",
    "-F -o -C 1 errno",
    "-F -m 1 errno",
    "-F -m 1 -A 3 errno",
    "-F -m 1 -c errno",
    "-F --column errno",
    "-F --column -C 1 errno",
    "-F --vimgrep errno",
    "-F --vimgrep -A 1 errno",
    "-F -0 errno",
    "-F --heading errno",
    "-F --heading -N errno",
    "-F --heading -C 1 errno",
    "-F --heading --column errno",
    "-F --color=always EINTR",
    "-F --color=always --heading -C 1 --column EINTR",
    "-F --color=always -o EINTR",
    "-F --color=always -c EINTR",
    "-F --color=always -l EINTR",
    "-F nowhere",
    "-U -e a\\nb",
    "-U -N -e a\\nb",
    "-U -c -e a\\nb",
    "-U --count-matches -e a\\nb",
    "-U -l -e a\\nb",
    "-U -o -e a\\nb",
    "-U -C 1 -e a\\nb",
    "-U -m 1 -e a\\nb",
    "-U -m 2 -C 1 -e a\\nb",
    "-U --vimgrep -e a\\nb",
    "-U --vimgrep -e (?s)a.b",
    "-U --heading -C 1 -e a\\nb",
    "-U --color=always -e a\\nb",
];

fn home() -> Home {
    let home = Home::new();
    home.write(
        "all/one_1.0/src/main.c",
        "#include <errno.h>\n\nint main(void)\n{\n\tif (errno == EINTR && errno)\n\t\treturn errno;\n\
         \t/* ERRNO, xerrnox */\n\treturn 0;\n}\n",
    );
    home.write(
        "all/one_1.0/src-old/main.c",
        "one\ntwo\nthree\nerrno\nfive\nsix\nseven\nEINTR\n",
    );
    home.write(
        "all/one_1.0/src/a b.txt",
        b"na\xefve errno \xff\n\tErrno\terrno\n",
    );
    home.write("all/two-2/errno.txt", "nothing of the kind\n\nEINTR\n");
    home.write(
        "all/two-2/runs.txt",
        "x a\nbc a\nb a\nb\nq\na\nb\nlast a\nb\n",
    );
    home.ok("index --index I --each all");
    home
}

fn section(line: &str, out: &[u8], text: &mut String) {
    writeln!(text, "$ {line}").unwrap();
    for row in out.split_inclusive(|&byte| byte == b'\n') {
        writeln!(text, "  {}", row.escape_ascii()).unwrap();
    }
}

fn of_trawl(home: &Home, place: &str) -> String {
    let mut text = String::new();
    for line in LINES {
        let flags = line.trim_start_matches("-U ");
        let run = home.run(&format!("search {place} --sort path {flags}"));
        run.check(line, i32::from(run.stdout.is_empty()), &[]);
        section(line, &run.stdout, &mut text);
    }
    text
}

/// Earlier versions differ in `-C` with `-B`, and in `-U` with `-m`.
const RIPGREP_MIN: u32 = 15;

fn of_ripgrep(home: &Home) -> Option<String> {
    let version = Command::new("rg").arg("--version").output().ok()?;
    let version = String::from_utf8(version.stdout).ok()?;
    let major = version.strip_prefix("ripgrep ")?.split('.').next()?;
    if major.parse::<u32>().ok()? < RIPGREP_MIN {
        return None;
    }
    let mut text = String::new();
    for line in LINES {
        let words: Vec<&str> = line.split(' ').collect();
        // Trawl defaults to line numbers without heading.
        let has_numbers = !["-N", "-l", "-c", "--count-matches"]
            .iter()
            .any(|flag| words.contains(flag));
        let heading = words
            .iter()
            .any(|word| ["--heading", "--vimgrep"].contains(word));
        let run = Command::new("rg")
            .args(["-a", "--no-config", "--sort=path"])
            .args(has_numbers.then_some("-n"))
            .args((!heading).then_some("--no-heading"))
            .args(words)
            .args(["one_1.0", "two-2"])
            .current_dir(home.path("all"))
            .stdin(Stdio::null())
            .output()
            .ok()?;
        section(line, &run.stdout, &mut text);
    }
    Some(text)
}

#[test]
fn index_and_server_print_what_ripgrep_prints() {
    let home = home();
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    if let Some(theirs) = of_ripgrep(&home) {
        if std::env::var_os("REWRITE").is_some() {
            std::fs::write(&golden, &theirs).unwrap();
        }
        let known = std::fs::read_to_string(&golden).unwrap();
        assert!(
            known == theirs,
            "the installed ripgrep has other output:\n{theirs}"
        );
    }
    let expected = std::fs::read_to_string(&golden).unwrap();
    let server = home.start("serve --index I");
    for place in [
        "--index I".to_owned(),
        format!("--server {}", server.address),
    ] {
        let printed = of_trawl(&home, &place);
        let differ = expected.lines().zip(printed.lines()).find(|(a, b)| a != b);
        assert!(
            printed == expected,
            "{place}: first {differ:?} in:\n{printed}"
        );
    }
}
