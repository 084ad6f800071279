//! Output beyond ripgrep: streams, long multi-line matches, JSON fields, links, totals, exit
//! statuses.

use crate::home::Home;
use crate::process::finish;
use serde_json::{Value, json};

fn home() -> Home {
    let home = Home::new();
    home.write("p_1/src/a.c", "int wanted;\nint other; wanted, wanted\n");
    home.write("p_1/src/b.h", "wanted\n");
    home.write("p_1/c.c", "wanted\n");
    home.ok("index --index I p_1");
    home
}

/// The index and its server must agree.
fn both(home: &Home, server: &str, line: &str) -> String {
    let local = home.run(&format!("search --index I {line}"));
    let remote = home.run(&format!("search --server {server} {line}"));
    let code = i32::from(local.stdout.is_empty() && !line.contains("-q"));
    local.check(line, code, &[]);
    remote.check(line, code, &[]);
    assert_eq!(local.text(), remote.text(), "{line}");
    local.text().to_owned()
}

#[test]
fn stream_prints_every_match() {
    let home = home();
    let server = home.start("serve --index I");
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let all = sorted(&both(&home, &server.address, "wanted"));
    for place in [
        "--index I".to_owned(),
        format!("--server {}", server.address),
    ] {
        let streamed = home.ok(&format!("search {place} --stream wanted"));
        assert_eq!(
            sorted(std::str::from_utf8(&streamed).unwrap()),
            all,
            "{place}"
        );
        let none = home.run(&format!("search {place} --stream absent"));
        none.check("a stream without matches", 1, &[]);
    }
    home.run("search --index I --stream --limit 3 wanted")
        .check("the best matches are not known", 2, &["--limit"]);
    let best = both(&home, &server.address, "--limit 1 wanted");
    let limited = both(&home, &server.address, "--sort none --limit 1 wanted");
    assert_eq!(limited, best, "a limit gives the best matches");
}

#[test]
fn limit_holds_in_every_order() {
    let home = home();
    let server = home.start("serve --index I");
    for place in [
        "--index I".to_owned(),
        format!("--server {}", server.address),
    ] {
        for order in ["rank", "path", "none"] {
            let lines = |line: &str| {
                let out = home.ok(&format!("search {place} --sort {order} {line}"));
                out.split_inclusive(|&byte| byte == b'\n').count()
            };
            assert_eq!(lines("--limit 2 wanted"), 2, "{place} {order}");
            assert_eq!(lines("--json --limit 1 wanted"), 4, "{place} {order}");
        }
        let mut command = home.command(&format!("search {place} --stream"));
        let refused = finish(command.arg("wanted count:2"));
        refused.check(
            "the best matches are known at the end",
            2,
            &["count:N", "--stream"],
        );
    }
}

#[test]
fn file_names_and_multi_line_matches() {
    let home = home();
    let server = home.start("serve --index I");
    let print = |line: &str| both(&home, &server.address, line);
    assert_eq!(print("path:b.h"), "p_1/src/b.h\n");
    assert_eq!(
        print("--sort path lang:c"),
        "p_1/c.c\np_1/src/a.c\np_1/src/b.h\n"
    );
    assert_eq!(
        print("--null -e wanted;\\nint"),
        "p_1/src/a.c\x001:int wanted;\np_1/src/a.c\x002:int other; wanted, wanted\n"
    );
    assert_eq!(
        print("-C1 -e d;\\nint.o"),
        "p_1/src/a.c:1:int wanted;\np_1/src/a.c:2:int other; wanted, wanted\n"
    );
}

/// Fetched in several pieces.
const LINES: usize = 60_000;

