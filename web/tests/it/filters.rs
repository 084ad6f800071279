//! Filters in addresses: selection, display and rejection.

use crate::shards;
use crate::site::{AsBackend, Site};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use testkit::backend::Fake;

fn site() -> (Arc<Fake>, Site) {
    let fake = Fake::new("one", shards(1, 2));
    let site = Site::new(vec![fake.backend()]);
    (fake, site)
}

fn found(page: &Value) -> Vec<(String, String)> {
    let text = |found: &Value, name: &str| found[name].as_str().unwrap().to_owned();
    let matches = page["matches"].as_array().unwrap().iter();
    matches
        .map(|found| (text(found, "package"), text(found, "path")))
        .collect()
}

#[test]
fn filters_select_documents() {
    let (fake, site) = site();
    let all = site.search("arse&per_page=1000");
    let table = [
        ("package=package2", "arse package:package2"),
        ("package=-package2", "arse -package:package2"),
        ("package==package2_1.2", "arse package:=package2_1.2"),
        ("path=file&path=-2", "arse path:file -path:2"),
        ("path=-=src/file2.c", "arse -path:=src/file2.c"),
        ("lang=C&package=-4", "arse -package:4 lang:C"),
    ];
    for (filters, interpreted_as) in table {
        let page = site.search(&format!("arse&per_page=1000&{filters}"));
        assert_eq!(page["interpreted_as"], json!(interpreted_as));
        let left = |(package, path): &(String, String)| match filters {
            "package=package2" => package.contains("package2"),
            "package=-package2" => !package.contains("package2"),
            "package==package2_1.2" => package == "package2_1.2",
            "path=file&path=-2" => path.contains("file") && !path.contains('2'),
            "path=-=src/file2.c" => path != "src/file2.c",
            _ => !package.contains('4'),
        };
        let mut expected = found(&all);
        expected.retain(left);
        assert_eq!(found(&page), expected, "{filters}");
        assert!(!expected.is_empty() && expected.len() < found(&all).len());
        assert_eq!(page["total"], json!(expected.len()));
    }
    let before = fake.searches.load(SeqCst);
    site.search("arse&path=-2&per_page=3&path=file&page=1");
    site.search("arse&path=-2&path=file&path=file&group=package");
    assert_eq!(
        fake.searches.load(SeqCst),
        before,
        "the same filters share a search"
    );
}

#[test]
fn pages_keep_filters_and_link_to_drop_them() {
    let (_, site) = site();
    let page = site.get("/search?q=arse&package=-package2&lang=C").text();
    let next = "/search?q=arse&#38;package=-package2&#38;lang=C&#38;page=1";
    assert!(page.contains(next), "{page}");
    let kept = r#"<input type="hidden" name="package" value="-package2">"#;
    assert!(page.contains(kept), "{page}");
    let without = r#"<code>-package:package2</code> <a href="/search?q=arse&#38;lang=C""#;
    assert!(page.contains(without), "{page}");
    let grouped = site.get("/search?q=arse&path=file&group=package").text();
    let more = r#"<a href="/search?q=arse&#38;path=file&#38;package=%3Dpackage"#;
    assert!(grouped.contains(more), "{grouped}");
    let nothing = site.get("/search?q=arse&path=nowhere%22%3E%3Cb%3E").text();
    assert!(nothing.contains("Nothing matches"));
    assert!(
        !nothing.contains("<b>\"") && !nothing.contains("nowhere\"><b>"),
        "{nothing}"
    );
}

#[test]
fn rejects_malformed_filters_with_a_reason() {
    let (_, site) = site();
    let check = |filters: &str, says: &[&str]| {
        let answer = site.get(&format!("/api/v2/search?q=arse&{filters}"));
        assert_eq!(answer.status, 400, "{filters}");
        let text = answer.text();
        for says in says {
            assert!(text.contains(says), "{filters}: no {says} in {text}");
        }
    };
    let (at, filter) = (r#""at":2"#, r#""filter":"-a(b""#);
    check(
        "path=ok&path=-a(b",
        &["by path: invalid regular expression", at, filter],
    );
    check("package=", &["by package: the value is empty"]);
    check(
        "lang=Clang",
        &["no such language", "did you mean C?", r#""filter":"Clang""#],
    );
    check("path=%ff", &["path is not UTF-8"]);
    check(
        &"path=x&".repeat(64),
        &["65 patterns and filters, the limit is 64"],
    );
    check(
        "language=C",
        &["unknown parameter language", "lang, package, path"],
    );
    check("group=package&group=none", &["group is given twice"]);
    let page = site.get("/search?q=arse&path=a(b");
    assert_eq!(page.status, 400);
    assert!(page.text().contains("a(b\n ^"), "{}", page.text());
    assert!(
        page.text().contains("<code>path:a(b</code>"),
        "{}",
        page.text()
    );
}
