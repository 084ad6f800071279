//! Searches for people.

pub(crate) mod file;
pub(crate) mod problem;

use crate::api::model::Timings;
use crate::conditional::Asked;
use crate::eta::Eta;
use crate::join;
use crate::params::{Params, lossy};
use crate::problem::Problem;
use crate::render::html::{
    Choice, Chrome, Form, FormFilter, GroupView, MatchView, MissingView, NoticeView, ResultsPage,
    SkippedView, StartPage, page_links,
};
use crate::render::visible;
use crate::response::NO_STORE;
use crate::state::{App, KEEP, blocking};
use crate::view::{Items, View};
use askama::Template;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use frontend::Answer;
use frontend::Missing;
use frontend::SearchHandle;
use frontend::filter;
use frontend::metrics;
use frontend::query::{Notice, Parsed};
use std::time::{Duration, Instant};

/// How long a page waits for its search. Most are done by then, and their page is whole at once.
const WAIT: Duration = Duration::from_millis(300);

/// Skipped documents that a page lists; the API has more.
const SKIPPED_SHOWN_MAX: usize = 100;

/// The start page, or the results when it was given a query.
pub(crate) async fn start(State(app): State<App>) -> Response {
    let backends = app.frontend.backends();
    let page = StartPage {
        frame: Chrome::new(Form::default()),
        packages: backends.iter().map(|backend| backend.packages).sum(),
        documents: backends.iter().map(|backend| backend.documents).sum(),
        text_bytes: backends.iter().map(|backend| backend.text_bytes).sum(),
        lost: backends
            .into_iter()
            .filter_map(|backend| Some((backend.name, backend.reason?)))
            .collect(),
    };
    Html(page.render().expect("a page fits in memory")).into_response()
}

/// What the form was filled in with, as far as it can be shown again.
pub(crate) fn form(params: &Params) -> Form {
    let typed = |name| {
        let typed = params.bytes(name);
        typed.map(|typed| lossy(Some(typed)).into_owned())
    };
    Form {
        q: lossy(params.bytes("q")).into_owned(),
        mode: choice(params, "mode").unwrap_or_default(),
        case: choice(params, "case"),
        word: params.bytes("word") == Some(b"yes"),
        group: choice(params, "group").unwrap_or_default(),
        filters: params
            .filters()
            .map(|(field, _, value)| FormFilter {
                name: filter::name(field),
                typed: lossy(Some(value)).into_owned(),
            })
            .collect(),
        per_page: params
            .number("per_page", 0)
            .ok()
            .filter(|&number| number > 0),
        want: typed("want"),
        limit: typed("limit"),
        generation: typed("generation"),
        run: typed("run"),
    }
}

fn choice<C: Choice>(params: &Params, name: &str) -> Option<C> {
    C::of(params.bytes(name)?)
}

/// A page of results, or of what is known of them after a while.
pub(crate) async fn search(State(app): State<App>, asked: Asked, params: Params) -> Response {
    match page(&app, asked, &params).await {
        Ok(page) => page,
        Err(problem) => problem::page(problem, form(&params)),
    }
}

async fn page(app: &App, asked: Asked, params: &Params) -> Result<Response, Problem> {
    let form = form(params);
    let (view, parsed) = (View::parse(params)?, params.parsed()?);
    if let Some(unchanged) = asked.unless_changed(|| join::identity(app, params, &parsed.query)) {
        return Ok(unchanged);
    }
    let mut search = find(app, params, form.run.as_deref(), &parsed).await?;
    let frame = Chrome::new(form);
    match tokio::time::timeout(WAIT, join::finished(&search, Some(&parsed))).await {
        Ok(answer) => {
            let (answer, was_there, started) = (answer?, search.was_there(), Instant::now());
            blocking(move || {
                let mut response =
                    Html(done(&answer, frame, view, &parsed.notices)?).into_response();
                let timings = Timings::new(&answer, started.elapsed());
                asked.dress(&mut response, &answer, &timings, was_there);
                Ok(response)
            })
            .await
        }
        Err(_) => {
            search.keep(KEEP);
            let page = blocking(move || running(&search, frame, view.page())).await?;
            Ok(([(header::CACHE_CONTROL, NO_STORE)], Html(page)).into_response())
        }
    }
}