#[test]
fn long_multi_line_matches_are_complete() {
    let home = home();
    // Longer than the sent part, with more ranges, without a final line end.
    let text = vec!["long line"; LINES].join("\n");
    home.write("q_1/long.txt", &text);
    home.write("q_1/many.txt", format!("x\n{}", "ab\n".repeat(500)));
    home.ok("index --index J q_1");
    let server = home.start("serve --index J");
    for place in [
        "--index J".to_owned(),
        format!("--server {}", server.address),
    ] {
        let lines = |line: &str| {
            let out = home.ok(&format!("search {place} {line}"));
            out.split_inclusive(|&byte| byte == b'\n').count()
        };
        assert_eq!(lines("-o -e (?s)\\Along.*\\z"), LINES, "{place}");
        for order in ["", "--sort none"] {
            let out = home.ok(&format!("search {place} {order} -e (?s)\\Along.*\\z"));
            let expected: Vec<u8> = (1..=LINES)
                .flat_map(|number| format!("q_1/long.txt:{number}:long line\n").into_bytes())
                .collect();
            assert!(out == expected, "{place} {order}: {} bytes", out.len());
        }
        assert_eq!(lines("-o -e b\\na"), 2 * 499, "{place}");
        assert_eq!(lines("-o -e b\\n"), 500, "{place}");
        let out = home.ok(&format!("search {place} --json -e (?s)\\Along.*\\z"));
        let found = out.split(|&byte| byte == b'\n').nth(1).unwrap();
        let found: Value = serde_json::from_slice(found).unwrap();
        let submatch = &found["data"]["submatches"][0];
        assert_eq!(submatch["match"], json!({ "text": text }), "{place}");
        assert_eq!(submatch["end"], text.len(), "{place}");
    }
}

#[test]
fn counts_of_multi_line_matches_agree() {
    let home = home();
    // A span with three matches, and two with one.
    home.write("q_1/runs.txt", "x a\nbc a\nb a\nb\nq\na\nb\nlast a\nb\n");
    home.write("q_1/one.txt", "a\nb\n");
    home.ok("index --index J q_1");
    let server = home.start("serve --index J");
    for place in [
        "--index J".to_owned(),
        format!("--server {}", server.address),
    ] {
        let print = |flags: &str| {
            let out = home.ok(&format!("search {place} {flags} --sort path -e a\\nb"));
            String::from_utf8(out).unwrap()
        };
        let counts = |one, runs| format!("q_1/one.txt:{one}\nq_1/runs.txt:{runs}\n");
        for (most, one, runs) in [("", 1, 5), ("-m 9", 1, 5), ("-m 2", 1, 2), ("-m 4", 1, 4)] {
            assert_eq!(print(&format!("-c {most}")), counts(one, runs), "{most}");
            let matches = print(&format!("--count-matches {most}"));
            assert_eq!(matches, counts(one, runs), "{most}");
            let total = print(&format!("--total {most}"));
            assert_eq!(total, format!("{}\n", one + runs), "{most}");
            let rows = print(&format!("--vimgrep {most}"));
            assert_eq!(rows.lines().count(), one + runs, "{most}");
            let json = print(&format!("--json {most}"));
            let summary: Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
            assert_eq!(summary["data"]["stats"]["matches"], one + runs, "{most}");
        }
        assert_eq!(
            print("-m 2 -C 1"),
            "q_1/one.txt:1:a\nq_1/one.txt:2:b\n--\nq_1/runs.txt:1:x a\nq_1/runs.txt:2:bc a\n\
             q_1/runs.txt:3:b a\nq_1/runs.txt-4-b\n"
        );
        let lines = home.ok(&format!("search {place} --total -m 1 -e a"));
        assert_eq!(lines, b"2\n", "one line for each file");
    }
}

#[test]
fn counts_names_totals_and_quiet() {
    let home = home();
    let server = home.start("serve --index I");
    let print = |line: &str| both(&home, &server.address, line);
    assert_eq!(
        print("-c --sort path wanted"),
        "p_1/c.c:1\np_1/src/a.c:2\np_1/src/b.h:1\n"
    );
    assert_eq!(
        print("--count-matches --sort path wanted").lines().nth(1),
        Some("p_1/src/a.c:3")
    );
    assert_eq!(print("--total wanted"), "4\n");
    assert_eq!(
        print("-l --sort path wanted"),
        "p_1/c.c\np_1/src/a.c\np_1/src/b.h\n"
    );
    assert_eq!(print("--limit 1 wanted").lines().count(), 1);
    assert_eq!(print("-q wanted"), "");
    home.run("search --index I -q absent")
        .check("nothing", 1, &[]);
    let stats = print("--total --stats wanted");
    assert_eq!(stats, "4\n");
}

