//! Error responses: status and reason, as JSON or HTML.

use crate::home::{Home, Server};
use crate::http::{self, Reply};

/// 25 matches are three pages.
fn server(home: &Home) -> Server {
    home.write("source/a.c", "int wanted;\n".repeat(25));
    home.start("serve source")
}

fn check(reply: &Reply, what: &str, status: u16, kind: &str, says: &[&str]) {
    let text = reply.text();
    assert_eq!(reply.status, status, "{what}: {text}");
    assert!(reply.kind.starts_with(kind), "{what}: {}", reply.kind);
    for says in says {
        assert!(text.contains(says), "{what}: no `{says}` in: {text}");
    }
}

/// Rows have a path below `root`, the status, and after each `=>` a part of the response.
fn check_table(server: &Server, root: &str, kind: &str, table: &str) {
    for row in table.lines().filter(|row| row.contains("=>")) {
        let mut columns = row.split("=>").map(str::trim);
        let request = columns.next().and_then(|request| request.rsplit_once(' '));
        let (path, status) = request.expect("path and status");
        let path = format!("{root}{}", path.trim());
        let reply = http::get(&server.address, &path);
        let status = status.parse().expect("a number");
        check(&reply, &path, status, kind, &columns.collect::<Vec<_>>());
    }
    // Searches accept POST.
    let only_got = if root == "/" {
        "search?q=wanted"
    } else {
        "file"
    };
    let reply = http::post(&server.address, &format!("{root}{only_got}"));
    check(&reply, "POST", 405, kind, &["method not allowed"]);
    server.check_no_panic();
}

#[test]
fn api_errors_are_problem_documents() {
    let home = Home::new();
    let table = r#"
        search                              400 => the query is empty => "status":400
        search?q=                           400 => the query is empty
        search?q=a(b&mode=regexp            400 => unclosed group => "at":1,
        search?q=a%28b&mode=regexp         400 => "at":1
        search?q=%FF                        400 => q is not UTF-8 => "at":0,
        search?q=wanted&page=3              404 => no page=3: pages count from 0, and the last one is page=2 => "last_page":2
        search?q=absent&page=1              404 => the last one is page=0 => "last_page":0
        search?q=wanted&page=-1             400 => page=-1 is not a number
        search?q=wanted&page=x              400 => page=x is not a number
        search?q=wanted&page=99999999999999 404 => "last_page":2
        search?q=wanted&per_page=0          400 => per_page=0: expected 1 to 1000
        search?q=wanted&per_page=100000     400 => per_page=100000: expected 1 to 1000
        search?q=wanted&mode=fuzzy          400 => mode=fuzzy => literal or regexp
        search?q=wanted&case=maybe          400 => case=maybe => yes, no or auto
        search?q=wanted&context=11          400 => the limit is 10
        search?q=wanted&group=file          400 => group=file
        search?q=wanted&wait=perhaps        400 => wait=perhaps
        search?q=wanted&perpage=3           400 => unknown parameter perpage => did you mean per_page?
        search?q=wanted&q=x                 400 => q is given twice
        search/0123456789abcdef             404 => 0123456789abcdef => search again
        search/0123456789abcdef/events      404 => search again
        search/0123456789abcdef/export      404 => search again
        export?q=(&mode=regexp              400 => unclosed
        export?q=wanted&format=xml          400 => expected jsonl, csv, paths or text
        file?package=source                 400 => path is missing
        file?package=source&path=b.c        404 => source has no file b.c
        nothing                             404 => no such address: /api/v2/nothing
    "#;
    check_table(
        &server(&home),
        "/api/v2/",
        "application/problem+json",
        table,
    );
}

#[test]
fn page_errors_are_pages() {
    let home = Home::new();
    let table = "
        search?q=a(b&mode=regexp                 400 => unclosed group => \"caret\">a(b
        search?q=wanted&page=3&group=none        404 => The answer has 3 pages. => Go to the last page
        search?q=absent&page=1                   404 => The answer has only one page.
        search?q=wanted&per_page=0               400 => expected 1 to 1000
        search?q=wanted&mode=%3Cscript%3E        400 => mode=&#60;script&#62;
        show                                     400 => package is missing
        show?package=source&path=b.c&line=1      404 => source has no file b.c
        show?package=source&path=a.c&line=26     404 => the file has 25 lines
        nothing                                  404 => no such address: /nothing
    ";
    check_table(&server(&home), "/", "text/html", table);
}
