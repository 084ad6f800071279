//! Raw files: content, ranges, and headers for browsers.

use crate::commits::git;
use crate::home::{Home, Server};
use crate::http::{Reply, get, get_with, head_with};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:\
    4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";

/// A directory `p_1` and a repository `tool`.
fn home() -> Home {
    let home = Home::new();
    home.write("src/p_1/a.c", "int main;\n");
    home.write("src/p_1/image.png", PNG);
    home.write("src/p_1/pointer", POINTER);
    home.write("src/p_1/page.html", "<script>alert(1)</script>\n");
    home.write("src/p_1/empty", "");
    home.write("src/p_1/wide.txt", b"\xfe\xff\0w\0i\0d\0e\0\n");
    home.write("src/p_1/large.c", large());
    home.write("repos/tool/dir/a b.c", "int wanted;\n");
    home.write("repos/tool/image.png", PNG);
    home.write("repos/tool/data.bin", b"\0\x01\x02");
    home.write("repos/tool/wide.txt", b"\xff\xfew\0i\0d\0e\0\n\0");
    home.write("repos/tool/pointer", POINTER);
    home.write("repos/tool/large.bin", [b"\0", large().as_bytes()].concat());
    git(&home, "repos/tool", &["init", "-q", "-b", "main"]);
    git(&home, "repos/tool", &["add", "."]);
    git(&home, "repos/tool", &["commit", "-q", "-m", "first"]);
    git(&home, "repos/tool", &["branch", "feature/x"]);
    home.ok("index --each --index I src --git repos/tool");
    home
}

/// Exceeds a message of a backend.
fn large() -> String {
    (0..200_000).map(|line| format!("line {line}\n")).collect()
}

fn ok(server: &Server, path: &str) -> Reply {
    let reply = get(&server.address, path);
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply
}

