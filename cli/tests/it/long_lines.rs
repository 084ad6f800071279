//! A matching line of hundreds of megabytes is printed in pieces.

use crate::WAIT_MAX;
use crate::home::Home;
use crate::http::get;
use crate::process::Process;
use crate::streaming::DONE;
use serde_json::json;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use testkit::net::{self, HttpRequest};

const LINE_BYTES: u64 = 300 << 20;

/// A twelfth of the line.
const MEMORY_BYTES_MAX: usize = 24 << 20;

fn serve() -> String {
    net::serve(|stream| answer(&stream)).to_string()
}

fn answer(mut stream: &TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(asked) = HttpRequest::read(&mut reader)? {
        let body = if asked.target.contains("format=text") {
            let head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\np/long:1:";
            stream.write_all(head)?;
            let part = vec![b'x'; 1 << 20];
            (0..LINE_BYTES >> 20).try_for_each(|_| stream.write_all(&part))?;
            return stream.write_all(
                format!("\n{}\n", DONE.replace("2,\"total\":2", "1,\"total\":1")).as_bytes(),
            );
        } else if asked.path.contains("/export") {
            let found = json!({
                "package": "p", "path": "long", "line": 1, "text": "xxx", "ranges": [[1, 2]],
                "context": {"before": [], "after": []}, "language": "", "rank": 1.0, "hash": "00",
                "offset": 0, "window": {"start": 7, "line_bytes": LINE_BYTES},
            });
            format!("{found}\n").into_bytes()
        } else if asked.path.contains("/file") {
            vec![b'x'; asked.parameters["count"].parse().unwrap()]
        } else {
            json!({
                "id": "x", "generation": "g", "next": null, "interpreted_as": "x", "notices": [],
                "state": "done", "complete": true, "missing": [],
                "skipped": {"count": 0, "documents": []}, "searched": {"documents": 1, "of": 1},
                "found": 1, "total": 1, "documents": 1, "packages": 1, "page": 0, "per_page": 1,
                "pages": 1, "matches": [], "timings": null,
            })
            .to_string()
            .into_bytes()
        };
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
            body.len()
        )?;
        stream.write_all(&body)?;
    }
    Ok(())
}

#[test]
fn a_line_of_300_mb_is_printed_in_little_memory() {
    let home = Home::new();
    let address = serve();
    for (flags, head) in [
        ("", "p/long:1:"),
        ("--column --null", "p/long\x001:9:"),
        ("--heading --sort path", "p/long\n1:"),
    ] {
        let line = format!("search --server {address} {flags} x");
        let mut process = Process::start(home.command(&line).stdout(Stdio::piped()));
        let mut out = BufReader::new(process.stdout());
        let mut start = vec![0; head.len()];
        out.read_exact(&mut start).unwrap();
        assert_eq!(start, head.as_bytes(), "{flags}");
        let mut bytes = vec![0; 1 << 20];
        for _ in 0..LINE_BYTES >> 20 {
            // The rest does not fit in the pipe.
            let memory = process.memory_bytes();
            assert!(memory < MEMORY_BYTES_MAX, "{flags}: {memory} bytes");
            out.read_exact(&mut bytes).unwrap();
            assert!(bytes.iter().all(|&byte| byte == b'x'), "{flags}");
        }
        let mut end = Vec::new();
        out.read_to_end(&mut end).unwrap();
        assert_eq!(end, b"\n", "{flags}");
        assert_eq!(process.wait(WAIT_MAX).code(), Some(0), "{flags}");
    }
}

#[test]
fn the_long_lines_of_a_file_stay_together_in_an_export() {
    let home = Home::new();
    let line = |number: u32| format!("{number} wanted {}\n", "x".repeat(6000));
    let text: String = (0..60).map(line).collect();
    home.write("p/a.c", &text);
    home.write("q/b.c", &text);
    home.ok("index --index I p");
    home.ok("index --index J q");
    let backends = ["I", "J"].map(|index| home.start(&format!("backend --index {index}")));
    let [one, other] = backends.each_ref().map(|backend| &backend.address);
    let frontend = home.start(&format!(
        "frontend --backend {one} --backend {other} --spool P"
    ));
    // The first export runs with the search, the second after its end.
    for _ in 0..2 {
        let path = "/api/v2/export?q=wanted&format=text&order=found";
        let export = get(&frontend.address, path);
        let names: Vec<&str> = export.text().lines().map(|line| &line[..5]).collect();
        assert_eq!(names.len(), 120);
        let files = names.chunk_by(|a, b| a == b).count();
        assert_eq!(files, 2, "{names:?}");
        let mut found: Vec<_> = export.text().lines().collect();
        found.sort_unstable();
        let numbered = || (1..).zip(text.lines());
        let mut expected: Vec<_> = ["p/a.c", "q/b.c"]
            .into_iter()
            .flat_map(|name| numbered().map(move |(at, line)| format!("{name}:{at}:{line}")))
            .collect();
        expected.sort_unstable();
        assert!(found == expected, "other lines");
    }
}
