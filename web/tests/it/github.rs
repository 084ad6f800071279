//! Code search of GitHub: shapes, pages, names of repositories, problems, addresses.

use crate::shards;
use crate::site::{Answer, AsBackend, Site, eventually};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use frontend::Scope;
use serde_json::{Value, json};
use std::sync::Arc;
use testkit::backend::{Document, Fake, FakeRepository, Fault, commit_id};
use ureq::http::Method;
use web::{Access, ApiKeys, CookieSecret, NewKey, Options};

fn site_of(documents: Vec<Document>) -> Site {
    Site::new(vec![Fake::new("one", vec![(1, documents)]).backend()])
}

/// One file, one of a package with an owner, and many.
fn site() -> Site {
    let text = ["#include <x>", "\t/* größe */ needle(a);", "", "end"];
    let mut all = vec![
        Document::new("i3-wm_4.22", "src/a b.c", &text),
        Document::new("deep/acme/widget", "main.c", &["a needle"]),
    ];
    let many = (0..40).map(|number| Document::new("many", &format!("{number:02}.c"), &["needles"]));
    all.extend(many);
    site_of(all)
}

fn names(found: &Value, of: &str) -> Vec<String> {
    let items = found["items"].as_array().unwrap().iter();
    items
        .map(|item| item.pointer(of).unwrap().as_str().unwrap().to_owned())
        .collect()
}

fn check_problem(answer: &Answer, status: u16, says: &str) {
    assert_eq!(answer.status, status, "{says}");
    let kind = answer.header("content-type");
    assert_eq!(kind, "application/json; charset=utf-8", "{says}");
    let body = answer.json();
    let message = body["message"].as_str().unwrap();
    assert!(message.contains(says), "{message}");
    assert_eq!(body["status"], json!(status.to_string()));
    assert!(body["documentation_url"].is_string());
    if status == 422 {
        assert_eq!(body["errors"][0]["message"], body["message"]);
    }
}

#[test]
fn an_item_has_fragments_with_offsets_of_bytes_and_lines() {
    let site = site();
    let answer = site.get("/api/v3/search/code?q=needle+repo%3Apkg%2Fi3-wm_4.22");
    assert_eq!(answer.header("content-type"), "application/json");
    let found = answer.json();
    assert_eq!(found["total_count"], 1);
    assert_eq!(found["incomplete_results"], false);
    let item = &found["items"][0];
    assert_eq!(item["name"], "a b.c");
    assert_eq!(item["path"], "src/a b.c");
    assert_eq!(item["sha"].as_str().unwrap().len(), 40);
    assert_eq!(item["repository"]["full_name"], "pkg/i3-wm_4.22");
    assert_eq!(item["repository"]["owner"]["login"], "pkg");
    assert_eq!(item["line_numbers"], json!(["1..3"]));
    let host = item["url"].as_str().unwrap().split("/api/").next().unwrap();
    let contents = format!("{host}/api/v3/repos/pkg/i3-wm_4.22/contents/src/a%20b.c");
    assert_eq!(item["url"], contents);
    let page = format!("{host}/show?package=i3-wm_4.22&path=src/a%20b.c&line=2#L2");
    assert_eq!(item["html_url"], page);
    assert_eq!(
        item["text_matches"],
        json!([{
            "object_url": contents,
            "object_type": "FileContent",
            "property": "content",
            "line": 2,
            "fragment": "#include <x>\n\t/* größe */ needle(a);\n",
            "matches": [
                {"text": "needle", "indices": [28, 34], "line": 2},
            ],
        }])
    );
    let contents = contents.strip_prefix(host).unwrap();
    let file = site.get(contents).json();
    assert_eq!(file["path"], item["path"]);
    // As `git hash-object` prints it.
    assert_eq!(file["sha"], "7a62c73f4350f5fca811ca1a315e85e9c6f1c47c");
}

