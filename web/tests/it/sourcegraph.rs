//! Interface of Sourcegraph: the stream, GraphQL, and addresses.

use crate::site::{AsBackend, Site};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::atomic::Ordering::SeqCst;
use testkit::backend::{Document, Fake, Fault};
use ureq::http::Method;
use web::Options;

const GRAPHQL: &str = "/.api/graphql";

fn document(package: &str, path: &str, text: &[u8]) -> Document {
    let lines = text.strip_suffix(b"\n").unwrap_or(text);
    let lines = lines.split(|&byte| byte == b'\n');
    Document {
        package: package.into(),
        path: path.into(),
        lines: lines.map(<[u8]>::to_vec).collect(),
        split: false,
    }
}

fn documents() -> Vec<Document> {
    vec![
        document(
            "list_1.0",
            "src/list.c",
            b"/* \xff\xc3\xbc */\n\nint list_add(int to)\n{\n\treturn to; /* needle needle */\n}\n",
        ),
        document("tools", "bin/needle.py", b"x = 1\nneedle = list_add(x)\n"),
    ]
}

fn site() -> Site {
    Site::new(vec![Fake::new("one", vec![(1, documents())]).backend()])
}

fn stream(site: &Site, query: &str) -> Vec<(String, Value)> {
    site.events(&format!("/.api/search/stream?{query}"), "done")
}

fn items(events: &[(String, Value)]) -> Vec<&Value> {
    let events = events.iter().filter(|(name, _)| name == "matches");
    events
        .flat_map(|(_, items)| items.as_array().unwrap())
        .collect()
}

fn last<'a>(events: &'a [(String, Value)], name: &str) -> &'a Value {
    let found = events.iter().rfind(|(known, _)| known == name);
    &found.unwrap_or_else(|| panic!("no {name} in {events:?}")).1
}

fn ask(site: &Site, body: &Value) -> Value {
    let answer = site.post(GRAPHQL, &[], body.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), "application/json");
    answer.json()
}

fn query(site: &Site, query: &str) -> Value {
    ask(site, &json!({ "query": query, "variables": null }))
}

#[test]
fn events_come_in_their_order_and_form() {
    let site = site();
    let raw = site.get("/.api/search/stream?q=needle&cm=t");
    assert!(raw.header("content-type").starts_with("text/event-stream"));
    for event in raw.text().trim_end().split("\n\n") {
        let lines: Vec<_> = event.lines().collect();
        assert!(lines.len() == 2, "{event}");
        assert!(
            lines[0].starts_with("event: ") && lines[1].starts_with("data: "),
            "{event}"
        );
    }
    let events = stream(&site, "q=needle&cm=t");
    let mut names: Vec<_> = events.iter().map(|(name, _)| &name[..]).collect();
    if names[0] == "progress" {
        names.remove(0);
    }
    assert_eq!(names, ["filters", "matches", "progress", "done"]);
    let progress = last(&events, "progress");
    assert_eq!(
        (
            &progress["done"],
            &progress["matchCount"],
            &progress["skipped"]
        ),
        (&json!(true), &json!(2), &json!([]))
    );
    let filters = last(&events, "filters").as_array().unwrap();
    assert!(filters.iter().any(|it| it["value"] == "repo:^list_1\\.0$"));
}

#[test]
fn lines_come_in_chunks_or_alone() {
    let site = site();
    let events = stream(&site, "q=needle+file:list.c&cm=true&cl=1");
    let chunk = &items(&events)[0]["chunkMatches"][0];
    assert_eq!(
        chunk["content"],
        json!("{\n\treturn to; /* needle needle */\n}")
    );
    let start = &chunk["ranges"][0]["start"];
    assert_eq!((&start["line"], &start["column"]), (&json!(4), &json!(15)));
    let alone = stream(&site, "q=needle+file:list.c&cm=true&cl=0");
    let chunk = &items(&alone)[0]["chunkMatches"][0];
    assert_eq!(chunk["content"], json!("\treturn to; /* needle needle */"));
    let old = stream(&site, "q=needle+file:list.c");
    assert_eq!(
        items(&old)[0]["lineMatches"],
        json!([{
            "line": "\treturn to; /* needle needle */",
            "lineNumber": 4,
            "offsetAndLengths": [[15, 6]],
        }])
    );
}