#[test]
fn raw_files_are_what_was_indexed_or_committed_and_no_browser_runs_them() {
    let home = home();
    let server = home.start("serve --index I");
    for path in ["/raw/p/p_1/page.html", "/raw/p/p/page.html"] {
        let reply = ok(&server, path);
        assert_eq!(reply.text(), "<script>alert(1)</script>\n");
        assert_eq!(reply.kind, "text/plain; charset=utf-8");
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        let policy = reply.header("content-security-policy");
        assert_eq!(
            policy,
            "sandbox; default-src 'none'; frame-ancestors 'none'"
        );
        assert_eq!(reply.header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(reply.header("content-disposition"), "");
    }
    let id = git(&home, "repos/tool", &["rev-parse", "HEAD"]);
    for revision in ["main", "HEAD", "feature%2Fx", &id, &id[..10]] {
        let reply = ok(&server, &format!("/raw/g/tool/{revision}/dir/a%20b.c"));
        assert_eq!(reply.text(), "int wanted;\n");
        assert_eq!(reply.header("x-trawl-commit"), id);
        assert_eq!(reply.header("x-trawl-from-repository"), "true");
    }
    // The repository has the files without indexed text.
    let reply = ok(&server, "/raw/p/tool/dir/a%20b.c");
    assert_eq!(reply.text(), "int wanted;\n");
    assert_eq!(reply.header("x-trawl-from-repository"), "");
    for path in ["/raw/p/tool/image.png", "/raw/g/tool/main/image.png"] {
        let reply = ok(&server, path);
        assert_eq!((&reply.body[..], &reply.kind[..]), (PNG, "image/png"));
        assert_eq!(reply.header("content-disposition"), "");
    }
    let reply = ok(&server, "/raw/p/tool/data.bin");
    assert_eq!(reply.kind, "application/octet-stream");
    let disposition = reply.header("content-disposition");
    assert_eq!(disposition, "attachment; filename=\"data.bin\"");
    let original = ok(&server, "/raw/g/tool/main/wide.txt");
    assert_eq!(original.body, b"\xff\xfew\0i\0d\0e\0\n\0");
    assert_eq!(original.header("x-trawl-decoded-from"), "");
    for path in ["/raw/p/p/pointer", "/raw/g/tool/main/pointer"] {
        let reply = ok(&server, path);
        assert_eq!(reply.text(), POINTER);
        let pointer = reply.header("x-trawl-lfs-pointer");
        assert!(
            pointer.starts_with("sha256:4d7a") && pointer.ends_with(" 12345"),
            "{pointer}"
        );
    }
    for (path, encoding) in [
        ("/raw/p/p/wide.txt", "utf-16be"),
        ("/raw/p/tool/wide.txt", "utf-16le"),
        ("/api/v2/file?package=tool&path=wide.txt", "utf-16le"),
        ("/raw/p/p/page.html", ""),
    ] {
        let reply = ok(&server, path);
        assert_eq!(reply.header("x-trawl-decoded-from"), encoding, "{path}");
        assert_eq!(reply.text() == "wide\n", !encoding.is_empty(), "{path}");
    }
    let page = ok(&server, "/show?package=p&path=page.html");
    assert!(
        page.text().contains("\"/raw/p/p_1/page.html\""),
        "{}",
        page.text()
    );
    server.check_no_panic();
}

#[test]
fn a_raw_file_that_cannot_be_sent_says_why() {
    let home = home();
    let server = home.start("serve --index I");
    std::fs::remove_dir_all(home.path("repos/tool")).unwrap();
    for (path, status, said) in [
        ("/raw/p/p_1/none.c", 404, "p_1 has no file none.c"),
        ("/raw/p/none_1/a.c", 404, "no package none_1 is indexed"),
        (
            "/raw/p/p_1/image.png",
            404,
            "p_1/image.png is not indexed: binary",
        ),
        (
            "/raw/p/tool/image.png",
            404,
            "tool/image.png is not indexed: binary",
        ),
        (
            "/raw/g/tool/main/image.png",
            404,
            "no backend can read it from the repository",
        ),
        (
            "/raw/g/tool/none/dir/a%20b.c",
            404,
            "tool has no revision none",
        ),
        (
            "/raw/g/tool/0123456789/dir/a%20b.c",
            410,
            "is not indexed, or no longer",
        ),
        ("/raw/g/tool/a..b/x", 400, "a..b"),
        ("/raw/g/none/main/a.c", 404, "none"),
        ("/raw/p/p_1/", 404, "the address names no file"),
        ("/raw/p/p_1/a.c?x=1", 400, "has no parameters"),
        ("/raw/p/p_1/%4", 400, "two hexadecimal digits"),
        ("/raw/g/tool/%ff/x", 400, "not UTF-8"),
        ("/raw/p/p_1/a%00.c", 404, "p_1 has no file"),
        ("/raw/p/p_1/../../etc/passwd", 404, ""),
        ("/raw/p/p_1/..%2f..%2fetc%2fpasswd", 404, ""),
    ] {
        let reply = get(&server.address, path);
        assert_eq!(reply.status, status, "{path}: {}", reply.text());
        assert!(reply.text().contains(said), "{path}: {}", reply.text());
        assert!(
            reply.kind.starts_with("text/html"),
            "{path}: {}",
            reply.kind
        );
    }
    // The repository is not needed.
    let reply = ok(&server, "/raw/g/tool/main/dir/a%20b.c");
    assert_eq!(reply.text(), "int wanted;\n");
    assert_eq!(reply.header("x-trawl-from-repository"), "");
    server.check_no_panic();
}

#[test]
fn raw_files_are_sent_in_ranges_and_only_if_they_have_changed() {
    let home = home();
    let server = home.start("serve --index I");
    let address = &server.address;
    for (path, expected) in [
        ("/raw/p/p_1/large.c", large().into_bytes()),
        (
            "/raw/g/tool/main/large.bin",
            [b"\0", large().as_bytes()].concat(),
        ),
    ] {
        let whole = ok(&server, path);
        assert!(whole.body == expected, "{path}: {} bytes", whole.body.len());
        assert_eq!(whole.header("content-length"), expected.len().to_string());
        let tag = whole.header("etag");
        let compressed = get_with(address, path, &[("accept-encoding", "gzip")]);
        assert_eq!(compressed.header("content-encoding"), "");
        let range = |value: &str| get_with(address, path, &[("range", value)]);
        for (value, first, last) in [
            ("bytes=5-9", 5, 9),
            ("bytes=600000-1200000", 600_000, 1_200_000),
            ("bytes=-7", expected.len() - 7, expected.len() - 1),
        ] {
            let part = range(value);
            assert_eq!(part.status, 206, "{value}");
            assert!(part.body == expected[first..=last], "{value}");
            let said = format!("bytes {first}-{last}/{}", expected.len());
            assert_eq!(part.header("content-range"), said);
        }
        for ignored in ["bytes=9-5", "bytes=0-5,3-9", "lines=1-2", &many_ranges()] {
            assert_eq!(range(ignored).status, 200, "{ignored}");
        }
        let beyond = range("bytes=99999999-");
        assert_eq!(beyond.status, 416, "{}", beyond.text());
        assert_eq!(
            beyond.header("content-range"),
            format!("bytes */{}", expected.len())
        );
        let parts = range("bytes=0-2,1000000-1600000,-4");
        assert_eq!(parts.status, 206);
        assert_eq!(
            parts_of(&parts, expected.len()),
            [
                &expected[..3],
                &expected[1_000_000..=1_600_000],
                &expected[expected.len() - 4..],
            ]
        );
        let with = |name: &str, value: &str| get_with(address, path, &[(name, value)]);
        let same = with("if-none-match", tag);
        assert_eq!((same.status, same.body.len()), (304, 0));
        assert_eq!(same.header("etag"), tag);
        assert_eq!(with("if-match", "\"other\"").status, 412);
        assert_eq!(with("if-match", tag).status, 200);
        for (condition, status) in [
            (tag, 206),
            ("\"other\"", 200),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 200),
        ] {
            let headers = [("range", "bytes=0-2"), ("if-range", condition)];
            assert_eq!(
                get_with(address, path, &headers).status,
                status,
                "{condition}"
            );
        }
    }
    for path in [
        "/raw/p/p_1/large.c",
        "/raw/p/p_1/empty",
        "/raw/g/tool/main/image.png",
        "/raw/p/p_1/none",
    ] {
        let (got, head) = (get(address, path), head_with(address, path, &[]));
        assert_eq!((head.status, head.body.len()), (got.status, 0), "{path}");
        let told = |reply: &Reply| {
            let headers = reply.headers.iter().cloned();
            let mut headers: Vec<_> = headers
                .filter(|(name, _)| {
                    !["date", "transfer-encoding", "x-request-id"].contains(&&name[..])
                })
                .collect();
            headers.sort();
            headers
        };
        assert_eq!(told(&head), told(&got), "{path}");
    }
    server.check_no_panic();
}

