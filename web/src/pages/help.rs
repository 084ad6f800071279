//! Help: every example is a link, and every key has a line.

use super::filters;
use super::form::Form;
use crate::http::site::Site;
use askama::Template;
use axum::response::Html;
use frontend::query::key_names;

#[derive(Template)]
#[template(path = "help.html")]
struct HelpPage {
    form: Form,
    /// Keys with other names and an example.
    keys: Vec<(&'static str, Vec<&'static str>, Example)>,
}

pub(crate) async fn help(site: Site) -> Html<String> {
    let page = HelpPage {
        form: Form::of(&site),
        keys: keys(),
    };
    Html(site.render(&page))
}

fn href(q: &str) -> String {
    let q = q.to_owned();
    Form {
        q,
        ..Form::default()
    }
    .href(0)
}

fn keys() -> Vec<(&'static str, Vec<&'static str>, Example)> {
    let names = key_names();
    let others = |name| names.iter().find(|(known, _)| *known == name);
    let keys = KEYS.iter().copied();
    keys.filter_map(|(name, example)| Some((name, others(name)?.1.clone(), example)))
        .collect()
}

/// Query, and its matches in words.
type Example = (&'static str, &'static str);

macro_rules! sections {
    ($($title:literal { $($q:literal => $about:literal;)* })*) => {
        const SECTIONS: &[(&str, &[Example])] = &[$(($title, &[$(($q, $about)),*])),*];
    };
}

/// Names of keys, each with an example.
macro_rules! keys {
    ($($name:literal: $q:literal => $about:literal;)*) => {
        const KEYS: &[(&str, Example)] = &[$(($name, ($q, $about))),*];
    };
}

sections! {
    "Words" {
        "TCP_NODELAY" => "lines with this text, anywhere in a word";
        "errno EINTR" => "both in one file; lines with either are shown";
        "malloc or calloc" => "lines with one or the other";
        "malloc -free" => "files with malloc and without free";
        "(malloc or calloc) -(free or realloc)" => "parentheses group";
        "line:(errno EINTR)" => "both on the same line";
    }
    "Exact text" {
        "\"errno == EINTR\""
            => "the text with its blanks; \\\" and \\\\ within it stand for \" and \\";
        "\"or\"" => "a word that would be an operator";
        "word:yes err" => "err, but not errno or stderr";
    }
    "Upper and lower case" {
        "readme" => "without capitals: README, Readme and readme";
        "ReadMe" => "with a capital: exactly as it is typed";
        "case:yes readme" => "exactly as it is typed, also without capitals";
    }
    "Regular expressions" {
        "/fopen\\(.*\"r\"/" => "between slashes, within one line; as ripgrep reads them";
        "/^#\\s*include/" => "at the beginning of a line";
        "/colou?r/i" => "i ignores case";
        "/struct \\w+ \\{\\n/" => "an explicit \\n reaches into the next line";
    }
}

keys! {
    "package": "package:^lib malloc"
        => "in packages whose name begins with lib; -package: excludes";
    "path": "path:^src/ main"
        => "in files below src; a regular expression, or a glob such as path:src/**/*.c";
    "name": "name:=Makefile install"
        => "in files with this name; without = in names that contain it";
    "lang": "lang:c EINTR" => "in files of a language";
    "ext": "ext:h extern" => "in files with this extension";
    "kind": "kind:tests EINTR" => "in tests; also source, documentation and vendored";
    "rev": "rev:* main" => "in all indexed revisions of git repositories, not only the default one";
    "branch": "branch:main main" => "in a branch";
    "content": "type:path content:main Makefile"
        => "a text within the files, where names are searched";
    "line": "line:(a b)" => "all of it on one line";
    "case": "case:no README" => "no ignores case, yes does not, auto decides by capitals";
    "word": "word:yes err" => "whole words alone";
    "type": "type:path Makefile" => "names of files instead of lines";
    "count": "count:100 malloc" => "the best 100 matches; the rest is not counted";
    "context": "context:5 EINTR" => "lines around each match";
    "timeout": "timeout:10s e" => "how long the search may take";
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
        for q in of_sections.chain(KEYS.iter().map(|(_, (q, _))| *q)) {
            let input = QueryInput {
                q,
                ..QueryInput::default()
            };
            let parsed = Query::parse(&input).unwrap_or_else(|bad| panic!("{q}: {bad:?}"));
            assert!(parsed.notices.is_empty(), "{q}: {:?}", parsed.notices);
        }
    }
}