#[test]
fn links_lead_through_the_pages() {
    let site = site();
    let mut address = "/search/code?q=needle&per_page=20&sort=indexed&order=asc".to_owned();
    let mut paths = Vec::new();
    for page in 1..=3 {
        let answer = site.get(&address);
        let found = answer.json();
        assert_eq!(found["total_count"], 42);
        paths.extend(names(&found, "/path"));
        let links = answer.header("link");
        for (relation, is_there) in [
            ("next", page < 3),
            ("last", page < 3),
            ("prev", page > 1),
            ("first", page > 1),
        ] {
            let relation = format!("rel=\"{relation}\"");
            assert_eq!(links.contains(&relation), is_there, "{page}: {links}");
        }
        let next = links.split(", ").find(|link| link.ends_with("\"next\""));
        let next = next.and_then(|link| link[1..].split('>').next());
        let next = next.map(|next| next[next.find("/search").unwrap()..].to_owned());
        assert!(
            page == 3
                || next
                    .as_ref()
                    .unwrap()
                    .contains(&format!("?page={}", page + 1))
        );
        address = next.unwrap_or_default();
    }
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), 42);
    let default = site.get("/search/code?q=needle").json();
    assert_eq!(default["items"].as_array().unwrap().len(), 30);
    let most = site.get("/search/code?q=needle&per_page=1000").json();
    assert_eq!(most["items"].as_array().unwrap().len(), 42);
    let past = site.get("/search/code?q=needle&page=9").json();
    assert_eq!(
        (&past["items"], &past["total_count"]),
        (&json!([]), &json!(42))
    );
}

#[test]
fn only_a_thousand_files_can_be_paged_to() {
    let files = (0..1010).map(|number| Document::new("many", &format!("{number}.c"), &["needle"]));
    let site = site_of(files.collect());
    let answer = site.get("/search/code?q=needle&per_page=100&page=10");
    assert_eq!(answer.json()["total_count"], 1010);
    assert_eq!(answer.json()["items"].as_array().unwrap().len(), 100);
    assert!(!answer.header("link").contains("next"));
    for past in [
        "page=11&per_page=100",
        "page=35",
        "page=18446744073709551615",
    ] {
        let refused = site.get(&format!("/search/code?q=needle&{past}"));
        check_problem(
            &refused,
            422,
            "Only the first 1000 search results are available",
        );
    }
}

#[test]
fn a_repository_is_found_by_every_name_of_it() {
    let site = site();
    let found = site.get("/search/code?q=needle&per_page=100").json();
    let mut repositories = names(&found, "/repository/full_name");
    repositories.dedup();
    repositories.sort();
    repositories.dedup();
    assert_eq!(repositories, ["acme/widget", "pkg/i3-wm_4.22", "pkg/many"]);
    for name in ["pkg/many", "anyone/many"] {
        let found = site
            .get(&format!("/search/code?q=needle+repo:{name}"))
            .json();
        assert_eq!(found["total_count"], 40, "{name}");
        let about = site.get(&format!("/repos/{name}")).json();
        assert_eq!(about["full_name"], "pkg/many");
        assert_eq!(about["default_branch"], "main");
        let main = site
            .get(&format!("/repos/{name}/git/ref/heads/main"))
            .json();
        let sha = main["object"]["sha"].as_str().unwrap();
        let file = format!("/repos/{name}/contents/00.c?ref={sha}");
        assert_eq!(site.get(&file).json()["path"], "00.c");
    }
    let refused = site.get("/search/code?q=needle+repo:acme/mnay");
    check_problem(&refused, 422, "cannot be searched");
    assert!(
        refused.text().contains("did you mean pkg/many?"),
        "{}",
        refused.text()
    );
    let nothing = site.get("/search/code?q=nothing");
    assert_eq!(nothing.status, 200);
    let empty = json!({"total_count": 0, "incomplete_results": false, "items": []});
    assert_eq!(nothing.json(), empty);
    let notice = site.get("/search/code?q=needle+size:%3E10").json();
    assert!(
        notice["notices"][0]
            .as_str()
            .unwrap()
            .contains("size:>10 is ignored")
    );
}