#[test]
fn types_select_paths_repositories_and_directories() {
    let site = site();
    let shown = |q: &str| -> Vec<(String, String, String)> {
        let events = stream(&site, &format!("q={q}"));
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let items = items(&events).into_iter();
        let mut items: Vec<_> = items
            .map(|it| {
                (
                    text(&it["type"]),
                    text(&it["repository"]),
                    text(&it["path"]),
                )
            })
            .collect();
        items.sort();
        items
    };
    let item = |kind: &str, repository: &str, path: &str| {
        (kind.to_owned(), repository.to_owned(), path.to_owned())
    };
    assert_eq!(shown("repo:tools"), [item("repo", "tools", "")]);
    assert_eq!(
        shown("type:repo+l.*t+patterntype:regexp"),
        [item("repo", "list_1.0", "")]
    );
    assert_eq!(
        shown("type:repo+-repo:tools"),
        [item("repo", "list_1.0", "")]
    );
    let both = [item("repo", "list_1.0", ""), item("repo", "tools", "")];
    assert_eq!(shown("needle+select:repo"), both);
    let directories = [
        item("path", "list_1.0", "src"),
        item("path", "tools", "bin"),
    ];
    assert_eq!(shown("needle+select:file.directory"), directories);
    assert_eq!(
        shown("file:list.c"),
        [item("path", "list_1.0", "src/list.c")]
    );
}

#[test]
fn limits_are_said_and_do_not_change_the_count() {
    let site = site();
    let reasons = |query: &str| {
        let events = stream(&site, query);
        let progress = last(&events, "progress");
        assert_eq!(progress["matchCount"], json!(2), "{query}");
        let skipped = progress["skipped"].as_array().unwrap().iter();
        let reasons: Vec<_> = skipped.map(|it| it["reason"].clone()).collect();
        (items(&events).len(), reasons)
    };
    assert_eq!(reasons("q=needle"), (2, vec![]));
    assert_eq!(reasons("q=needle&display=-1"), (2, vec![]));
    assert_eq!(reasons("q=needle&display=0"), (0, vec![json!("display")]));
    assert_eq!(reasons("q=needle&display=1"), (1, vec![json!("display")]));
    let cut = (1, vec![json!("shard-match-limit")]);
    assert_eq!(reasons("q=needle+count:1"), cut);
    assert_eq!(reasons("q=needle+count:1&display=9"), cut);
    assert_eq!(reasons("q=needle+count:all"), (2, vec![]));
    assert_eq!(reasons("q=needle+count:99999999"), (2, vec![]));
}

#[test]
fn a_backend_that_is_missing_is_said() {
    let fakes = [
        Fake::new("one", vec![(1, documents())]),
        Fake::with("two", vec![(2, documents())], Fault::ShardFailure),
    ];
    let site = Site::new(fakes.iter().map(AsBackend::backend).collect());
    let events = stream(&site, "q=needle");
    let skipped = last(&events, "progress")["skipped"].to_string();
    assert!(
        skipped.contains("shard-timeout") && skipped.contains("two"),
        "{skipped}"
    );
    let search = r#"{search(query: "needle"){results{timedout{name} missing{name}}}}"#;
    let found = query(&site, search);
    let timedout = &found["data"]["search"]["results"]["timedout"];
    assert!(
        timedout[0]["name"].as_str().unwrap().contains("two"),
        "{found}"
    );
}

#[test]
fn a_query_that_cannot_be_searched_for_is_an_alert() {
    let site = site();
    for (q, told) in [
        ("type:commit+x", "commits and diffs are not searched"),
        ("/a(/", "unclosed group; search for it as literal text"),
        ("", "the query is empty"),
        (
            "patterntype:structural+x",
            "expected keyword, standard, literal or regexp",
        ),
    ] {
        let events = stream(&site, &format!("q={q}"));
        let alert = last(&events, "alert")["description"].as_str().unwrap();
        assert!(alert.contains(told), "{q}: {alert}");
        assert_eq!(last(&events, "progress")["done"], json!(true));
    }
    let events = stream(&site, "q=nowhere");
    assert_eq!(last(&events, "alert")["title"], json!("No results"));
    assert!(items(&events).is_empty());
}