fn many_ranges() -> String {
    let ranges = (0..3000).map(|at| format!("{}-{}", 2 * at, 2 * at));
    format!("bytes={}", ranges.collect::<Vec<_>>().join(","))
}

fn parts_of(reply: &Reply, total: usize) -> Vec<Vec<u8>> {
    let boundary = reply
        .kind
        .strip_prefix("multipart/byteranges; boundary=")
        .unwrap();
    assert_eq!(reply.header("content-length"), reply.body.len().to_string());
    let (mut rest, mut parts) = (&reply.body[..], Vec::new());
    loop {
        let end = format!("\r\n--{boundary}--\r\n");
        if rest == end.as_bytes() {
            return parts;
        }
        rest = rest
            .strip_prefix(format!("\r\n--{boundary}\r\n").as_bytes())
            .unwrap();
        let at = rest.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
        let head = std::str::from_utf8(&rest[..at]).unwrap();
        let range = head.split_once("Content-Range: bytes ").unwrap().1;
        let range = range.strip_suffix(&format!("/{total}")).unwrap();
        let (first, last) = range.split_once('-').unwrap();
        let bytes = last.parse::<usize>().unwrap() + 1 - first.parse::<usize>().unwrap();
        let (part, after) = rest[at + 4..].split_at(bytes);
        parts.push(part.to_vec());
        rest = after;
    }
}