#[test]
fn an_incomplete_answer_says_so() {
    let good = Fake::new("good", shards(1, 1));
    let bad = Fake::with("bad", shards(2, 1), Fault::NoEnd);
    let site = Site::new(vec![good.backend(), bad.backend()]);
    let answer = site.get("/search/code?q=arse");
    assert_eq!(answer.json()["incomplete_results"], true);
    assert_eq!(answer.header("cache-control"), "no-store");
    good.set_down(true);
    bad.set_down(true);
    eventually("the loss of both", || {
        let backends = site.frontend.backends(&Scope::everything());
        backends.iter().all(|backend| !backend.connected)
    });
    let lost = site.get("/search/code?q=parse");
    check_problem(&lost, 503, "no backend");
}

#[test]
fn hostile_names_and_texts_are_escaped() {
    let site = Site::new(vec![Fake::new("one", shards(1, 2)).backend()]);
    let found = site.get("/search/code?q=arse&per_page=100").json();
    let items = found["items"].as_array().unwrap();
    assert_eq!(found["total_count"], json!(items.len()));
    for item in items {
        for matched in item["text_matches"].as_array().unwrap() {
            let fragment = matched["fragment"].as_str().unwrap();
            for found in matched["matches"].as_array().unwrap() {
                let at = |index: usize| found["indices"][index].as_u64().unwrap() as usize;
                assert_eq!(fragment[at(0)..at(1)], *found["text"].as_str().unwrap());
            }
        }
        let url = item["url"].as_str().unwrap();
        assert!(url.is_ascii() && !url.contains(['<', '\n', '"']), "{url}");
    }
}

#[test]
fn malformed_requests_are_refused() {
    let site = site();
    for (query, says) in [
        ("", "q is missing"),
        ("?q=", "q is missing"),
        ("?q=%ff", "q is not UTF-8"),
        ("?q=x&page=1e9", "page=1e9 is not a number"),
        ("?q=x&per_page=-1", "per_page=-1 is not a number"),
        ("?q=/(/", "invalid regular expression"),
        (
            "?q=needle+is:archived",
            "does not know what is:archived selects",
        ),
        ("?q=size:1", "the query is empty"),
    ] {
        for path in ["/search/code", "/api/v3/search/code"] {
            check_problem(&site.get(&format!("{path}{query}")), 422, says);
        }
    }
    let long = format!("/search/code?q={}", "x".repeat(17 << 10));
    check_problem(&site.get(&long), 422, "the limit is");
    for path in [
        "/search/code?q=x",
        "/repos/pkg/many",
        "/repos/pkg/many/contents/00.c",
        "/repos/pkg/many/commits",
        "/api/v3/repos/pkg/many/git/trees/HEAD",
        "/user",
        "/meta",
        "/rate_limit",
        "/api/v3",
    ] {
        for method in [Method::PUT, Method::DELETE, Method::PATCH] {
            let refused = site.send(method, path, &[]);
            check_problem(&refused, 405, "method not allowed");
        }
    }
    check_problem(&site.get("/api/graphql"), 405, "method not allowed");
    for (path, says) in [
        ("/api/v3/nothing", "no such address"),
        ("/repos/a/b", "there is no repository a/b"),
        (
            "/repos/a/many/git/ref/heads/x",
            "pkg/many has no revision x",
        ),
        ("/repos/pkg/many/contents/no.c", "has no file no.c"),
        ("/repos/pkg/many/commits", "no backend has git repositories"),
    ] {
        check_problem(&site.get(path), 404, says);
    }
}

