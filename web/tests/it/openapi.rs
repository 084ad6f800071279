//! OpenAPI description: equals the reviewed one (`UPDATE_EXPECT=1` writes it) and the responses.

use crate::shards;
use crate::site::{AsBackend, Site};
use serde_json::{Value, json};
use testkit::backend::{Fake, FakeRepository};
use ureq::http::Method;

fn site() -> Site {
    let fake = Fake::new("one", shards(1, 2));
    fake.repositories
        .lock()
        .unwrap()
        .push(FakeRepository::new("project", 30));
    Site::new(vec![fake.backend()])
}

#[test]
fn matches_the_reviewed_description() {
    let document = site().get("/api/openapi.json");
    assert_eq!(document.header("content-type"), "application/json");
    let known = expect_test::expect_file!["../../testdata/openapi.json"];
    known.assert_eq(&document.text());
}

fn check(document: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = document.pointer(name.strip_prefix('#').unwrap());
        return check(document, schema.expect(name), value, at);
    }
    if let Some(all) = schema["allOf"].as_array() {
        all.iter()
            .try_for_each(|each| check(document, each, value, at))?;
    }
    if let Some(one) = schema["oneOf"].as_array() {
        let fits = one
            .iter()
            .filter(|each| check(document, each, value, at).is_ok());
        if fits.count() != 1 {
            return Err(format!("{at}: {value} is not one of the kinds"));
        }
    }
    check_type(&schema["type"], value).ok_or(format!("{at}: {value} is no {}", schema["type"]))?;
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return Err(format!("{at}: {value} is no {words:?}"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap();
        value
            .get(name)
            .ok_or(format!("{at}: no {name} in {value}"))?;
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            check(document, schema, value, &format!("{at}.{name}"))?;
        }
    }
    if let (Some(_), Some(values)) = (schema.get("items"), value.as_array()) {
        let each = |value| check(document, &schema["items"], value, &format!("{at}[]"));
        values.iter().try_for_each(each)?;
    }
    Ok(())
}

fn check_type(said: &Value, value: &Value) -> Option<()> {
    let is = |word: &str| match word {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("a type {other}"),
    };
    let fits = match said {
        Value::Null => true,
        Value::String(word) => is(word),
        words => words
            .as_array()?
            .iter()
            .any(|word| is(word.as_str().unwrap())),
    };
    fits.then_some(())
}

/// With examples of required parameters, and each optional one in turn.
fn addresses(path: &str, operation: &Value, id: &str) -> Vec<String> {
    let path = path.replace("{id}", id);
    let parameters: Vec<_> = operation["parameters"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let word = |parameter: &Value| {
        let schema = &parameter["schema"];
        let example = [
            &parameter["example"],
            &schema["enum"][0],
            &schema["minimum"],
        ];
        let example = example.into_iter().find(|example| !example.is_null())?;
        let text = example.as_str().map_or(example.to_string(), str::to_owned);
        let text = text.replace(' ', "+");
        Some(format!("{}={text}", parameter["name"].as_str().unwrap()))
    };
    let queries = parameters
        .iter()
        .filter(|parameter| parameter["in"] == "query");
    let (must, may): (Vec<_>, Vec<_>) =
        queries.partition(|parameter| parameter["required"] == json!(true));
    let must: Vec<_> = must.into_iter().filter_map(&word).collect();
    let with = |more: &[String]| format!("{path}?{}", [&must[..], more].concat().join("&"));
    let others = may.into_iter().filter_map(word);
    let mut all: Vec<String> = others.map(|other| with(&[other])).collect();
    all.insert(0, with(&[]));
    all
}

#[test]
fn responses_match_the_description() {
    let site = site();
    let document = site.get("/api/openapi.json").json();
    let id = site.search("arse")["id"].as_str().unwrap().to_owned();
    let mut asked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let Some(operation) = item.get("get") else {
            continue;
        };
        // The example of copies has no match here, and a name has two parameters or one.
        if matches!(
            &path[..],
            "/api/v2/copies" | "/api/v2/definitions" | "/api/v2/diff" | "/api/v2/references"
        ) {
            continue;
        }
        for address in addresses(path, operation, &id) {
            let answer = site.get(&address);
            let said = &operation["responses"][answer.status.to_string()];
            assert_eq!(answer.status, 200, "{address}: {}", answer.text());
            let kind = answer.header("content-type").split(';').next().unwrap();
            let content = &said["content"][kind];
            assert!(content.is_object(), "{address}: {kind} is not described");
            if kind == "application/json" {
                let fits = check(&document, &content["schema"], &answer.json(), &address);
                fits.unwrap();
            }
            asked += 1;
        }
    }
    assert!(asked > 60, "{asked} addresses");
}

#[test]
fn bodies_and_problems_match_the_description() {
    let site = site();
    let document = site.get("/api/openapi.json").json();
    let schemas = &document["components"]["schemas"];
    let example = schemas["SearchRequest"]["example"].to_string();
    let json = [("content-type", "application/json")];
    let page = site.post("/api/v2/search", &json, example.as_bytes());
    assert_eq!(page.status, 200, "{}", page.text());
    check(&document, &schemas["Page"], &page.json(), "page").unwrap();
    for endpoint in ["definitions", "references"] {
        let name = "package=package2_1.2&path=src/file2.c&line=2&column=5";
        let address = format!("/api/v2/{endpoint}?{name}");
        let places = site.get(&address);
        assert_eq!(places.status, 200, "{}", places.text());
        check(&document, &schemas["Places"], &places.json(), &address).unwrap();
    }
    let diff = site.get("/api/v2/diff?package=project&from=HEAD~1&to=main");
    assert_eq!(diff.status, 200, "{}", diff.text());
    check(&document, &schemas["Diff"], &diff.json(), "diff").unwrap();
    let example = schemas["RevisionNames"]["example"].to_string();
    let commits = site.post("/api/v2/commits", &json, example.as_bytes());
    assert_eq!(commits.status, 200, "{}", commits.text());
    check(&document, &schemas["Commits"], &commits.json(), "commits").unwrap();
    for address in [
        "/api/v2/commit?repo=projec",
        "/api/v2/search?q=/(/",
        "/api/v2/nowhere",
        "/api/v2/search?q=arse&page=99",
    ] {
        let problem = site.get(address);
        check(&document, &schemas["Problem"], &problem.json(), address).unwrap();
        let kind = problem.json()["type"].as_str().unwrap().to_owned();
        assert_eq!(site.get(&kind).status, 200, "{kind} leads somewhere");
    }
    for more in [
        "&group=package",
        "&group=document",
        "&wait=false",
        "&explain=true&page=3",
    ] {
        let page = site.send(Method::GET, &format!("/api/v2/search?q=arse{more}"), &[]);
        check(&document, &schemas["Page"], &page.json(), more).unwrap();
    }
}
