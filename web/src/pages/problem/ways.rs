//! Alternative addresses on the page of a problem.

use super::super::form::{Form, FormFilter};
use super::super::visible;
use crate::http::links::{decode_path, encode, package_href};
use crate::problem::{BAD_QUERY, Problem};
use crate::search::choice::Mode;
use crate::search::params::lossy;
use axum::http::Uri;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) words: &'static str,
    pub(super) name: String,
    pub(super) href: String,
}

fn way(words: &'static str, name: impl Into<String>, href: String) -> Way {
    let name = visible::plain(name.into().as_bytes());
    Way { words, name, href }
}

pub(super) fn of_query(problem: &Problem, form: &Form) -> Vec<Way> {
    let mut ways = Vec::new();
    let first = Form {
        run: None,
        generation: None,
        from: None,
        ..form.clone()
    };
    let fault = |each: &FormFilter| {
        problem
            .filter
            .as_ref()
            .is_some_and(|it| it.contains(&each.typed[..]))
    };
    if let Some(at) = form.filters.iter().position(fault) {
        let (name, href) = (form.filters[at].label(), first.href_without(&at));
        ways.push(way("Search without the filter", name, href));
    }
    let mut read_as = |mode, words| {
        let is_other = form.mode != mode && !form.q.trim().is_empty();
        if is_other && problem.is(&BAD_QUERY) {
            let href = first.href_with(|form| form.mode = mode);
            ways.push(way(words, form.q.clone(), href));
        }
    };
    read_as(Mode::Literal, "Search for the text");
    if form.mode == Mode::Regexp {
        read_as(Mode::Keyword, "Search for the words of");
    }
    if problem.is(&BAD_QUERY) {
        ways.push(way("How to write queries", "", "/help".to_owned()));
    } else if !form.q.trim().is_empty() {
        ways.push(way("Search again for", form.q.clone(), first.href(0)));
    }
    ways
}

pub(super) fn of_address(problem: &Problem, uri: &Uri) -> Vec<Way> {
    let address = Address::new(uri);
    let mut ways = Vec::new();
    for (name, value) in &address.parameters {
        if problem.is_about_parameter(name) {
            let href = address.with(|other, given| (other != *name).then(|| given.to_owned()));
            let name = format!("{name}={}", shown(value));
            ways.push(way("The same without", name, href));
        }
    }
    if !problem.is_about_file() {
        return ways;
    }
    let (package, path) = match uri.path() {
        "/show" | "/symbol" => (address.value("package"), address.value("path")),
        path => {
            let prefixes = ["/p/", "/raw/p/"];
            let rest = prefixes.iter().find_map(|prefix| path.strip_prefix(prefix));
            let rest = rest.unwrap_or_default();
            let (package, path) = rest.split_once('/').unwrap_or((rest, ""));
            (decode_path(package).ok(), decode_path(path).ok())
        }
    };
    let package = package.filter(|package| !package.is_empty());
    let path = path.unwrap_or_default();
    let whole = path.strip_suffix(b"/").unwrap_or(&path);
    let name = whole
        .rsplit(|&byte| byte == b'/')
        .next()
        .unwrap_or_default();
    if let (Ok(name), false) = (str::from_utf8(name), name.is_empty()) {
        let query = encode(format!("type:path \"{}\"", name.replace('"', "")).as_bytes());
        let href = format!("/search?q={query}");
        ways.push(way("Files of all packages with the name", name, href));
    }
    match package {
        Some(package) if !problem.detail.starts_with("no package ") => {
            let name = lossy(Some(&package)).into_owned();
            ways.push(way("The files of", name, package_href(&package)));
        }
        _ => ways.push(way("All packages", "", "/packages".to_owned())),
    }
    ways
}

pub(super) fn near(problem: &Problem, uri: &Uri) -> Vec<(String, String)> {
    let Some((replaced, names)) = problem.near() else {
        return Vec::new();
    };
    let address = Address::new(uri);
    let mut parameters = address.parameters.iter();
    let is_named = parameters.any(|(known, _)| *known == replaced);
    let link = |name: &String| {
        let href = match replaced {
            _ if is_named => address.with(|other, given| {
                Some(if other == replaced {
                    encode(name.as_bytes())
                } else {
                    given.to_owned()
                })
            }),
            "package" => package_href(name.as_bytes()),
            _ => return None,
        };
        Some((visible::plain(name.as_bytes()), href))
    };
    names.iter().filter_map(link).collect()
}

fn shown(value: &str) -> String {
    let value = decode_path(&value.replace('+', " ")).unwrap_or_else(|_| value.into());
    lossy(Some(&value)).into_owned()
}

struct Address<'a> {
    path: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Address<'a> {
    fn new(uri: &'a Uri) -> Address<'a> {
        let parts = uri.query().unwrap_or_default().split('&');
        let named = parts.filter(|part| !part.is_empty());
        Address {
            path: uri.path(),
            parameters: named
                .map(|part| part.split_once('=').unwrap_or((part, "")))
                .collect(),
        }
    }

    fn value(&self, name: &str) -> Option<Vec<u8>> {
        let (_, value) = self.parameters.iter().find(|(known, _)| *known == name)?;
        decode_path(&value.replace('+', " ")).ok()
    }

    /// Drops parameters for which it returns `None`.
    fn with(&self, change: impl Fn(&str, &str) -> Option<String>) -> String {
        let parameters = self.parameters.iter();
        let parameters =
            parameters.filter_map(|(name, value)| Some(format!("{name}={}", change(name, value)?)));
        let query = parameters.collect::<Vec<_>>().join("&");
        let separator = if query.is_empty() { "" } else { "?" };
        format!("{}{separator}{query}", self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hrefs(ways: Vec<Way>) -> Vec<String> {
        ways.into_iter().map(|way| way.href).collect()
    }

    #[test]
    fn a_parameter_that_is_at_fault_is_left_out() {
        let uri: Uri = "/show?package=p&path=a.c&line=x".parse().unwrap();
        let problem = Problem::bad_request("line=x is not a number or a range");
        assert_eq!(
            hrefs(of_address(&problem, &uri)),
            ["/show?package=p&path=a.c"]
        );
        let uri: Uri = "/packages?prefixx=a".parse().unwrap();
        let problem = Problem::bad_request("unknown parameter prefixx");
        assert_eq!(hrefs(of_address(&problem, &uri)), ["/packages"]);
    }

    #[test]
    fn a_query_that_cannot_be_read_is_searched_as_text() {
        let form = Form {
            q: "print \"".to_owned(),
            ..Form::default()
        };
        let problem = Problem::from(frontend::query::BadQuery::new("the quote is not closed"));
        let expected = ["/search?q=print%20%22&mode=literal", "/help"];
        assert_eq!(hrefs(of_query(&problem, &form)), expected);
    }

    #[test]
    fn a_file_that_is_not_there_leads_to_its_package_and_to_files_of_its_name() {
        let uri: Uri = "/show?package=p_1&path=src/a.c".parse().unwrap();
        let problem = Problem::missing("p_1 has no file src/a.c");
        let problem = problem.near_names("path", vec!["src/b.c".to_owned()]);
        let expected = ["/search?q=type%3Apath%20%22a.c%22", "/p/p_1/"];
        assert_eq!(hrefs(of_address(&problem, &uri)), expected);
        let near = near(&problem, &uri);
        assert_eq!(
            near,
            [(
                "src/b.c".to_owned(),
                "/show?package=p_1&path=src/b.c".to_owned()
            )]
        );
    }
}
