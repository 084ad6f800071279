//! Addresses of GitHub's pages.

use super::repository::Repository;
use crate::http::links::{Path, encode};
use crate::pages::{self, Form};
use crate::problem::Problem;
use crate::search::params::Params;
use crate::state::Call;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use frontend::query::github;

type Names = (String, String, String);

pub(crate) fn is_search(params: &Params) -> bool {
    params.bytes("type").is_some_and(|of| of == b"code")
}

pub(crate) fn search_page(params: &Params) -> Response {
    match href(params) {
        Ok(href) => Redirect::to(&href).into_response(),
        Err(problem) => pages::problem_page(problem, Form::new(params)),
    }
}

fn href(params: &Params) -> Result<String, Problem> {
    let query = github::parse(params.text("q")?.unwrap_or_default())?.query;
    let query = encode(query.interpreted_as().as_bytes());
    Ok(format!("/search?q={query}"))
}

pub(super) async fn file(
    call: Call,
    Path((owner, repo, rev, path)): Path<(String, String, String, String)>,
) -> Result<Redirect, Problem> {
    let of = Repository::find(&call, &owner, &repo).await?;
    Ok(Redirect::to(
        &of.address(path.as_bytes(), &rev).show_href(0),
    ))
}

pub(super) async fn top(
    call: Call,
    Path((owner, repo, rev)): Path<Names>,
) -> Result<Redirect, Problem> {
    let of = Repository::find(&call, &owner, &repo).await?;
    Ok(Redirect::to(&of.address(b"", &rev).directory_href()))
}

pub(super) async fn directory(
    call: Call,
    Path((owner, repo, rev, path)): Path<(String, String, String, String)>,
) -> Result<Redirect, Problem> {
    let of = Repository::find(&call, &owner, &repo).await?;
    let path = format!("{}/", path.trim_end_matches('/'));
    Ok(Redirect::to(
        &of.address(path.as_bytes(), &rev).directory_href(),
    ))
}

/// File by its path on GitHub's raw host.
pub(super) async fn raw(
    call: Call,
    Path((owner, repo, rest)): Path<Names>,
) -> Result<Redirect, Problem> {
    let of = Repository::find(&call, &owner, &repo).await?;
    let mut kinds = ["refs/heads/", "refs/tags/"].into_iter();
    let rest = kinds
        .find_map(|kind| rest.strip_prefix(kind))
        .unwrap_or(&rest);
    let (rev, path) = rest.split_once('/').unwrap_or((rest, ""));
    Ok(Redirect::to(&of.address(path.as_bytes(), rev).raw_href()))
}

/// `git` shows the text.
pub(super) async fn no_git() -> Response {
    let text = "Trawl serves no git: clone from the host of the repository\n";
    (StatusCode::NOT_FOUND, text).into_response()
}
