//! Interface of zoekt: shapes, limits, errors, links.

use crate::shards;
use crate::site::{Answer, AsBackend, Site};
use serde_json::{Value, json};
use testkit::backend::{Document, Fake, Fault};
use ureq::http::Method;
use web::Options;

const JSON: (&str, &str) = ("content-type", "application/json");

fn site() -> Site {
    let documents = vec![
        Document::new("zoo_1.0", "src/a b.c", &["", "int needle = needle;", "x"]),
        Document::new("zoo_1.0", "src/b.c", &["needle", "needle", "needle"]),
        Document::new("yak", "needle.c", &["a needle"]),
    ];
    Site::new(vec![Fake::new("one", vec![(1, documents)]).backend()])
}

fn post(site: &Site, path: &str, body: &Value) -> Answer {
    site.post(path, &[JSON], body.to_string().as_bytes())
}

fn search(site: &Site, q: &str, options: Value) -> Value {
    let answer = post(site, "/api/search", &json!({"Q": q, "Opts": options}));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["Result"].clone()
}

fn error(answer: &Answer, status: u16) -> String {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert_eq!(answer.header("content-type"), "application/json");
    let body = answer.json();
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    body["Error"].as_str().unwrap().to_owned()
}

fn text_error(answer: &Answer) -> String {
    assert_eq!(answer.status, 418, "{}", answer.text());
    assert!(answer.header("content-type").starts_with("text/plain"));
    answer.text()
}

#[test]
fn a_chunk_has_the_shape_that_clients_know() {
    let site = site();
    let options = json!({"ChunkMatches": true});
    let result = search(&site, "content:needle f:src/a", options);
    let files = &result["Files"];
    assert_eq!(files.as_array().unwrap().len(), 1, "{result}");
    let mut file = files[0].as_object().unwrap().clone();
    let checksum = file.remove("Checksum").unwrap();
    assert_eq!(checksum.as_str().unwrap().len(), 44);
    let (score, id) = (
        file.remove("Score").unwrap(),
        file.remove("RepositoryID").unwrap(),
    );
    assert!(id.as_u64().unwrap() > 0);
    assert_eq!(
        Value::from(file),
        json!({
            "FileName": "src/a b.c", "Repository": "zoo_1.0", "SubRepositoryName": "",
            "SubRepositoryPath": "", "Version": "", "Language": "C", "Debug": "", "Branches": [],
            "LineMatches": [], "Content": "", "RepositoryPriority": 0.0,
            "ChunkMatches": [{
                "DebugScore": "", "Content": "aW50IG5lZWRsZSA9IG5lZWRsZTsK", "FileName": false,
                "ContentStart": {"ByteOffset": 1, "LineNumber": 2, "Column": 1},
                "Ranges": [{
                    "Start": {"ByteOffset": 5, "LineNumber": 2, "Column": 5},
                    "End": {"ByteOffset": 11, "LineNumber": 2, "Column": 11},
                }],
                "SymbolInfo": null, "Score": score, "BestLineMatch": 2,
            }],
        })
    );
    let template = result["RepoURLs"]["zoo_1.0"].as_str().unwrap();
    let end = "/p/zoo_1.0/{{.Path}}?rev={{.Version}}";
    assert!(
        template.starts_with("http://127.0.0.1:") && template.ends_with(end),
        "{template}"
    );
    assert_eq!(result["LineFragments"]["zoo_1.0"], "#L{{.LineNumber}}");
    for count in ["FileCount", "MatchCount", "ShardsScanned"] {
        assert_eq!(result[count], 1, "{count}");
    }
    for count in ["Crashes", "FilesSkipped", "ShardsSkipped"] {
        assert_eq!(result[count], 0, "{count}");
    }
    // The template, evaluated, leads to the file.
    let page = site.get("/p/zoo_1.0/src/a%20b.c?rev=");
    assert!(
        page.status == 200 && page.text().contains("needle"),
        "{}",
        page.text()
    );
}

#[test]
fn a_line_has_the_shape_that_clients_know() {
    let site = site();
    let context = search(&site, "content:needle r:yak", json!({"NumContextLines": 2}));
    let line = &context["Files"][0]["LineMatches"][0];
    assert_eq!((&line["Before"], &line["After"]), (&json!(""), &json!("")));
    let result = search(&site, "content:needle r:yak", json!({}));
    let file = &result["Files"][0];
    assert_eq!(file["ChunkMatches"], json!([]));
    let score = file["LineMatches"][0]["Score"].clone();
    assert_eq!(
        file["LineMatches"],
        json!([{
            "Line": "YSBuZWVkbGUK", "LineStart": 0, "LineEnd": 9, "LineNumber": 1, "Before": null,
            "After": null, "FileName": false, "Score": score, "DebugScore": "",
            "LineFragments": [
                {"LineOffset": 2, "Offset": 2, "MatchLength": 6, "SymbolInfo": null},
            ],
        }])
    );
}