#[test]
fn other_errors_are_events_with_their_status() {
    let site = site();
    let oauth = site.get("/.well-known/openid-configuration");
    let told = oauth.json()["error"].to_string();
    assert!(
        oauth.status == 404 && told.contains("SRC_ACCESS_TOKEN"),
        "{told}"
    );
    for (path, status, told) in [
        (
            "/.api/search/stream?q=x&display=x",
            400,
            "display=x is not a number",
        ),
        (
            "/.api/search/stream?q=x&cl=-1",
            400,
            "cl=-1 is not a number",
        ),
        (
            "/.api/search/stream?q=x&t=struct",
            400,
            "t=struct is not a pattern type",
        ),
        ("/.api/search/stream?q=x&v=V9", 400, "v=V9 is not a version"),
        ("/.api/search/stream?q=%ff", 400, "q is not UTF-8"),
    ] {
        let answer = site.get(path);
        let text = answer.text();
        assert_eq!(answer.status, status, "{text}");
        assert!(
            text.starts_with("event: error\ndata: {") && text.contains(told),
            "{text}"
        );
        assert!(text.ends_with("event: done\ndata: {}\n\n"), "{text}");
    }
    let posted = site.send(Method::POST, "/.api/search/stream?q=x", &[]);
    assert_eq!(posted.status, 405);
    assert!(posted.text().starts_with("event: error"));
    let unknown = site.get("/.api/nowhere");
    assert_eq!(
        (unknown.status, &unknown.json()["error"]),
        (404, &json!("no such address: /.api/nowhere"))
    );
    let version = site.get("/.api/src-cli/version").json();
    assert_eq!(version, json!({"version": "7.6.0"}));
}

#[test]
fn one_execution_serves_all_interfaces() {
    let fake = Fake::new("one", vec![(1, documents())]);
    let site = Site::new(vec![fake.backend()]);
    stream(&site, "q=needle&cm=t");
    stream(&site, "q=needle&cl=0&v=V2");
    query(
        &site,
        r#"{search(query: "needle", version: V3){results{matchCount}}}"#,
    );
    stream(&site, "q=needle&cm=t&display=1");
    assert_eq!(fake.searches.load(SeqCst), 1);
}

#[test]
fn graphql_answers_a_search() {
    let site = site();
    let body = json!({
        "query": "query($query: String!) { search(query: $query, patternType: literal) { results {
            matchCount limitHit resultCount approximateResultCount indexUnavailable
            cloning { name } missing { name } timedout { name } alert { title }
            results { __typename
                ... on FileMatch { repository { name url } file { name path url content commit { oid } }
                    lineMatches { preview lineNumber offsetAndLengths limitHit } symbols { name } }
                ... on CommitSearchResult { commit { oid author { person { name } } } }
                ... on Repository { name url label { html } } } } } }",
        "variables": {"query": "needle file:list.c"},
    });
    let found = ask(&site, &body);
    assert_eq!(
        found["data"]["search"]["results"],
        json!({
            "matchCount": 1, "limitHit": false, "resultCount": 1, "approximateResultCount": "1",
            "indexUnavailable": false, "cloning": [], "missing": [], "timedout": [], "alert": null,
            "results": [{
                "__typename": "FileMatch",
                "repository": {"name": "list_1.0", "url": "/list_1.0"},
                "file": {
                    "name": "list.c", "path": "src/list.c", "url": "/list_1.0/-/blob/src/list.c",
                    "content": "/* ?ü */\n\nint list_add(int to)\n{\n\treturn to; /* needle needle */\n}\n",
                    "commit": {"oid": ""},
                },
                "lineMatches": [{
                    "preview": "\treturn to; /* needle needle */", "lineNumber": 4,
                    "offsetAndLengths": [[15, 6]], "limitHit": false,
                }],
                "symbols": [],
            }],
        })
    );
    let limited = query(
        &site,
        r#"{search(query: "needle count:1"){results{limitHit matchCount resultCount}}}"#,
    );
    let expected = json!({"limitHit": true, "matchCount": 2, "resultCount": 1});
    assert_eq!(limited["data"]["search"]["results"], expected);
    let repositories = query(
        &site,
        r#"{search(query: "repo:tools"){results{results{... on Repository{name}}}}}"#,
    );
    assert_eq!(
        repositories["data"]["search"]["results"]["results"],
        json!([{"name": "tools"}])
    );
}

