//! Problems as bodies of responses, and pages about their kinds.

mod ways;

use super::form::Form;
use super::{filters, sign_in, visible};
use crate::http::links::Path;
use crate::http::response::with_body;
use crate::http::site::Site;
use crate::problem::{KINDS, Kind, Problem, UNAUTHORIZED};
use askama::Template;
use axum::extract::{Request, State};

use axum::http::Uri;
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use std::sync::Arc;
use ways::Way;

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    form: Form,
    problem: &'a Problem,
    caret: Option<String>,
    /// Pages count from 1 in it.
    detail: String,
    /// Address at the start of the hint, and its rest.
    hint_link: Option<(&'a str, &'a str)>,
    /// Replaces the hint.
    near: Vec<(String, String)>,
    ways: Vec<Way>,
    last_page: Option<String>,
}

#[derive(Template)]
#[template(path = "kinds.html")]
struct KindsPage {
    form: Form,
    kinds: &'static [&'static Kind],
}

/// Replaces the body of a problem, and the status if need be.
pub(crate) type Shape = fn(&Problem, Response) -> Response;

/// Shape at an address of another product.
pub(crate) type ShapeOf = Arc<dyn Fn(&Uri) -> Option<Shape> + Send + Sync>;

/// Renders a problem in the shape of another product at its addresses; as a problem document below
/// `/api/`; else as a page, or the form for a key.
pub(crate) async fn by_address(
    State(shape_of): State<ShapeOf>,
    request: Request,
    next: Next,
) -> Response {
    let shape = shape_of(request.uri());
    let path = request.uri().path();
    let is_json = path.starts_with("/api/") || path == "/mcp";
    let asked = sign_in::asked(&request);
    let site = Site::of(request.headers(), request.extensions());
    let uri = request.uri().clone();
    let mut response = next.run(request).await;
    let problem = response.extensions_mut().remove::<Problem>();
    if let (Some(problem), Some(shape)) = (&problem, shape) {
        return shape(problem, response);
    }
    match problem {
        Some(problem) if !is_json && problem.is(&UNAUTHORIZED) => {
            sign_in::instead_of(&asked, &site, response)
        }
        Some(problem) if !is_json => {
            let ways = ways::of_address(&problem, &uri);
            let near = ways::near(&problem, &uri);
            let form = Form {
                site,
                ..Form::default()
            };
            html(&problem, form, (near, ways), response)
        }
        _ => response,
    }
}

/// Keeps the typed query, and marks the fault.
pub(crate) fn page(problem: Problem, form: Form) -> Response {
    let mut response = problem.into_response();
    let problem = response.extensions_mut().remove::<Problem>();
    let problem = problem.expect("the response carries it");
    let ways = ways::of_query(&problem, &form);
    html(&problem, form, (Vec::new(), ways), response)
}

fn html(
    problem: &Problem,
    form: Form,
    (near, ways): (Vec<(String, String)>, Vec<Way>),
    response: Response,
) -> Response {
    let page = ProblemPage {
        caret: caret(problem.filter.as_ref().unwrap_or(&form.q), problem.at),
        detail: match problem.last_page {
            Some(0) => "The answer has only one page.".to_owned(),
            Some(last) => format!(
                "The answer has {} pages.",
                filters::grouped(last as u64 + 1)
            ),
            None => problem.detail.clone(),
        },
        hint_link: problem.hint.as_deref().and_then(link),
        near,
        ways,
        last_page: problem.last_page.map(|last| form.href(last)),
        form,
        problem,
    };
    let page = page.form.site.render(&page);
    with_body(response, "text/html; charset=utf-8", page)
}

/// Splits a hint such as `/packages lists all packages`.
fn link(hint: &str) -> Option<(&str, &str)> {
    let (address, rest) = hint.split_once(' ')?;
    let is_address = ["/packages", "/api/v2/", "/help", "/show?"]
        .iter()
        .any(|known| address.starts_with(known));
    is_address.then_some((address, rest))
}

/// Puts a caret below the fault at byte `at`.
fn caret(pattern: &str, at: Option<usize>) -> Option<String> {
    let before = pattern.get(..at?)?;
    let column = visible::plain(before.as_bytes()).chars().count();
    let shown = visible::plain(pattern.as_bytes()).replace('\t', " ");
    Some(format!("{shown}\n{:column$}^", ""))
}

pub(crate) async fn kinds(site: Site) -> Html<String> {
    kinds_page(KINDS, site)
}

pub(crate) async fn kind(site: Site, Path(name): Path<String>) -> Result<Html<String>, Problem> {
    match KINDS.iter().position(|kind| kind.name == name) {
        Some(at) => Ok(kinds_page(&KINDS[at..=at], site)),
        None => Err(Problem::missing(format!(
            "no kind of problem is called {name}"
        ))),
    }
}

fn kinds_page(kinds: &'static [&'static Kind], site: Site) -> Html<String> {
    let site = Site {
        has_key: false,
        ..site
    };
    let page = KindsPage {
        form: Form::of(&site),
        kinds,
    };
    Html(site.render(&page))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_hint_that_begins_with_an_address_is_a_link() {
        let hint = "/packages lists all packages";
        assert_eq!(link(hint), Some(("/packages", "lists all packages")));
        let hint = "/show?package=p&path=a%20b shows the file";
        assert_eq!(link(hint).map(|(_, rest)| rest), Some("shows the file"));
        assert_eq!(link("/a.c/ finds lines with a.c"), None);
        assert_eq!(link("see /packages"), None);
    }

    #[test]
    fn puts_the_caret_below_the_fault() {
        expect![[r"
            ü(b
             ^"]]
        .assert_eq(&caret("ü(b", Some(2)).unwrap());
        assert_eq!(caret("ü", Some(1)), None, "not at a character");
        assert_eq!(caret("x", Some(9)), None);
    }
}