#[test]
fn limits_cut_what_is_shown_but_not_the_counts() {
    let site = site();
    let shown = |options: Value| {
        let mut options = options;
        options["ChunkMatches"] = json!(true);
        let result = search(&site, "content:needle", options);
        let files = result["Files"].as_array().unwrap();
        let chunks = files
            .iter()
            .flat_map(|file| file["ChunkMatches"].as_array().unwrap());
        let ranges = chunks.map(|chunk| chunk["Ranges"].as_array().unwrap().len());
        let counts = ["FileCount", "MatchCount"].map(|name| result[name].as_u64().unwrap());
        assert_eq!(counts, [3, 5], "{result}");
        let skipped = result["FilesSkipped"].as_u64().unwrap();
        (files.len(), ranges.sum::<usize>(), skipped)
    };
    assert_eq!(shown(json!({})), (3, 5, 0));
    assert_eq!(
        shown(json!({"TotalMaxMatchCount": -1, "maxdocdisplaycount": 9})),
        (3, 5, 0)
    );
    assert_eq!(shown(json!({"MaxDocDisplayCount": 1})).0, 1);
    assert_eq!(shown(json!({"MaxDocDisplayCount": 2})).2, 0);
    let (files, ranges, skipped) = shown(json!({"MaxMatchDisplayCount": 2}));
    assert!(files <= 2 && ranges == 2 && skipped == 0);
    let (files, ranges, skipped) = shown(json!({"TotalMaxMatchCount": 1}));
    assert_eq!((files, ranges, skipped), (1, 1, 3));
    assert_eq!(shown(json!({"ShardMaxMatchCount": 1})), (1, 1, 3));
    assert_eq!(
        shown(json!({"ShardRepoMaxMatchCount": 1, "MaxWallTime": 10.0})).0,
        2
    );
    let whole = search(&site, "content:needle r:yak", json!({"Whole": true}));
    assert_eq!(whole["Files"][0]["Content"], "YSBuZWVkbGUK");
    let estimate = search(&site, "content:needle", json!({"EstimateDocCount": true}));
    assert_eq!(estimate["Files"], json!([]));
    assert!(estimate["ShardFilesConsidered"].as_u64().is_some());
}

#[test]
fn an_answer_of_several_batches_has_every_line() {
    let lines = vec!["needle"; 1000];
    let documents = (0..30).map(|number| Document::new("zoo", &format!("{number}.c"), &lines));
    let fake = Fake::new("one", vec![(1, documents.collect())]);
    let site = Site::new(vec![fake.backend()]);
    let found = |options: Value| {
        let result = search(&site, "content:needle", options);
        let files = result["Files"].as_array().unwrap().clone();
        let lines = |file: &Value| file["LineMatches"].as_array().unwrap().len();
        let lines: Vec<_> = files.iter().map(lines).collect();
        assert_eq!(
            (&result["MatchCount"], &result["FileCount"]),
            (&json!(30_000), &json!(30))
        );
        assert!(result["RepoURLs"]["zoo"].is_string(), "{result}");
        (lines, result["FilesSkipped"].as_u64().unwrap())
    };
    assert_eq!(found(json!({})), (vec![1000; 30], 0));
    let (lines, skipped) = found(json!({"TotalMaxMatchCount": 25_500}));
    assert_eq!((lines.len(), lines[25], skipped), (26, 500, 5));
    let (lines, skipped) = found(json!({"MaxMatchDisplayCount": 25_500}));
    assert_eq!((lines.len(), lines[25], skipped), (26, 500, 0));
    let (lines, skipped) = found(json!({"MaxDocDisplayCount": 24}));
    assert_eq!((lines, skipped), (vec![1000; 24], 0));
}

#[test]
fn only_names_are_shown_with_type_file() {
    let result = search(
        &site(),
        "content:needle r:yak type:file",
        json!({"ChunkMatches": true}),
    );
    let chunk = &result["Files"][0]["ChunkMatches"][0];
    assert_eq!(
        (&chunk["FileName"], &chunk["Content"]),
        (&json!(true), &json!("bmVlZGxlLmM="))
    );
    assert_eq!(chunk["Ranges"][0]["End"]["ByteOffset"], 8);
    assert_eq!(result["MatchCount"], 1);
}

