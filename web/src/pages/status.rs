//! Pages about the server: the start page with example queries, its description for browsers
//! (OpenSearch 1.1), the status (indexed data and its age, backends, query times), and help with
//! every key.
//!
//! Times of all callers need full access, since they reveal the amount of data.

use super::filters;
use super::form::Form;
use crate::http::assets;
use crate::http::server::IsHttps;
use crate::http::site::Site;
use crate::model::{Status, age_s};
use crate::problem::Problem;
use crate::state::App;
use access::Viewer;
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse};
use frontend::query::key_names;
use frontend::{QueryTimes, Served, SlowQuery};
use std::fs;
use std::time::{Duration, Instant};

/// Less text makes the ratio of memory to text meaningless.
const TELLING_BYTES_MIN: u64 = 100_000_000;

#[derive(Template)]
#[template(path = "status.html")]
struct StatusPage<'a> {
    form: Form,
    status: &'a Status,
    usage: Option<Usage>,
}

struct Usage {
    times: QueryTimes,
    memory: Option<u64>,
    /// Per gigabyte of text.
    memory_by_text: Option<u64>,
}

/// `times` needs full access.
pub(crate) fn page(status: &Status, times: Option<QueryTimes>, site: &Site) -> String {
    let page = StatusPage {
        form: Form::of(site),
        status,
        usage: times.map(|times| Usage::new(times, status.bytes)),
    };
    site.render(&page)
}

impl Usage {
    fn new(times: QueryTimes, text_bytes: u64) -> Usage {
        let memory = memory();
        let by_text = |bytes: u64| (bytes as f64 * 1e9 / text_bytes as f64) as u64;
        let told = memory.filter(|_| text_bytes >= TELLING_BYTES_MIN);
        Usage {
            times,
            memory,
            memory_by_text: told.map(by_text),
        }
    }
}

/// Private memory, if the system reports it.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// `12 ms`
fn shown(time: Duration) -> String {
    match time.as_secs_f64() * 1000.0 {
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.1} s", ms / 1000.0),
    }
}

fn ago(query: &SlowQuery) -> u64 {
    Instant::now()
        .saturating_duration_since(query.ended)
        .as_secs()
}

#[derive(Template)]
#[template(path = "start.html")]
struct StartPage {
    form: Form,
    served: Served,
    /// Of the oldest index.
    age_s: Option<u64>,
    unsearched: Vec<(String, String)>,
    undecided: Option<String>,
}

pub(crate) async fn start(
    State(app): State<App>,
    viewer: Viewer,
    site: Site,
) -> Result<Html<String>, Problem> {
    let scope = viewer.scope().await?;
    let served = app.coordinator.served(&scope);
    let backends = app.coordinator.backends(&scope);
    let page = StartPage {
        form: Form::of(&site),
        age_s: served.updated.map(age_s),
        served,
        unsearched: backends
            .into_iter()
            .filter_map(|backend| Some((backend.name, backend.reason?)))
            .collect(),
        undecided: scope.missing().map(|(_, reason)| reason),
    };
    Ok(Html(site.render(&page)))
}

#[derive(Template)]
#[template(path = "opensearch.xml")]
struct Description {
    host: String,
    /// Without a slash at its end.
    site: String,
    icon: String,
}

/// Names the server as the client did.
pub(crate) async fn open_search(
    State(app): State<App>,
    https: Option<Extension<IsHttps>>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.ok_or_else(|| Problem::bad_request("the request does not name a host"))?;
    let scheme = if https.is_some() { "https" } else { "http" };
    let description = Description {
        host: host.to_owned(),
        site: format!("{scheme}://{host}{}", app.options.base_path.as_str()),
        icon: assets::address(assets::ICON),
    };
    let kind = "application/opensearchdescription+xml; charset=utf-8";
    let body = description.render().expect("a page fits in memory");
    Ok(([(header::CONTENT_TYPE, kind)], body))
}

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
    "name": "name:curl.*Makefile install"
        => "in files whose package and path, joined by a slash, match; -name: excludes";
    "lang": "lang:c EINTR" => "in files of a language";
    "ext": "ext:h extern" => "in files with this extension";
    "kind": "kind:tests EINTR" => "in tests; also source, documentation and vendored";
    "sym": "sym:^get_ kind:function"
        => "definitions by name; also kind:method, kind:class, kind:type; sym:=main is the whole name";
    "uses": "uses:errno" => "uses of a name in code, without its definitions";
    "parent": "sym:run parent:Server" => "definitions in a class or module";
    "in": "in:comment TODO" => "in comments; also code, string and text, or added and removed with type:diff";
    "rev": "rev:* main" => "in all indexed revisions of git repositories, not only the default one";
    "branch": "branch:main main" => "in a branch";
    "content": "type:path content:main Makefile"
        => "a text within the files, where names are searched";
    "added": "type:diff added:/strcpy\\(/" => "lines that a commit adds";
    "removed": "type:diff removed:TODO" => "lines that a commit removes";
    "changed": "type:diff changed:EINTR" => "lines that a commit adds or removes";
    "author": "type:commit author:ada" => "messages of commits by their author; also with type:diff";
    "committer": "type:commit committer:ada" => "by their committer";
    "message": "type:diff message:fix free" => "changes by the message of their commit";
    "before": "type:commit before:2024-05-31" => "before a day, month or year";
    "after": "type:commit after:2024 fix" => "from a day, month or year on";
    "line": "line:(a b)" => "all of it on one line";
    "case": "case:no README" => "no ignores case, yes does not, auto decides by capitals";
    "word": "word:yes err" => "whole words alone";
    "exact": "exact:yes naïve"
        => "text as typed; else both normal forms of letters, both line ends, plain quotes";
    "type": "type:path Makefile" => "names of files instead of lines; type:symbol finds definitions, type:commit messages, type:diff changes";
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
    fn times_have_two_or_three_digits() {
        for (us, expected) in [(1234, "1.2 ms"), (56_789, "57 ms"), (12_345_678, "12.3 s")] {
            assert_eq!(shown(Duration::from_micros(us)), expected);
        }
    }

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
