//! A file around a line, as a page.

use crate::api::file;
use crate::params::Params;
use crate::problem::Problem;
use crate::render::html::{Chrome, Form, SHOW_LINES_MAX, ShowPage};
use crate::state::App;
use askama::Template;
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use schema::message::FileRange;

/// Lines above the one that a view is about.
const LINES_ABOVE: u32 = 100;

/// A file around a line.
pub(crate) async fn show(State(app): State<App>, params: Params) -> Response {
    match page(&app, &params).await {
        Ok(page) => Html(page).into_response(),
        Err(problem) => problem.into_response(),
    }
}

async fn page(app: &App, params: &Params) -> Result<String, Problem> {
    let (package, path) = file::name(params)?;
    let line = params.number("line", 0_u32)?;
    let around = line.saturating_sub(LINES_ABOVE).max(1);
    let first = params.number("first", around)?.max(1);
    let count = SHOW_LINES_MAX;
    let reply = file::fetch(app, params, FileRange::Lines { first, count }).await?;
    if u64::from(first) > u64::from(reply.total_lines).max(1) || line > reply.total_lines.max(1) {
        let detail = format!("the file has {} lines", reply.total_lines);
        return Err(Problem::missing(detail));
    }
    let marked = Some(line).filter(|&line| line > 0);
    let page = ShowPage::new(
        Chrome::new(Form::default()),
        (package, path),
        marked,
        &reply,
    );
    Ok(page.render().expect("a page fits in memory"))
}
