//! Help: every example is a link, and every key has a line.

mod examples;

use super::filters;
use super::form::{Form, Layout};
use crate::http::site::Site;
use askama::Template;
use axum::response::Html;
use examples::{KEYS, SECTIONS};
use frontend::query::key_names;

#[derive(Template)]
#[template(path = "help.html")]
struct HelpPage {
    layout: Layout,
    sections: Vec<Section>,
    keys: Vec<KeyLine>,
}

struct Section {
    title: &'static str,
    examples: Vec<ExampleLink>,
}

struct ExampleLink {
    q: &'static str,
    href: String,
    about: &'static str,
}

struct KeyLine {
    name: &'static str,
    others: Vec<&'static str>,
    example: ExampleLink,
}

pub(crate) async fn help(site: Site) -> Html<String> {
    let page = HelpPage {
        layout: Layout::of(&site),
        sections: SECTIONS.iter().map(section).collect(),
        keys: keys(),
    };
    Html(site.render(&page))
}

fn section(&(title, examples): &(&'static str, &[(&'static str, &'static str)])) -> Section {
    let examples = examples.iter().map(|&(q, about)| link(q, about));
    Section {
        title,
        examples: examples.collect(),
    }
}

fn link(q: &'static str, about: &'static str) -> ExampleLink {
    let form = Form {
        q: q.to_owned(),
        ..Form::default()
    };
    ExampleLink {
        q,
        href: form.href(0),
        about,
    }
}

fn keys() -> Vec<KeyLine> {
    let names = key_names();
    let line = |&(name, q, about): &(&'static str, &'static str, &'static str)| {
        let known = names.iter().find(|(known, _)| *known == name);
        Some(KeyLine {
            name,
            others: known?.1.clone(),
            example: link(q, about),
        })
    };
    KEYS.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::query::{Query, QueryInput};
    use std::collections::BTreeSet;

    #[test]
    fn the_help_explains_every_key() {
        let explained: BTreeSet<_> = KEYS.iter().map(|(name, ..)| *name).collect();
        let known: BTreeSet<_> = key_names().into_iter().map(|(name, _)| name).collect();
        assert_eq!(explained, known);
    }

    #[test]
    fn every_example_is_a_query_without_a_fault() {
        let of_sections = SECTIONS.iter().flat_map(|(_, examples)| *examples);
        let of_sections = of_sections.map(|(q, _)| *q);
        for q in of_sections.chain(KEYS.iter().map(|(_, q, _)| *q)) {
            let input = QueryInput {
                q,
                ..QueryInput::default()
            };
            let parsed = Query::parse(&input).unwrap_or_else(|bad| panic!("{q}: {bad:?}"));
            assert!(parsed.notices.is_empty(), "{q}: {:?}", parsed.notices);
        }
    }
}
