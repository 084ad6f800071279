//! Text of the backend equals matches printed one by one.

use crate::home::Home;
use crate::http::get;
use serde_json::Value;

/// Documents in one and several frames, definitions, and partially sent lines.
fn home() -> Home {
    let home = Home::new();
    home.write(
        "p/small.c",
        "a task\n\tx = task;\nint task(void)\n{\n    task\n}\n",
    );
    home.write("p/task.c", "call(task);\r\nstruct task {\r\n x\r\ne\r\n");
    let lines = (0..9000).map(|line| {
        let indent = " ".repeat(line % 23);
        match line % 1000 {
            999 => format!("int task({line})\n"),
            _ => format!("{indent}{} task {line};\n", "x".repeat(line % 31)),
        }
    });
    let large: String = lines.collect();
    home.write("p/large.c", &large);
    home.write("q/large-copy.c", &large);
    let long = format!(
        "task 1\n{}task 2\nno\n task 3\n{}task\n",
        "y".repeat(5000),
        "z ".repeat(9000)
    );
    home.write("q/long.txt", long);
    home.write("q/end", "the last task");
    // Text would be over eight times as long as its lines.
    let name = "directory/".repeat(20);
    home.write(&format!("q/{name}e"), "e\n".repeat(9000));
    home.ok("index --each --index I .");
    home
}

fn sorted(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<_> = text.split(|&byte| byte == b'\n').collect();
    lines.sort_unstable();
    lines
}

#[test]
fn text_is_the_same_as_if_each_match_were_printed() {
    let home = home();
    let server = home.start("serve --index I");
    let server = format!("--server {}", server.address);
    for query in [
        "-F task",
        "-F e",
        "-F x",
        "-i -F TASK",
        "-e task$",
        "-e ;$",
        "-e task\\n",
        "-e (1|3);\\n",
        "-F task -g *.txt",
        "task int",
        "path:task task",
        "path:large -path:copy task",
        "-F nowhere",
    ] {
        for place in ["--index I", &server] {
            // NUL bytes prevent text.
            let with_null = home.run(&format!("search {place} --null {query}"));
            let expected = with_null.stdout.iter().copied();
            let expected = expected.map(|byte| if byte == 0 { b':' } else { byte });
            let expected: Vec<u8> = expected.collect();
            let ranked = home.run(&format!("search {place} {query}"));
            assert_eq!(ranked.code, with_null.code, "{place} {query}");
            assert!(ranked.stdout == expected, "{place} {query}");
            assert_eq!(ranked.stderr, with_null.stderr, "{place} {query}");
            let found = home.run(&format!("search {place} --stream {query}"));
            assert_eq!(found.code, with_null.code, "{place} {query}");
            assert!(sorted(&found.stdout) == sorted(&expected), "{query}");
        }
    }
}

#[test]
fn the_matches_of_a_search_for_text_can_be_read_by_its_id() {
    let home = home();
    let server = home.start("serve --index I");
    for order in ["rank", "found"] {
        let path = format!("/api/v2/export?q=task&format=text&end=true&order={order}");
        let export = get(&server.address, &path);
        let text = export.text();
        let at = text.rfind("{\"done\"").unwrap();
        let (lines, end) = text.split_at(at);
        let end: Value = serde_json::from_str(end).unwrap();
        let id = end["done"]["id"].as_str().unwrap();
        let count = lines.lines().count();
        assert_eq!(end["done"]["total"], count);
        assert_eq!(end["done"]["found"], count);
        let page = get(&server.address, &format!("/api/v2/search/{id}?per_page=3"));
        let page = page.json();
        assert_eq!(
            (&page["total"], &page["complete"]),
            (&count.into(), &true.into())
        );
        assert_eq!(page["matches"][0]["ranges"], serde_json::json!([[7, 11]]));
        let again = |format: &str| {
            let path = format!("/api/v2/search/{id}/export?{format}");
            get(&server.address, &path).text().to_owned()
        };
        let ranked = again("format=text");
        assert!(sorted(ranked.as_bytes()) == sorted(lines.as_bytes()));
        assert!(order == "found" || ranked == lines);
        assert_eq!(again("format=jsonl").lines().count(), count);
        assert_eq!(again("format=paths").lines().count(), 6);
    }
}
