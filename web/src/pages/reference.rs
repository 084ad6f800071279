//! Reference of the JSON API, generated from the OpenAPI description.

use super::filters;
use super::form::Form;
use crate::http::site::Site;
use askama::Template;
use serde_json::Value;

#[derive(Template)]
#[template(path = "reference.html")]
struct ReferencePage<'a> {
    form: Form,
    reference: &'a Reference,
}

pub(crate) struct Reference {
    about: String,
    groups: Vec<OperationGroup>,
}

struct OperationGroup {
    name: String,
    about: String,
    operations: Vec<OperationView>,
}

struct OperationView {
    method: String,
    path: String,
    described: Value,
    parameters: Vec<(Value, String)>,
}

const METHODS: [&str; 3] = ["get", "post", "delete"];

/// Responses listed per operation; shared errors come once, at the end.
const OWN_STATUS: [&str; 2] = ["2", "3"];

impl Reference {
    pub(crate) fn new(document: &str) -> Reference {
        let document: Value = serde_json::from_str(document).expect("the description is JSON");
        let tags = document["tags"].as_array().into_iter().flatten();
        let group = |tag: &Value| OperationGroup {
            name: text(&tag["name"]),
            about: text(&tag["description"]),
            operations: operations(&document, &tag["name"]),
        };
        Reference {
            about: text(&document["info"]["description"]),
            groups: tags.map(group).collect(),
        }
    }

    pub(crate) fn page(&self, site: &Site) -> String {
        let page = ReferencePage {
            form: Form::of(site),
            reference: self,
        };
        site.render(&page)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn operations(document: &Value, tag: &Value) -> Vec<OperationView> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let of_path = |(path, item): (&String, &Value)| {
        let known = METHODS.into_iter();
        let described = known.filter_map(|method| Some((method, item.get(method)?)));
        let tagged = described.filter(|(_, operation)| operation["tags"][0] == *tag);
        let view = |(method, operation): (&str, &Value)| view(document, path, method, operation);
        tagged.map(view).collect::<Vec<_>>()
    };
    paths.flat_map(of_path).collect()
}

fn view(document: &Value, path: &str, method: &str, operation: &Value) -> OperationView {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    OperationView {
        method: method.to_uppercase(),
        path: path.to_owned(),
        described: operation.clone(),
        parameters: parameters
            .map(|each| (each.clone(), kind(document, &each["schema"])))
            .collect(),
    }
}

impl OperationView {
    fn text(&self, name: &str) -> String {
        text(&self.described[name])
    }

    fn answers(&self) -> impl Iterator<Item = (&String, String)> {
        let answers = self.described["responses"]
            .as_object()
            .into_iter()
            .flatten();
        let is_own = |status: &str| OWN_STATUS.iter().any(|first| status.starts_with(first));
        answers
            .filter(move |(status, _)| is_own(status))
            .map(|(status, answer)| (status, text(&answer["description"])))
    }
}

fn is_required(parameter: &Value) -> bool {
    parameter["required"] == Value::Bool(true)
}

/// Type in words: its values, if there are few.
fn kind(document: &Value, schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let named = document.pointer(name.trim_start_matches('#'));
        return named.map_or_else(String::new, |named| kind(document, named));
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let choices = choices.iter().filter(|choice| choice["type"] != "null");
        return choices
            .map(|choice| kind(document, choice))
            .collect::<Vec<_>>()
            .join(" or ");
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(text).collect::<Vec<_>>().join(" | ");
    }
    match &schema["type"] {
        Value::Array(types) => text(types.first().unwrap_or(&Value::Null)),
        one => text(one),
    }
}