#[test]
fn files_and_directories_are_read() {
    let site = site();
    let at = "/api/v3/repos/pkg/i3-wm_4.22/contents";
    let text = "#include <x>\n\t/* größe */ needle(a);\n\nend\n";
    for rev in ["", "?ref=HEAD", "?ref=main"] {
        let file = site.get(&format!("{at}/src/a%20b.c{rev}")).json();
        assert_eq!(
            (&file["type"], &file["encoding"]),
            (&json!("file"), &json!("base64"))
        );
        let content = file["content"].as_str().unwrap().replace('\n', "");
        assert_eq!(BASE64.decode(content).unwrap(), text.as_bytes());
        assert_eq!(file["size"], json!(text.len()));
    }
    let raw = [("accept", "application/vnd.github.raw+json")];
    let raw = site.send(Method::GET, &format!("{at}/src/a%20b.c"), &raw);
    assert_eq!(raw.text(), text);
    assert!(raw.header("content-type").starts_with("text/plain"));
    let top = site.get(at).json();
    assert_eq!(
        (&top[0]["type"], &top[0]["path"]),
        (&json!("dir"), &json!("src"))
    );
    for directory in ["/src", "/src/"] {
        let children = site.get(&format!("{at}{directory}")).json();
        assert_eq!(children[0]["path"], "src/a b.c");
        assert_eq!(children[0]["type"], "file");
    }
    let tree = site.get("/repos/deep%2Facme/widget/git/trees/HEAD").json();
    assert_eq!(tree["tree"][0]["path"], "main.c");
    assert_eq!(tree["truncated"], false);
    let lost = site.get(&format!("{at}?ref=v9"));
    assert!(lost.status == 200 || lost.status == 404, "{}", lost.text());
}

#[test]
fn commits_are_paged() {
    let fake = Fake::new(
        "one",
        vec![(1, vec![Document::new("project", "a.c", &["x"])])],
    );
    *fake.repositories.lock().unwrap() = vec![FakeRepository::new("project", 30)];
    let site = Site::new(vec![fake.backend()]);
    let page = |query: &str| {
        let commits = site
            .get(&format!("/repos/pkg/project/commits?{query}"))
            .json();
        let commits = commits.as_array().unwrap().clone();
        let ids = commits
            .iter()
            .map(|it| it["sha"].as_str().unwrap().to_owned());
        (ids.collect::<Vec<_>>(), commits)
    };
    let (ids, commits) = page("per_page=10&page=2");
    let ids_of =
        |numbers: std::ops::Range<usize>| -> Vec<String> { numbers.rev().map(commit_id).collect() };
    assert_eq!(ids, ids_of(10..20));
    let commit = &commits[0]["commit"];
    assert_eq!(commit["message"], "project: change 19\n\nWhy.\n");
    assert_eq!(commit["author"]["date"], "2023-11-14T22:13:39Z");
    assert_eq!(page("per_page=10&page=4").0.len(), 0);
    let answer = site.get("/repos/pkg/project/commits?per_page=10");
    assert!(
        answer
            .header("link")
            .contains("page=2&per_page=10>; rel=\"next\"")
    );
    assert_eq!(page("since=2023-11-14T22:13:48Z").0, ids_of(28..30));
    assert_eq!(page("until=2023-11-14T22:13:21Z&author=nobody").0.len(), 0);
    check_problem(
        &site.get("/repos/pkg/project/commits?since=x"),
        422,
        "is not a time",
    );
    assert_eq!(page("per_page=10&page=4000000000").0.len(), 0);
}

fn with_key() -> (Site, String, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("keys");
    let robot = NewKey::random("robot").unwrap();
    std::fs::write(&file, format!("{}\n", robot.line)).unwrap();
    let access = Access::new(ApiKeys::open(&file).unwrap(), CookieSecret::random(), false);
    let mut options = Options::default();
    options.access = Some(Arc::new(access));
    let fake = Fake::new("one", shards(1, 1));
    let site = Site::with_options(vec![fake.backend()], options);
    (site, robot.key, directory)
}