#[test]
fn headings_have_lines_in_order_and_each_line_of_context_once() {
    let home = Home::new();
    // Line 19 is a definition, so the best match.
    let lines = (1..=30).map(|number| match number {
        7 | 14 | 17 => "call(wanted);\n".to_owned(),
        19 => "int wanted(void)\n".to_owned(),
        _ => format!("line {number}\n"),
    });
    home.write("p_1/a.c", lines.collect::<String>());
    home.write("p_1/b.c", "call(wanted);\n");
    home.ok("index --index I p_1");
    let server = home.start("serve --index I");
    for flags in ["", "--sort path", "--stream", "--limit 4"] {
        let line = format!("--heading -C 3 {flags} wanted");
        let printed = both(&home, &server.address, &line);
        let number = |line: &str| line.split([':', '-']).next()?.parse().ok();
        let of_a = printed.lines().skip_while(|line| !line.contains("a.c"));
        let of_a = of_a.take_while(|line| !line.contains("b.c"));
        let numbers: Vec<u32> = of_a.filter_map(number).collect();
        let all: Vec<u32> = (4..=22).collect();
        assert_eq!(numbers, all, "{flags}: {printed}");
    }
}

#[test]
fn json_has_additional_fields() {
    let home = home();
    let server = home.start("serve --index I");
    let messages = |place: &str| -> Vec<Value> {
        let out = home.ok(&format!("search {place} --json --sort path wanted;"));
        let lines = std::str::from_utf8(&out).unwrap().lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    for place in [
        "--index I".to_owned(),
        format!("--server {}", server.address),
    ] {
        let found = messages(&place);
        let types: Vec<_> = found
            .iter()
            .map(|message| message["type"].as_str().unwrap())
            .collect();
        assert_eq!(types, ["begin", "match", "end", "summary"]);
        assert_eq!(found[0]["data"]["path"], json!({"text": "p_1/src/a.c"}));
        assert_eq!(found[0]["data"]["package"], json!({"text": "p_1"}));
        assert_eq!(found[0]["data"]["language"], "C");
        assert_eq!(found[0]["data"]["hash"].as_str().map(str::len), Some(64));
        let data = &found[1]["data"];
        assert!(data["rank"].as_f64().unwrap() > 0.0);
        assert_eq!(data["lines"], json!({"text": "int wanted;\n"}));
        assert_eq!(data["line_number"], 1);
        let submatch = json!([{"match": {"text": "wanted;"}, "start": 4, "end": 11}]);
        assert_eq!(data["submatches"], submatch);
        assert_eq!(found[3]["data"]["stats"]["matched_lines"], 1);
    }
}

#[test]
fn links_lead_to_the_server_or_follow_the_format() {
    let home = home();
    let server = home.start("serve --index I");
    let format = "--color=never --hyperlink-format";
    let line = format!(
        "search --server {} {format} default wanted;",
        server.address
    );
    let linked = String::from_utf8(home.ok(&line)).unwrap();
    let address = format!(
        "\x1b]8;;http://{}/show?package=p_1&path=src/a.c&line=1\x1b\\p_1/src/a.c\x1b]8;;\x1b\\:1:int wanted;\n",
        server.address
    );
    assert_eq!(linked, address);
    let line = format!("search --index I {format} file:///srv/{{package}}/{{path}} wanted;");
    let linked = String::from_utf8(home.ok(&line)).unwrap();
    assert!(
        linked.starts_with("\x1b]8;;file:///srv/p_1/src/a.c\x1b\\"),
        "{linked:?}"
    );
    home.run("search --index I --hyperlink-format x{host} wanted")
        .check("a format", 2, &["unknown variable {host}"]);
}
