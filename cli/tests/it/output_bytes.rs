//! `trawl search` in a pipe: unchanged bytes, best first.

use crate::home::Home;
use crate::http::get;

/// The index and its server must agree.
fn search(home: &Home, server: &str, query: &str) -> Vec<u8> {
    let local = home.run(&format!("search --index I {query}"));
    let remote = home.run(&format!("search --server {server} {query}"));
    let code = i32::from(local.stdout.is_empty());
    local.check(query, code, &[]);
    remote.check(query, code, &[]);
    assert_eq!(local.stderr, remote.stderr, "{query}");
    let same = local.stdout == remote.stdout;
    assert!(same, "{query}: the server gives other output");
    local.stdout
}

#[test]
fn index_and_server_print_the_same_best_first() {
    let home = Home::new();
    home.write(
        "all/zebra_1.0/src/parse.c",
        "int parse_all(void);\n\tparse\n// Parsed\n",
    );
    home.write("all/zebra_1.0/tests/parse.c", "int parse_all(void);\n");
    home.write(
        "all/ant/lib/other.c",
        "int parse_all(void);\nno match\nparses parse\n",
    );
    home.write("all/bee/other.c", "int parse_all(void);\n");
    home.write(
        "ranks.json",
        r#"{"zebra": {"inst": 1, "rdep": 1}, "bee": {"inst": 0.5}}"#,
    );
    home.ok("index --index I --package-ranks ranks.json --each all");
    let server = home.start("serve --index I");
    let search = |query: &str| String::from_utf8(search(&home, &server.address, query)).unwrap();

    let packages = |found: &str| -> Vec<String> {
        let package = |line: &str| line.split('/').next().unwrap().to_owned();
        found.lines().map(package).collect()
    };
    let popular_first = ["zebra_1.0", "zebra_1.0", "bee", "ant"];
    let found = search("parse_all");
    assert_eq!(packages(&found), popular_first);
    assert!(
        found.starts_with("zebra_1.0/src/parse.c:1:int parse_all(void);\n"),
        "{found}"
    );
    assert_eq!(
        packages(&search(r"--mode regexp parse_a[l]+\(")),
        popular_first
    );
    assert_eq!(search("Parse").lines().count(), 1);
    assert_eq!(search("-i PARSE").lines().count(), 7);
    assert_eq!(
        search("-i --mode regexp ^//.parsed$"),
        "zebra_1.0/src/parse.c:3:// Parsed\n"
    );
    assert_eq!(search("absent"), "");
    assert_eq!(search("--total parse_all"), "4\n");
    assert_eq!(search("--total -i PARSE"), "7\n");
}

#[test]
fn bytes_are_printed_unchanged() {
    let home = Home::new();
    let long = [
        b"x".repeat(60_000),
        b"wanted".to_vec(),
        b"\xe9".repeat(600_000),
    ]
    .concat();
    let lines: [(&str, &[u8]); 6] = [
        ("p/latin1", b"wanted na\xefve \xff"),
        ("p/escapes", b"wanted \x1b[2J\x1b]0;title\x07 \xe2\x80\xae"),
        ("p/crlf", b"wanted\r"),
        ("p/long", &long),
        ("p/name with \u{1b}[31m", b"wanted"),
        ("p/tab", b"\twanted\tand\x01\x7f"),
    ];
    for (path, line) in &lines {
        home.write(path, [b"before\r\n", *line, b"\n"].concat());
    }
    home.write("p/unfinished", "wanted");
    let utf16: Vec<u8> = "\u{feff}wanted \u{e9}\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    home.write("p/utf16", utf16);
    home.ok("index --index I p");
    let server = home.start("serve --index I");

    let mut expected: Vec<Vec<u8>> = lines
        .iter()
        .map(|(path, line)| [path.as_bytes(), b":2:", line].concat())
        .collect();
    expected.push(b"p/unfinished:1:wanted".to_vec());
    expected.push("p/utf16:1:wanted \u{e9}\r".into());
    expected.sort_unstable();
    let show = |lines: &[&[u8]]| -> Vec<String> {
        lines
            .iter()
            .map(|line| line[..line.len().min(80)].escape_ascii().to_string())
            .collect()
    };
    let expected: Vec<&[u8]> = expected.iter().map(|line| &line[..]).collect();
    let export = |order| {
        let path = format!("/api/v2/export?q=wanted&context=0&format=text&order={order}");
        get(&server.address, &path).body
    };
    let as_found = home.ok(&format!(
        "search --server {} --sort none wanted",
        server.address
    ));
    for (how, found) in [
        ("printed", search(&home, &server.address, "wanted")),
        ("printed, as found", as_found),
        ("exported, best first", export("rank")),
        ("exported, as found", export("found")),
    ] {
        let mut found: Vec<&[u8]> = found
            .strip_suffix(b"\n")
            .unwrap()
            .split(|&byte| byte == b'\n')
            .collect();
        found.sort_unstable();
        assert!(
            found == expected,
            "{how}: {:#?}\nexpected {:#?}",
            show(&found),
            show(&expected)
        );
    }
}