#[test]
fn a_key_is_the_account_of_the_client() {
    let (site, key, _directory) = with_key();
    let key = format!("token {key}");
    let key = [("authorization", &key[..])];
    for path in ["/api/v3/search/code?q=arse", "/search/code?q=arse", "/user"] {
        let refused = site.get(path);
        check_problem(&refused, 401, "a key is needed");
        assert_eq!(site.send(Method::GET, path, &key).status, 200, "{path}");
    }
    let user = site.send(Method::GET, "/api/v3/user", &key);
    assert_eq!(user.json()["login"], "robot");
    let body = json!({"query": "query UserCurrent{viewer{login}}"}).to_string();
    let viewer = site.post("/api/graphql", &key, body.as_bytes()).json();
    assert_eq!(viewer, json!({"data": {"viewer": {"login": "robot"}}}));
}

#[test]
fn clients_learn_about_the_server() {
    let site = site();
    assert_eq!(site.get("/api/v3/user").json()["login"], "anonymous");
    assert!(site.get("/api/v3/meta").json()["installed_version"].is_string());
    let rate = site.get("/rate_limit").json();
    assert_eq!(rate["rate"], rate["resources"]["code_search"]);
    assert!(
        site.get("/api/v3/")
            .header("x-oauth-scopes")
            .contains("repo")
    );
    check_problem(&site.post("/api/graphql", &[], b"{"), 422, "malformed JSON");
    let long = vec![b' '; 257 << 10];
    let long = site.post("/api/graphql", &[], &long);
    check_problem(&long, 413, "the body exceeds");
    for (path, says) in [
        (
            "/search/issues?q=x",
            "searches code and repositories, not issues",
        ),
        ("/api/v3/search/commits?q=x", "not commits"),
    ] {
        check_problem(&site.get(path), 422, says);
    }
    for (path, says) in [
        ("/repos/pkg/many/zipball/main", "has no zipball/main"),
        ("/api/v3/repos/pkg/many/issues", "has no issues"),
    ] {
        check_problem(&site.get(path), 404, says);
    }
}