#[test]
fn repositories_are_listed_and_filtered_by_id() {
    let site = site();
    let list = |body: Value| {
        let answer = post(&site, "/api/list", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["List"].clone()
    };
    let names = |list: &Value| -> Vec<String> {
        let repos = list["Repos"].as_array().unwrap().iter();
        repos
            .map(|it| it["Repository"]["Name"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = list(json!({}));
    assert_eq!(names(&all), ["yak", "zoo_1.0"]);
    assert_eq!(
        (&all["ReposMap"], &all["Stats"]["Repos"]),
        (&json!({}), &json!(2))
    );
    let zoo = &all["Repos"][1]["Repository"];
    assert_eq!(
        (&zoo["Branches"], &zoo["SubRepoMap"]),
        (&json!([]), &json!({}))
    );
    assert!(zoo["URL"].as_str().unwrap().ends_with("/p/zoo_1.0/"));
    assert_eq!(names(&list(json!({"q": "r:^zo"}))), ["zoo_1.0"]);
    assert_eq!(names(&list(json!({"Q": "-r:^zoo$ type:repo"}))), ["yak"]);
    assert_eq!(names(&list(json!({"Q": r"r:^zoo_1\.0$"}))), ["zoo_1.0"]);
    assert_eq!(
        names(&list(json!({"Q": "content:needle f:src"}))),
        ["zoo_1.0"]
    );
    let id = zoo["ID"].as_u64().unwrap();
    let map = list(json!({"Opts": {"Field": 2}}));
    assert_eq!(map["ReposMap"][id.to_string()]["HasSymbols"], true);
    assert_eq!(map["Repos"], json!([]));
    let found = |ids: Value| {
        let body = json!({"Q": "content:needle", "RepoIDs": ids});
        post(&site, "/api/search", &body).json()["Result"]["FileCount"].clone()
    };
    assert_eq!(found(json!([id])), 2);
    assert_eq!(found(json!([])), 0);
    assert_eq!(found(json!([1, 2])), 0);
    assert_eq!(found(json!(null)), 3);
    let of_repositories = search(&site, "type:repo r:yak", json!({"ChunkMatches": true}));
    assert_eq!(of_repositories["Files"].as_array().unwrap().len(), 1);
}

#[test]
fn errors_have_the_shape_that_clients_print() {
    let site = site();
    for path in ["/api/search", "/api/list"] {
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            let wrong = site.send(method, path, &[]);
            assert_eq!(error(&wrong, 405), "Only POST is supported");
        }
        for bad in [
            "",
            "{",
            "[]",
            "7",
            r#"{"Q": 7}"#,
            r#"{"Q": "x", "Opts": []}"#,
            "\u{fffd}",
        ] {
            let answer = site.post(path, &[JSON], bad.as_bytes());
            assert!(!error(&answer, 400).is_empty(), "{bad}");
        }
        let huge = json!({"Q": "x".repeat(1 << 20)}).to_string();
        error(&site.post(path, &[JSON], huge.as_bytes()), 413);
        let long = json!({"Q": "x".repeat(20 << 10)});
        assert!(error(&post(&site, path, &long), 400).contains("bytes"));
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        error(&site.post(path, &[JSON], deep.as_bytes()), 400);
    }
    for bad in [
        json!({"MaxDocDisplayCount": "9"}),
        json!({"NumContextLines": 1.5}),
        json!({"ChunkMatches": 1}),
        json!({"MaxWallTime": "1s"}),
    ] {
        error(
            &post(&site, "/api/search", &json!({"Q": "x", "Opts": bad})),
            400,
        );
    }
    let huge =
        json!({"MaxDocDisplayCount": 1e300, "TotalMaxMatchCount": u64::MAX, "NumContextLines": 99});
    assert_eq!(search(&site, "content:needle", huge)["FileCount"], 3);
    assert_eq!(
        error(&post(&site, "/api/search", &json!({})), 400),
        "missing query"
    );
    let bad = error(
        &post(&site, "/api/search", &json!({"Q": "a content:b("})),
        400,
    );
    let expected = "invalid regular expression: unclosed group (at byte 11); ";
    assert!(bad.starts_with(expected), "{bad}");
    let field = error(
        &post(&site, "/api/list", &json!({"Opts": {"Field": 1}})),
        400,
    );
    assert!(field.starts_with("unknown RepoListField 1"), "{field}");
}

#[test]
fn addresses_of_its_pages_lead_to_ours() {
    let site = site();
    let location = |path: &str| {
        let answer = site.get_without_following(path);
        assert!(
            (302..304).contains(&answer.status),
            "{path}: {}",
            answer.status
        );
        answer.header("location").to_owned()
    };
    assert_eq!(
        location("/search?q=c:needle+f:x&num=50"),
        "/search?q=needle%20path%3Ax"
    );
    let group = location("/search?q=r:zoo&num=50");
    assert_eq!(group, "/search?q=package%3A/zoo/c&group=package");
    assert_eq!(
        location("/print?r=yak&f=needle.c&b=HEAD"),
        "/show?package=yak&path=needle.c"
    );
    let bad = site.get("/search?q=(a+&num=50");
    assert_eq!(
        (bad.status, bad.header("content-type")),
        (400, "text/html; charset=utf-8")
    );
    let raw = site.get("/print?r=yak&f=needle.c&b=HEAD&format=raw");
    assert_eq!((raw.status, raw.text()), (200, "a needle\n".to_owned()));
    assert_eq!(raw.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(raw.header("x-content-type-options"), "nosniff");
    for (path, part) in [
        (
            "/print?r=yak&f=nothing.c&format=raw",
            "yak has no file nothing.c",
        ),
        ("/print?r=yak", "f is missing"),
        ("/search?format=json", "no query found"),
        ("/search?format=json&q=a&ctx=11", "between 0 and 10"),
        ("/search?format=json&q=(a+", "( is not closed (at byte 0)"),
    ] {
        let told = text_error(&site.get(path));
        assert!(told.contains(part), "{path}: {told}");
    }
}

#[test]
fn the_page_as_json_has_the_shape_that_clients_know() {
    let site = site();
    let page = site
        .get("/search?q=content:needle+r:yak&num=3&ctx=0&format=json")
        .json();
    let result = &page["result"];
    let last = json!({"Query": "content:needle r:yak", "Num": 3, "Ctx": 0, "AutoFocus": true, "Debug": false});
    assert_eq!(
        (&result["Last"], &result["Stats"]["MatchCount"]),
        (&last, &json!(1))
    );
    let file = &result["FileMatches"][0];
    assert_eq!(
        (&file["ResultID"], &file["DuplicateID"]),
        (&json!("yak:needle.c"), &json!(""))
    );
    let line = &file["Matches"][0];
    assert_eq!(
        line["Fragments"],
        json!([{"Pre": "a ", "Match": "needle", "Post": "\n"}])
    );
    let url = line["URL"].as_str().unwrap();
    assert!(
        url.ends_with("/show?package=yak&path=needle.c&line=1#L1"),
        "{url}"
    );
    let repos = site.get("/search?q=r:yak&format=json").json();
    let row = &repos["repos"]["Repos"][0];
    assert_eq!((&row["Name"], &row["Files"]), (&json!("yak"), &json!(1)));
}

#[test]
fn incomplete_answers_say_so_as_zoekt_does() {
    let fake = Fake::with("one", shards(1, 2), Fault::ShardFailure);
    let site = Site::new(vec![fake.backend()]);
    let result = search(&site, "content:arse", json!({"ChunkMatches": true}));
    assert_eq!(result["Crashes"], 1, "{result}");
    assert!(result["FilesSkipped"].as_u64().unwrap() >= 1);
    // Names of these files are hostile, and not UTF-8.
    assert!(!result["Files"].as_array().unwrap().is_empty());
}

#[test]
fn a_host_that_is_none_is_not_repeated() {
    let site = site();
    let body = r#"{"Q": "content:needle"}"#;
    let request = format!(
        "POST /api/search HTTP/1.1\r\nHost: 127.0.0.1:1\"}}}}{{{{\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = site.raw(request.as_bytes());
    assert!(!answer.contains("127.0.0.1:1"), "{answer}");
}

#[test]
fn nothing_is_served_without_the_product() {
    let mut options = Options::default();
    options.compat = "none".parse().unwrap();
    let fake = Fake::new("one", shards(1, 1));
    let site = Site::with_options(vec![fake.backend()], options);
    let answer = post(&site, "/api/search", &json!({"Q": "x"}));
    assert_eq!(answer.status, 404);
    assert_eq!(site.get("/print?r=a&f=b&format=raw").status, 404);
}