/// The run that an earlier page was of, if it is still known; else one of this query.
async fn find(
    app: &App,
    params: &Params,
    run: Option<&str>,
    parsed: &Parsed,
) -> Result<SearchHandle, Problem> {
    let known = run.and_then(|id| app.frontend.run(id));
    match known.filter(|search| *search.query() == parsed.query) {
        Some(search) => Ok(search),
        None => join::start(app, params, parsed).await,
    }
}

fn running(search: &SearchHandle, mut frame: Chrome, page: usize) -> Result<String, Problem> {
    frame.form.run = Some(search.id().to_owned());
    let (progress, standing) = (search.progress(), search.top_matches());
    let matches = search.read(&standing.pointers)?;
    let page = ResultsPage {
        follow: frame.form.href(page),
        frame,
        id: search.id().to_owned(),
        left: Eta::default()
            .left(&progress)
            .map_or_else(String::new, left),
        running: Some(progress),
        is_final: standing.is_final,
        matches: matches.iter().map(MatchView::from).collect(),
        ..ResultsPage::default()
    };
    Ok(page.render().expect("a page fits in memory"))
}

fn done(
    answer: &Answer,
    mut frame: Chrome,
    view: View,
    notices: &[Notice],
) -> Result<String, Problem> {
    let started = Instant::now();
    let generation = frame.form.generation.take();
    frame.form.run = None;
    let again = frame.form.href(0);
    frame.form.generation = generation;
    frame.form.run = (!answer.is_complete()).then(|| answer.id().to_owned());
    let items = view.items(answer)?;
    let slice = view.slice(answer, items)?;
    let (mut matches, mut groups) = (Vec::new(), Vec::new());
    match view.read(answer, slice.range.clone())? {
        Items::Matches(found) => matches = found.iter().map(MatchView::from).collect(),
        Items::Packages(packages) => {
            for (package, matches) in &packages {
                groups.push(GroupView::of_package(&frame.form, package, matches));
            }
        }
        Items::Documents(documents) => {
            for (total, matches) in &documents {
                groups.push(GroupView::of_document(&frame.form, *total, matches));
            }
        }
    }
    let page = ResultsPage {
        id: answer.id().to_owned(),
        interpreted_as: visible::plain(answer.query().interpreted_as().as_bytes()),
        notices: notices.iter().map(NoticeView::from).collect(),
        exact: frame.form.href_exact(),
        searched: answer.explain().shard_documents,
        of: answer.known().documents,
        want: answer.query().want().into(),
        found: answer.found(),
        total: answer.len() as u64,
        documents: answer.documents(),
        packages: answer.packages() as u64,
        elapsed: elapsed(answer.timings().total()),
        missing: answer.missing().iter().map(missing_view).collect(),
        again,
        skipped: answer.skipped().count,
        skipped_listed: skipped_views(answer),
        page: slice.page as u64,
        pages: slice.pages as u64,
        page_links: page_links(&frame.form, slice.page, slice.pages),
        matches,
        groups,
        frame,
        ..ResultsPage::default()
    };
    let html = page.render().expect("a page fits in memory");
    metrics::phase("render", started.elapsed());
    Ok(html)
}

fn missing_view(missing: &Missing) -> MissingView {
    MissingView {
        backend: missing.backend.clone(),
        reason: missing.reason.clone(),
        shards: missing.shards.len() as u64,
    }
}

fn skipped_views(answer: &Answer) -> Vec<SkippedView> {
    let documents = answer.skipped().documents.iter().take(SKIPPED_SHOWN_MAX);
    documents
        .map(|document| SkippedView {
            name: format!(
                "{}/{}",
                lossy(Some(&document.package)),
                lossy(Some(&document.path))
            ),
            reason: document.reason.clone(),
        })
        .collect()
}

/// In words; an estimate is not more exact than that. The script says it in the same words.
fn left(time: Duration) -> String {
    match time.as_secs_f64().ceil() as u64 {
        0..=1 => "almost done".to_owned(),
        seconds @ ..100 => format!("about {seconds} s left"),
        seconds => format!("about {} min left", seconds.div_ceil(60)),
    }
}

/// `42 ms`, `1.3 s`
fn elapsed(time: Duration) -> String {
    match time.as_millis() {
        0 => format!("{} µs", time.as_micros()),
        1..1000 => format!("{} ms", time.as_millis()),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}