#[test]
fn repositories_are_listed_and_searched() {
    let site = site();
    let full_names = |list: &Value| -> Vec<String> {
        let names = list.as_array().unwrap().iter();
        names
            .map(|it| it["full_name"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = ["acme/widget", "pkg/i3-wm_4.22", "pkg/many"];
    for path in ["/user/repos", "/api/v3/repositories"] {
        assert_eq!(full_names(&site.get(path).json()), all, "{path}");
    }
    let first = site.get("/user/repos?per_page=2&page=1");
    assert_eq!(full_names(&first.json()), all[..2]);
    assert!(
        first
            .header("link")
            .contains("/user/repos?page=2&per_page=2>; rel=\"next\"")
    );
    assert_eq!(full_names(&site.get("/orgs/ACME/repos").json()), all[..1]);
    assert_eq!(full_names(&site.get("/users/pkg/repos").json()), all[1..]);
    check_problem(
        &site.get("/orgs/none/repos"),
        404,
        "no repository belongs to none",
    );
    assert_eq!(site.get("/users/pkg").json()["public_repos"], 2);
    assert_eq!(site.get("/users/anonymous").json()["login"], "anonymous");
    check_problem(
        &site.get("/orgs/none"),
        404,
        "no repository belongs to none",
    );
    for (q, expected) in [
        ("widget+in:name", &all[..1]),
        ("", &all[..]),
        ("m+org:pkg", &all[1..]),
        ("i3-wm", &all[1..2]),
        ("none", &[]),
    ] {
        let found = site.get(&format!("/search/repositories?q={q}+is:public"));
        let found = found.json();
        assert_eq!(found["total_count"], json!(expected.len()), "{q}");
        let mut names = full_names(&found["items"]);
        names.sort();
        assert_eq!(names, expected, "{q}");
    }
    let found = site
        .get("/api/v3/search/repositories?q=m+stars:%3E1")
        .json();
    assert_eq!(
        found["notices"],
        json!(["stars:>1 is ignored: the index does not know it"])
    );
    check_problem(&site.get("/search/repositories"), 422, "q is missing");
}

#[test]
fn blobs_are_found_by_their_ids() {
    let site = site();
    let at = "/repos/pkg/i3-wm_4.22";
    let top = site.get(&format!("{at}/git/trees/HEAD")).json();
    assert_eq!(
        (&top["tree"][0]["path"], &top["tree"][0]["type"]),
        (&json!("src"), &json!("tree"))
    );
    let found = site.get("/search/code?q=needle+repo:pkg/i3-wm_4.22");
    let found = found.json();
    let blob = found["items"][0]["sha"].as_str().unwrap();
    let blob = site.get(&format!("{at}/git/blobs/{blob}")).json();
    let content = blob["content"].as_str().unwrap().replace('\n', "");
    let text = String::from_utf8(BASE64.decode(content).unwrap()).unwrap();
    assert!(text.contains("needle(a)"), "{text}");
    check_problem(
        &site.get(&format!("{at}/git/blobs/12")),
        404,
        "no file with the id 12",
    );
    let lost = site.get(&format!("{at}/git/trees/{}", "0".repeat(40)));
    assert!(lost.status == 200 || lost.status == 404, "{}", lost.text());
    assert_eq!(site.get(&format!("{at}/languages")).status, 200);
    check_problem(&site.get(&format!("{at}/readme")), 404, "has no README");
    let html = [("accept", "application/vnd.github.html+json")];
    let html = site.send(Method::GET, &format!("{at}/contents/src/a%20b.c"), &html);
    check_problem(&html, 415, "not rendered to HTML");
    let object = [("accept", "application/vnd.github.object+json")];
    let object = site
        .send(Method::GET, &format!("{at}/contents/src"), &object)
        .json();
    assert_eq!(
        (&object["type"], &object["entries"][0]["path"]),
        (&json!("dir"), &json!("src/a b.c"))
    );
}

#[test]
fn a_package_outside_of_git_has_one_branch() {
    let site = site();
    let at = "/api/v3/repos/pkg/many";
    let branches = site.get(&format!("{at}/branches")).json();
    assert_eq!(branches[0]["name"], "main");
    let id = branches[0]["commit"]["sha"].as_str().unwrap();
    assert_eq!(
        site.get(&format!("{at}/branches/main")).json()["commit"]["sha"],
        id
    );
    assert_eq!(site.get(&format!("{at}/tags")).json(), json!([]));
    for refs in ["git/refs", "git/matching-refs/heads/ma"] {
        let refs = site.get(&format!("{at}/{refs}")).json();
        assert_eq!(refs[0]["ref"], "refs/heads/main");
    }
    assert_eq!(
        site.get(&format!("{at}/git/matching-refs/tags")).json(),
        json!([])
    );
    check_problem(
        &site.get(&format!("{at}/branches/none")),
        404,
        "no revision none",
    );
}

fn graphql(site: &Site, query: &str) -> Value {
    let body = json!({"query": query}).to_string();
    site.post("/api/graphql", &[], body.as_bytes()).json()
}

#[test]
fn graphql_shows_repositories_and_files() {
    let site = site();
    let query = r#"{ repository(owner: "deep/acme", name: "widget") {
        nameWithOwner owner { login } defaultBranchRef { name } isPrivate
        file: object(expression: "HEAD:main.c") { oid ... on Blob { text byteSize } }
        top: object(expression: "main:") { ... on Tree { entries { name type } } }
    } }"#;
    let expected = json!({"data": {"repository": {
        "nameWithOwner": "acme/widget",
        "owner": {"login": "acme"},
        "defaultBranchRef": {"name": "main"},
        "isPrivate": false,
        "file": {
            "oid": "8385947963017ff1332cf5f0be747f5c4faddf13",
            "text": "a needle\n",
            "byteSize": 9,
        },
        "top": {"entries": [{"name": "main.c", "type": "blob"}]},
    }}});
    assert_eq!(graphql(&site, query), expected);
    let query = r#"{ repositoryOwner(login: "pkg") { repositories(first: 1) {
        totalCount nodes { name } pageInfo { hasNextPage endCursor } } } }"#;
    let owned = graphql(&site, query);
    let owned = &owned["data"]["repositoryOwner"]["repositories"];
    let expected = json!({
        "totalCount": 2,
        "nodes": [{"name": "i3-wm_4.22"}],
        "pageInfo": {"hasNextPage": true, "endCursor": "1"},
    });
    assert_eq!(*owned, expected);
    let unknown = graphql(&site, r#"{ organization(login: "none") { login } }"#);
    assert_eq!(unknown, json!({"data": {"organization": null}}));
    let query = r#"{ search(query: "many", type: REPOSITORY, first: 5) {
        repositoryCount nodes { ... on Repository { name } } } }"#;
    let found = &graphql(&site, query)["data"]["search"];
    assert_eq!(
        *found,
        json!({"repositoryCount": 1, "nodes": [{"name": "many"}]})
    );
}