#[test]
fn graphql_lists_and_reads() {
    let site = site();
    let found = query(
        &site,
        r#"{ repositories(first: 1, orderBy: REPOSITORY_NAME, cloned: true) { totalCount nodes { id name viewerCanAdminister } }
            currentUser { username }
            repository(name: "github.com/x/tools") { name commit(rev: "HEAD") {
                file(path: "bin/needle.py") { content isDirectory }
                tree(path: "") { entries { name path isDirectory url } } } }
            none: repository(name: "nowhere") { name } }"#,
    );
    let data = &found["data"];
    assert_eq!(
        data["repositories"],
        json!({"totalCount": 2, "nodes": [{"id": "list_1.0", "name": "list_1.0", "viewerCanAdminister": false}]})
    );
    assert_eq!(data["currentUser"]["username"], json!("anonymous"));
    let tools = &data["repository"];
    assert_eq!(tools["name"], json!("github.com/x/tools"));
    assert_eq!(
        tools["commit"]["file"]["content"],
        json!("x = 1\nneedle = list_add(x)\n")
    );
    let entry =
        json!({"name": "bin", "path": "bin", "isDirectory": true, "url": "/tools/-/tree/bin"});
    assert_eq!(tools["commit"]["tree"]["entries"], json!([entry]));
    assert_eq!(data["none"], Value::Null);
    let missing = query(
        &site,
        r#"{repository(name: "tools"){commit(rev: "HEAD"){blob(path: "x"){path}}}}"#,
    );
    assert_eq!(
        missing["errors"][0]["message"],
        json!("tools has no file x")
    );
}

#[test]
fn graphql_finds_definitions_in_characters() {
    let site = site();
    let lsif = r#"{repository(name: "tools"){commit(rev: "HEAD"){blob(path: "bin/needle.py"){lsif{
        definitions(line: 1, character: 12){nodes{resource{path repository{name}} range{start{line character} end{line character}} url}}
        hover(line: 1, character: 12){markdown{text}}
        nothing: references(line: 9, character: 0){nodes{url}}
        negative: references(line: -1, character: -1){nodes{url}}
    }}}}}"#;
    let found = query(&site, lsif);
    let lsif = &found["data"]["repository"]["commit"]["blob"]["lsif"];
    assert_eq!(
        lsif["definitions"]["nodes"][0],
        json!({
            "resource": {"path": "src/list.c", "repository": {"name": "list_1.0"}},
            "range": {"start": {"line": 2, "character": 4}, "end": {"line": 2, "character": 12}},
            "url": "/list_1.0/-/blob/src/list.c?L3:5",
        }),
        "{found}"
    );
    let hover = lsif["hover"]["markdown"]["text"].as_str().unwrap();
    assert!(
        hover.contains("int list_add(int to)") && hover.contains("list.c:3"),
        "{hover}"
    );
    assert_eq!(lsif["nothing"]["nodes"], json!([]));
    assert_eq!(lsif["negative"]["nodes"], json!([]));
}

