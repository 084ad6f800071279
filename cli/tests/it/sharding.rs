//! Three backends give the pages of one `serve`, byte for byte.

use crate::home::{Home, Server};
use crate::http;

/// Several have the same text, so ties occur.
const PACKAGES: usize = 9;

/// Every fourth line is `long`.
fn write_packages(home: &Home, long: &str) {
    for package in 0..PACKAGES {
        let third = format!("third{}/package{package}_1.{package}", package % 3);
        for file in 0..6 {
            let text: String = (0..file * 3 + 5)
                .map(|line| match (line + package % 2) % 4 {
                    0 => "\tint parse_all(void); // parse\n".to_owned(),
                    1 => format!("{long} {}\n", "y".repeat(package)),
                    2 => "nothing\r\n".to_owned(),
                    _ => format!("parsed {line}\n"),
                })
                .collect();
            home.write(&format!("{third}/src/file{file}.c"), &text);
        }
        home.write(&format!("{third}/latin1"), b"na\xefve parse\n\n\nparse");
        home.write(&format!("{third}/long"), "x".repeat(5000) + "parse");
    }
}

/// Excludes id, generation and timings.
fn pages(server: &Server, search: &str) -> Vec<String> {
    let mut pages = Vec::new();
    loop {
        let path = format!("/api/v2/search?{search}&page={}", pages.len());
        let reply = http::get(&server.address, &path);
        if reply.status == 404 {
            return pages;
        }
        let page = reply.json();
        assert_eq!(
            (reply.status, &page["complete"]),
            (200, &true.into()),
            "{path}"
        );
        let text = reply.text();
        let start = text
            .find(r#""interpreted_as""#)
            .expect("it follows the generation");
        let end = text.rfind(r#","timings":{"#).expect("the last field");
        pages.push(text[start..end].to_owned());
    }
}

fn check(long: &str) {
    let home = Home::new();
    write_packages(&home, long);
    let one = home.start("serve --each third0 third1 third2");
    let backends: Vec<Server> = (0..3)
        .map(|third| {
            home.ok(&format!("index --each --index I{third} third{third}"));
            home.start(&format!("backend --index I{third}"))
        })
        .collect();
    let [a, b, c] = [0, 1, 2].map(|third: usize| &backends[third].address);
    let addresses = format!("--backend {a} --backend {b} --backend {c}");
    let three = home.start(&format!("frontend {addresses} --spool spool"));
    let again = home.start(&format!("frontend {addresses} --spool spool-of-another"));
    let searches = [
        "q=parse&per_page=7",
        "q=parse&per_page=1000&context=10",
        "q=PARSE&case=no&group=package&per_page=2&per_package=3",
        "q=pars[a-z]*%7C%5Enothing&mode=regexp&per_page=50",
        "q=parse&package=-3%24&path=file[0-4]&path=-2&lang=c&per_page=9",
        "q=absent",
    ];
    for search in searches {
        let expected = pages(&one, search);
        for server in [&three, &three, &again, &one] {
            check_equal(&pages(server, search), &expected, search);
        }
    }
}

#[test]
fn three_backends_give_the_pages_of_one() {
    check("parse a line that is as it is");
}

#[test]
fn long_context_lines_are_cut_in_the_same_places() {
    check(&("x".repeat(5000) + "parse"));
}

/// Shows only the first difference.
fn check_equal(pages: &[String], expected: &[String], search: &str) {
    assert_eq!(pages.len(), expected.len(), "{search}");
    for (number, (page, expected)) in pages.iter().zip(expected).enumerate() {
        let differ = |(a, b): (u8, u8)| a != b;
        let at = page.bytes().zip(expected.bytes()).position(differ);
        let around = |page: &str| {
            let at = at.unwrap_or(page.len()).saturating_sub(200);
            page.bytes()
                .skip(at)
                .take(300)
                .map(char::from)
                .collect::<String>()
        };
        let (shown, shown_expected) = (around(page), around(expected));
        assert!(
            page == expected,
            "{search}, page {number}:\n{shown}\n{shown_expected}"
        );
    }
}