#[test]
fn graphql_refuses_what_is_not_known_or_too_much() {
    let site = site();
    let many: String = (0..30)
        .map(|number| format!("a{number}: object(expression: \"HEAD:main.c\") {{ oid }} "))
        .collect();
    let many = format!("{{ repository(owner: \"deep/acme\", name: \"widget\") {{ {many} }} }}");
    for (query, says) in [
        (
            r#"{ repository(owner: "a", name: "b") { name } }"#,
            "there is no repository a/b",
        ),
        (
            r#"{ repository(owner: "a", name: "many") { issues { totalCount } } }"#,
            "Unknown field",
        ),
        (
            r#"{ search(query: "x", type: ISSUE) { repositoryCount } }"#,
            "only repositories",
        ),
        (
            "query($x: [Nope!] = 1) { viewer { login } }",
            "Unknown type \"Nope\"",
        ),
        (&many, "too complex"),
    ] {
        let answer = graphql(&site, query);
        let message = answer["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn links_of_pages_lead_to_ours() {
    let site = site();
    let location = |path: &str| {
        let answer = site.get_without_following(path);
        assert_eq!(answer.status, 303, "{path}: {}", answer.text());
        answer.header("location").to_owned()
    };
    for (path, expected) in [
        ("/pkg/many/blob/main/00.c", "/show?package=many&path=00.c"),
        (
            "/any/i3-wm/blob/HEAD/src/a%20b.c",
            "/show?package=i3-wm_4.22&path=src/a%20b.c",
        ),
        ("/pkg/many/tree/main", "/p/many/"),
        ("/pkg/i3-wm/tree/main/src", "/p/i3-wm_4.22/src/"),
        (
            "/search?type=code&q=a+OR+language:c",
            "/search?q=a%20or%20lang%3AC",
        ),
    ] {
        assert_eq!(location(path), expected);
    }
    for rev in ["HEAD", "main", "refs/heads/main"] {
        let raw = format!("/raw/pkg/many/{rev}/00.c");
        assert_eq!(location(&raw), "/raw/p/many/00.c");
    }
    let git = site.get("/pkg/many.git/info/refs?service=git-upload-pack");
    assert_eq!(
        (git.status, git.header("content-type")),
        (404, "text/plain; charset=utf-8")
    );
    for path in ["/search?type=code&q=", "/search?type=code&q=/(/"] {
        assert_eq!(site.get_without_following(path).status, 400, "{path}");
    }
    assert_eq!(site.get("/a/b/blob/main/x").status, 404);
    // Our own pages come first.
    let ours = site.get_without_following("/p/many/blob/main/x");
    assert_eq!(
        ours.header("location"),
        "/show?package=many&path=blob/main/x"
    );
}

#[test]
fn the_interface_can_be_switched_off() {
    let mut options = Options::default();
    options.compat = "zoekt,dcs".parse().unwrap();
    let fake = Fake::new("one", shards(1, 1));
    let site = Site::with_options(vec![fake.backend()], options);
    for path in [
        "/api/v3/search/code?q=arse",
        "/repos/a/b",
        "/a/b/blob/main/x",
    ] {
        assert_eq!(site.get(path).status, 404, "{path}");
    }
}
