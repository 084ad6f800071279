//! API and links of Debian Code Search with `trawl serve`.

use crate::home::Home;
use crate::http::{get, get_with};
use serde_json::{Value, json};

fn home() -> Home {
    let home = Home::new();
    let font = "/*\n *\n */\ni3Font load_font(const char *pattern) {\n    i3Font font;\n\n    return 0;\n}\n";
    home.write("src/i3-wm_4.5.1-2/libi3/font.c", font);
    home.write("src/i3-wm_4.5.1-2/logo.png", b"\x89PNG\0");
    home.write("src/zsh_5.2-3/Src/zsh.c", "int i3Font;\n");
    home.write("src/zsh_5.2-3/.gitignore", "*.o\n");
    home.write("src/zsh_5.2-3/.git/HEAD", "ref: refs/heads/main\n");
    home.write("src/zsh_5.2-3/Src/zsh.o", "object\n");
    home
}

#[test]
fn dcs_requests_and_links_work_unchanged() {
    let home = home();
    home.write("keys", "# of the robots\nopen-sesame\n");
    let server = home.start("serve --each --dcs-api-keys keys src");
    let ask = |path: &str, key| {
        let reply = get_with(&server.address, path, &[("x-dcs-apikey", key)]);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.json()
    };
    let find = |path: &str| ask(path, "open-sesame");
    let found = find("/api/v1/search?query=load_font&match_mode=literal");
    assert_eq!(
        found,
        json!([{
            "package": "i3-wm_4.5.1-2",
            "path": "i3-wm_4.5.1-2/libi3/font.c",
            "line": 4,
            "context_before": [" *", " */"],
            "context": "i3Font load_font(const char *pattern) {",
            "context_after": ["    i3Font font;"],
        }])
    );
    let found = find("/api/v1/search?query=i3F[o]nt+package:zsh");
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    let found = find("/api/v1/searchperpackage?query=i3Font&match_mode=literal");
    let mut names: Vec<_> = (found.as_array().unwrap().iter())
        .map(|package| package["package"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["i3-wm", "zsh"]);
    for key in ["", "open-sesam", "# of the robots"] {
        let refused = get_with(
            &server.address,
            "/api/v1/search?query=x",
            &[("x-dcs-apikey", key)],
        );
        assert_eq!(refused.status, 403);
    }
    for link in [
        "/search?q=load_font&literal=1&perpkg=1",
        "/search?q=load.font+package:i3&literal=0",
        "/results/load.font%20pkg:i3/page_0",
        "/results/load.font%20filetype:c%20-file:zsh/page_0",
        "/perpackage-results/load_font/2/page_0",
        "/show?file=i3-wm_4.5.1-2/libi3/font.c&line=4",
    ] {
        let page = get(&server.address, link);
        assert_eq!(page.status, 200, "{link}: {}", page.text());
        assert!(
            page.text().contains("libi3/font.c"),
            "{link}: {}",
            page.text()
        );
    }
}

#[test]
fn api_lists_packages_files_and_what_was_left_out() {
    let home = home();
    let server = home.start("serve --each src");
    let ask = |path: &str| get(&server.address, path).json();
    let names = |list: &Value, name: &str| -> Vec<String> {
        let each = list.as_array().unwrap().iter();
        each.map(|each| each[name].as_str().unwrap().to_owned())
            .collect()
    };
    let packages = ask("/api/v2/index/packages");
    let directories = ["i3-wm_4.5.1-2", "zsh_5.2-3"];
    assert_eq!(names(&packages["packages"], "package"), directories);
    assert_eq!(packages["packages"][1]["documents"], json!(2));
    let tree = ask("/api/v2/tree?package=zsh");
    assert_eq!(names(&tree["entries"], "path"), [".gitignore", "Src/"]);
    let why = |query: &str| ask(&format!("/api/v2/skipped?{query}"));
    let left_out = why("package=zsh");
    assert_eq!(names(&left_out["skipped"], "reason"), ["git", "ignored"]);
    let object = why("package=zsh&path=Src/zsh.o");
    assert_eq!(
        (&object["state"], &object["skipped"][0]["rule"]),
        (&json!("skipped"), &json!(".gitignore:1:*.o"))
    );
    assert_eq!(why("package=zsh&path=.git/HEAD")["state"], json!("skipped"));
    assert_eq!(why("package=zsh&path=Src/zsh.c")["language"], json!("C"));
    assert_eq!(why("package=zsch")["similar"], json!(["zsh"]));
    let status = ask("/api/v2/status");
    assert_eq!(
        (&status["packages"], &status["documents"]),
        (&json!(2), &json!(3))
    );
    assert!(status["age_s"].as_u64().unwrap() < 600, "{status}");
}

#[test]
fn invalid_key_files_are_errors() {
    let home = home();
    home.write("empty", "# nobody\n");
    home.write("short", "abc\n");
    for (file, says) in [
        ("nowhere", "cannot read the keys in nowhere"),
        ("empty", "no keys, so no client could use the API"),
        ("short", "line 1: a key must have at least 8"),
    ] {
        let finished = home.run(&format!("serve --dcs-api-keys {file} src"));
        finished.check(file, 2, &[says]);
    }
}
