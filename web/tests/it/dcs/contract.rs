//! Checks answers against an OpenAPI description, and YAML against JSON.

use crate::site::Answer;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) struct Contract(pub(super) Value);

impl Contract {
    pub(super) fn check(&self, path: &str, answer: &Answer) {
        let responses = &self.0["paths"][path]["get"]["responses"];
        let response = self.follow(&responses[answer.status.to_string()]);
        assert!(
            response.is_object(),
            "{path}: {} is not described",
            answer.status
        );
        let (kind, content) = response["content"]
            .as_object()
            .unwrap()
            .iter()
            .next()
            .unwrap();
        assert!(answer.header("content-type").starts_with(&kind[..]));
        for name in response["headers"]
            .as_object()
            .into_iter()
            .flat_map(|all| all.keys())
        {
            let header = answer.header(&name.to_lowercase());
            assert!(!header.is_empty(), "{path}: no {name}");
        }
        if kind == "application/json" {
            self.fits(&answer.json(), &content["schema"], path);
        }
    }

    fn follow<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(reference) => {
                let path = reference.strip_prefix('#').unwrap();
                self.0.pointer(path).expect(reference)
            }
            None => value,
        }
    }

    fn fits(&self, value: &Value, schema: &Value, at: &str) {
        let schema = self.follow(schema);
        match schema["type"].as_str().unwrap() {
            "array" => {
                for (index, item) in value.as_array().expect(at).iter().enumerate() {
                    self.fits(item, &schema["items"], &format!("{at}[{index}]"));
                }
            }
            "object" => {
                let object = value.as_object().expect(at);
                for name in schema["required"].as_array().unwrap() {
                    let name = name.as_str().unwrap();
                    assert!(object.contains_key(name), "{at}: no {name}");
                }
                for (name, value) in object {
                    let schema = &schema["properties"][name];
                    assert!(schema.is_object(), "{at}: {name} is not described");
                    self.fits(value, schema, &format!("{at}.{name}"));
                }
            }
            "string" => assert!(value.is_string(), "{at}: {value}"),
            "integer" => assert!(value.is_u64(), "{at}: {value}"),
            other => panic!("{at}: unknown type {other}"),
        }
    }
}

/// Scalars and empty lists, with their paths.
pub(super) fn leaves(value: &Value) -> BTreeSet<String> {
    fn walk(value: &Value, path: &str, out: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => map
                .iter()
                .for_each(|(name, value)| walk(value, &format!("{path}/{name}"), out)),
            Value::Array(list) if !list.is_empty() => {
                (0..).zip(list).for_each(|(index, value): (usize, _)| {
                    walk(value, &format!("{path}/{index}"), out)
                })
            }
            leaf => drop(out.insert(format!("{path} {leaf}"))),
        }
    }
    let mut out = BTreeSet::new();
    walk(value, "", &mut out);
    out
}

/// Reads YAML in block style with quoted texts and indented lists.
pub(super) fn leaves_of_yaml(yaml: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let mut above: Vec<(usize, String)> = Vec::new();
    for line in yaml.lines() {
        let text = line.trim_start();
        let mut indent = line.len() - text.len();
        let mut rest = text;
        if let Some(item) = text.strip_prefix("- ") {
            let number = match above
                .iter()
                .rposition(|(at, name)| *at == indent && is_number(name))
            {
                Some(last) => above[last].1.parse::<usize>().unwrap() + 1,
                None => 0,
            };
            above.retain(|(at, _)| *at < indent);
            above.push((indent, number.to_string()));
            (indent, rest) = (indent + 2, item);
        }
        above.retain(|(at, _)| *at < indent);
        if rest.starts_with('"') && !rest.contains("\": ") && !rest.ends_with("\":") {
            out.insert(format!("{} {rest}", path(&above)));
            continue;
        }
        let (name, value) = rest.split_once(':').expect("a name");
        above.push((indent, name.trim_matches('"').to_owned()));
        if !value.is_empty() {
            out.insert(format!("{} {}", path(&above), value.trim_start()));
        }
    }
    out
}

fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

fn path(above: &[(usize, String)]) -> String {
    above.iter().map(|(_, name)| format!("/{name}")).collect()
}