#[test]
fn predicates_of_repositories_narrow_any_search() {
    let site = site();
    let shown = |q: &str| -> Vec<String> {
        let events = stream(&site, &format!("q={q}"));
        let items = items(&events).into_iter();
        let name = |it: &Value| it["repository"].as_str().unwrap().to_owned();
        items.map(name).collect()
    };
    for (q, expected) in [
        ("repo:has.path(list.c)+needle", "list_1.0"),
        ("-repo:has.path(list.c)+needle", "tools"),
        ("repo:has.content(x+=+1)+list_add", "tools"),
        (
            "NOT+repo:contains.file(path:py+content:x)+list_add",
            "list_1.0",
        ),
        ("repo:has.file(list.c)", "list_1.0"),
        ("repo:t+-repo:has.file(list.c)", "tools"),
        ("repo:has.path(py)+a+or+needle", "tools"),
        ("repo:has.path(py)+needle+select:repo", "tools"),
    ] {
        assert_eq!(shown(q), [expected], "{q}");
    }
    assert_eq!(shown("repo:has.path(absent)+needle"), [""; 0]);
    for (q, words) in [
        ("repo:has.topic(x)+a", "select them with repo:NAME"),
        ("repo:has.path(x)+or+a", "cannot be an alternative"),
        ("repo:has.path(a(", "not closed"),
    ] {
        let alert = stream(&site, &format!("q={q}"));
        let description = last(&alert, "alert")["description"].to_string();
        assert!(description.contains(words), "{q}: {description}");
    }
    let found = query(
        &site,
        r#"{search(query: "repo:has.path(py) list_add"){results{matchCount results{
            ... on FileMatch{repository{name}}}}}}"#,
    );
    let results = &found["data"]["search"]["results"];
    assert_eq!(
        results["results"],
        json!([{"repository": {"name": "tools"}}])
    );
}

#[test]
fn graphql_has_what_editors_ask_for() {
    let site = site();
    let found = query(
        &site,
        r#"query Revision { repositoryRedirect(name: "tools") { __typename
                ... on Repository { id mirrorInfo { cloned cloneInProgress cloneProgress }
                    commit(rev: "") { oid abbreviatedOID tree(path: "") { url } author { date } }
                    defaultBranch { abbrevName target { oid } } branches { totalCount } isPrivate }
                ... on Redirect { url } }
            remote: repository(cloneURL: "git@github.com:x/tools.git") { name }
            nowhere: repositoryRedirect(name: "x") { __typename }
            page: repositories(first: 1) { nodes { name } pageInfo { endCursor hasNextPage } }
            next: repositories(first: 1, after: "list_1.0") { nodes { name } pageInfo { hasNextPage } }
            named: repositories(names: ["tools"]) { totalCount }
            currentUser { id displayName } site { siteID } }"#,
    );
    let data = &found["data"];
    assert_eq!(
        data["repositoryRedirect"],
        json!({
            "__typename": "Repository",
            "id": "tools",
            "mirrorInfo": {"cloned": true, "cloneInProgress": false, "cloneProgress": null},
            "commit": {"oid": "", "abbreviatedOID": "", "tree": {"url": "/tools/-/tree/"}, "author": null},
            "defaultBranch": null,
            "branches": {"totalCount": 0},
            "isPrivate": false,
        }),
        "{found}"
    );
    assert_eq!(data["remote"]["name"], json!("github.com/x/tools"));
    assert_eq!(data["nowhere"], Value::Null);
    assert_eq!(
        data["page"],
        json!({"nodes": [{"name": "list_1.0"}], "pageInfo": {"endCursor": "list_1.0", "hasNextPage": true}})
    );
    assert_eq!(
        data["next"],
        json!({"nodes": [{"name": "tools"}], "pageInfo": {"hasNextPage": false}})
    );
    assert_eq!(data["named"]["totalCount"], json!(1));
    assert_eq!(data["site"]["siteID"], json!("trawl"));
}

#[test]
fn graphql_refuses_what_would_cost_too_much() {
    let site = site();
    let aliases: String = (0..1000)
        .map(|n| format!("a{n}:site{{buildVersion}}"))
        .collect();
    let searches: String = (0..20)
        .map(|n| format!(r#"s{n}:search(query:"x"){{results{{matchCount}}}}"#))
        .collect();
    let deep = format!("{}{}", "{a".repeat(5000), "}".repeat(5000));
    let nested = "branches{nodes{target{commit{repository{".repeat(3);
    let ends = "}".repeat(17);
    for bad in [
        &format!("{{repository(name:\"tools\"){{{nested}name{ends}"),
        &format!("{{{aliases}}}"),
        &format!("{{{searches}}}"),
        &deep,
        "{nothing}",
        "{",
        "",
    ] {
        let answer = query(&site, bad);
        let error = answer["errors"][0]["message"].as_str().unwrap_or_default();
        assert!(!error.is_empty() && answer["data"].is_null(), "{answer}");
    }
    let error = |headers: &[(&str, &str)], body: &[u8]| {
        let answer = site.post(GRAPHQL, headers, body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let error = answer.json()["errors"][0]["message"].clone();
        error.as_str().unwrap_or_default().to_owned()
    };
    let gzip = ("content-encoding", "gzip");
    assert!(error(&[], b"[7]").contains("malformed JSON"));
    assert!(error(&[], &vec![b' '; 300 << 10]).contains("exceeds 262144 bytes"));
    assert!(error(&[gzip], &gzipped(&vec![b' '; 50 << 20])).contains("exceeds 262144 bytes"));
    assert_eq!(error(&[gzip], b"{}"), "the body is not gzip");
    assert_eq!(
        error(&[("content-encoding", "br")], b"{}"),
        "the body must be plain or gzip"
    );
    let got = site.get(GRAPHQL);
    assert!(
        got.json()["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("method not allowed")
    );
    let plain = gzipped(br#"{"query": "{site{productVersion}}", "variables": null}"#);
    let answer = site.post(GRAPHQL, &[gzip], &plain).json();
    assert_eq!(
        answer["data"]["site"]["productVersion"],
        json!(env!("CARGO_PKG_VERSION"))
    );
}

fn gzipped(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn addresses_of_pages_lead_to_ours() {
    let site = site();
    for (address, href) in [
        (
            "/a/b@v/1/-/blob/x%20y/z.c?L9:6-9:12",
            "/show?package=a/b&path=x%20y/z.c&rev=v/1&line=9#L9",
        ),
        ("/a/-/blob/x", "/show?package=a&path=x"),
        ("/a/b/-/tree/src", "/p/a%2Fb/src/"),
        ("/a@v/-/tree/", "/p/a/?rev=v"),
        ("/a/-/raw/x", "/raw/p/a/x"),
        ("/a/-/commit/1f", "/commit?repo=a&rev=1f"),
        ("/tools", "/p/tools/"),
        ("/tools@v/1/", "/p/tools/?rev=v/1"),
        ("/a@v/-/commits/x/y.c", "/log?repo=a&rev=v&path=x/y.c"),
        ("/a/-/branches", "/log?repo=a"),
        ("/a/-/tags", "/log?repo=a"),
        ("/a/-/compare/v1...v2", "/log?repo=a&rev=v2"),
        ("/a@v/-/symbols", "/p/a/?rev=v"),
        ("/%ff%22/-/blob/%0d%0a", "/show?package=%FF%22&path=%0D%0A"),
        (
            "/search?q=context:global+a+b",
            "/search?q=%28a%20or%20path%3Aa%29%20%28b%20or%20path%3Ab%29",
        ),
        (
            "/search?q=a+b&patternType=literal",
            "/search?q=%22a%20b%22%20or%20path%3A/a%20b/",
        ),
        (
            "/search?q=a+select:repo&patternType=keyword",
            "/search?q=a%20or%20path%3Aa&group=package",
        ),
    ] {
        let answer = site.get_without_following(address);
        assert_eq!(
            (answer.status, answer.header("location")),
            (302, href),
            "{address}"
        );
    }
    for (address, status) in [
        ("/-/blob/x", 404),
        ("/a/-/", 404),
        ("/a/-/blob/", 404),
        ("/a/-/blob/%zz", 400),
        ("/a@%ff/-/blob/x", 400),
        ("/search?q=a(&patternType=regexp", 400),
        ("/a/b", 404),
    ] {
        assert_eq!(site.get(address).status, status, "{address}");
    }
    assert_eq!(site.send(Method::POST, "/a/-/blob/x", &[]).status, 404);
}

#[test]
fn nothing_is_served_if_it_is_not_chosen() {
    let mut options = Options::default();
    options.compat = "none".parse().unwrap();
    let fake = Fake::new("one", vec![(1, documents())]);
    let site = Site::with_options(vec![fake.backend()], options);
    for path in [
        "/.api/search/stream?q=x",
        "/.api/src-cli/version",
        "/a/-/blob/x",
    ] {
        assert_eq!(site.get(path).status, 404, "{path}");
    }
    assert_eq!(site.post(GRAPHQL, &[], b"{}").status, 404);
    assert_eq!(
        site.get("/search?q=context:3+needle&patternType=x").status,
        200
    );
}
