//! Search results as a page: the answer, or what is known of it while the search runs.

use super::chips::{Chip, chips};
use super::facets::FacetsView;
use super::form::{Form, Layout, PageLink, page_links};
use super::matches::{MatchView, RevisionsView, views, views_with_copies};
use super::nothing::NothingFound;
use super::{filters, problem, visible};
use crate::choice::{Copies, Group};
use crate::conditional::KnownTags;
use crate::eta::Eta;
use crate::join::{self, Items, View};
use crate::links::FileAddress;
use crate::model::Timings;
use crate::params::Params;
use crate::problem::Problem;
use crate::rendered::Rendered;
use crate::response::NO_STORE;
use crate::state::{App, KEEP, blocking};
use crate::viewer::Viewer;
use askama::Template;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use frontend::metrics;
use frontend::query::{Notice, ParsedQuery};
use frontend::{
    Document, Match, PackageGroup, Progress, Scope, SearchHandle, SearchResult, SkippedDocument,
};
use schema::message::Want;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a request waits for its search. Most searches end within it, so their first page is whole.
const WAIT: Duration = Duration::from_millis(300);

/// Skipped documents on a page. The API lists more.
const SKIPPED_MAX: usize = 100;

#[derive(Template)]
#[template(path = "results.html")]
struct ResultsPage<'a> {
    layout: Layout,
    answer: &'a SearchResult,
    interpreted_as: String,
    chips: Vec<Chip>,
    facets: FacetsView,
    /// What may help, if nothing was found.
    nothing: Option<NothingFound>,
    notices: &'a [Notice],
    /// Which revisions were searched, if the query does not say it.
    of_revisions: Option<Notice>,
    /// The address that searches for the exact text, if the query was read as several words.
    exact: Option<String>,
    /// The address that searches again.
    again: String,
    /// Matches or, with `want_documents`, documents; `total` of them are on the pages.
    found: u64,
    total: u64,
    /// How many of these matches are shown, if copies are folded.
    folded: Option<u64>,
    /// The address that shows copies, or folds them; if there are any.
    switch: Option<String>,
    want_documents: bool,
    want_count: bool,
    elapsed: String,
    page: usize,
    pages: usize,
    page_links: Vec<PageLink>,
    matches: Vec<MatchView>,
    groups: Vec<GroupView>,
}

#[derive(Template)]
#[template(path = "running.html")]
struct RunningPage<'a> {
    layout: Layout,
    chips: Vec<Chip>,
    /// Counts so far.
    facets: FacetsView,
    id: &'a str,
    /// The address of this page, for browsers without the script.
    follow: String,
    /// The address of the page that the script loads when the search has ended: the answer of this client,
    /// also if it has stopped the search.
    finished: String,
    progress: Progress,
    remaining: String,
    /// Whether `matches` are final.
    is_final: bool,
    /// The best matches so far.
    matches: Vec<MatchView>,
}

/// Shows a page of results.
pub(crate) async fn search(
    State(app): State<App>,
    viewer: Viewer,
    known: KnownTags,
    params: Params,
) -> Response {
    match page(&app, &viewer, known, &params).await {
        Ok(page) => page,
        Err(problem) => problem::page(problem, Form::new(&params)),
    }
}

async fn page(
    app: &App,
    viewer: &Viewer,
    known: KnownTags,
    params: &Params,
) -> Result<Response, Problem> {
    let form = Form::new(params);
    let (view, parsed) = (View::parse(params, Copies::Folded)?, params.parsed()?);
    let scope = &viewer.scope(app).await?;
    if let Some(unchanged) =
        known.unless_changed(|| join::identity(app, scope, params, &parsed.query))
    {
        return Ok(unchanged);
    }
    let mut search = find(app, scope, params, form.run.as_deref(), &parsed).await?;
    let of_revisions = app.coordinator.notice_of_revisions(scope, &parsed.query);
    match tokio::time::timeout(WAIT, join::finished(&search, Some(&parsed))).await {
        Ok(answer) => {
            let (answer, was_there) = (answer?, search.was_there());
            let about = AboutQuery {
                chips: chips(&form, &parsed),
                nothing: NothingFound::of(app, scope, params.client, (&form, &parsed), &answer)
                    .await,
                notices: parsed.notices,
                of_revisions,
            };
            let is_grouped = view.group != Group::None;
            let shown = known.address().to_owned();
            let whole = Arc::clone(&answer);
            let what = format!("html {shown} {:?}", about.of_revisions);
            let render = move || {
                let started = Instant::now();
                let page = finished_page(&whole, form, view, about)?;
                let timings = Timings::new(&whole, started.elapsed());
                Ok(Rendered::plain("text/html; charset=utf-8", page, timings))
            };
            let rendered = if is_grouped {
                app.rendered.get(&search, &answer, what, render).await?
            } else {
                blocking(render).await?
            };
            let timings = rendered.timings;
            let mut response = rendered.response(search.id());
            known.finish(&mut response, &answer, &timings, was_there);
            Ok(response)
        }
        Err(_) => {
            search.keep(KEEP);
            let chips = chips(&form, &parsed);
            let page = blocking(move || running_page(&search, form, view.page(), chips)).await?;
            Ok(([(header::CACHE_CONTROL, NO_STORE)], Html(page)).into_response())
        }
    }
}

/// Returns the search that an earlier page showed, if it is still known, else a search for the query. Further
/// pages are of the answer of which the first was shown, even if it is incomplete.
async fn find(
    app: &App,
    scope: &Scope,
    params: &Params,
    id: Option<&str>,
    parsed: &ParsedQuery,
) -> Result<SearchHandle, Problem> {
    let known = id.and_then(|id| app.coordinator.get(scope, id));
    if let Some(search) = known.filter(|search| *search.query() == parsed.query) {
        return Ok(search);
    }
    match params.generation()? {
        Some(generation) if params.bytes("page").is_some() => {
            let query = parsed.query.clone();
            let client = params.client;
            Ok(app
                .coordinator
                .resume(scope, client, query, generation)
                .await?)
        }
        _ => join::start(app, scope, params, parsed).await,
    }
}

/// What a page says about its query.
struct AboutQuery {
    chips: Vec<Chip>,
    nothing: Option<NothingFound>,
    notices: Vec<Notice>,
    of_revisions: Option<Notice>,
}

fn running_page(
    search: &SearchHandle,
    mut form: Form,
    page: usize,
    chips: Vec<Chip>,
) -> Result<String, Problem> {
    let facets = FacetsView::so_far(search, &form);
    // Whoever sees this address may not stop the search.
    form.run = None;
    let follow = form.href(page);
    form.run = Some(search.id().to_owned());
    let (progress, best) = (search.progress(), search.top_matches());
    let remaining = Eta::default().left(&progress);
    let page = RunningPage {
        chips,
        facets,
        follow,
        finished: form.href(page),
        layout: Layout::new(Form { run: None, ..form }),
        id: search.id(),
        remaining: remaining.map_or_else(String::new, remaining_text),
        progress,
        is_final: best.is_final,
        matches: views(&search.read(&best.pointers)?),
    };
    Ok(page.render().expect("a page fits in memory"))
}

fn finished_page(
    answer: &SearchResult,
    mut form: Form,
    mut view: View,
    about: AboutQuery,
) -> Result<String, Problem> {
    let started = Instant::now();
    let unique = answer.unique().filter(|&unique| unique < answer.len());
    if unique.is_none() {
        view.copies = Copies::All;
    }
    let again = Form {
        generation: None,
        run: None,
        ..form.clone()
    };
    form.run = None;
    // Links to other pages stay with this answer, although the next search may find more.
    let mut pages_form = form.clone();
    if !answer.is_complete() {
        pages_form.generation = Some(answer.generation().to_owned());
    }
    let slice = view.slice(answer, view.items(answer)?)?;
    let all_href = form.href_copies(Copies::All);
    let other = match view.copies {
        Copies::Folded => Copies::All,
        Copies::All => Copies::Folded,
    };
    let switches = unique.is_some() && view.group == Group::None;
    let (mut matches, mut groups) = (Vec::new(), Vec::new());
    match view.read(answer, slice.range.clone())? {
        Items::Matches(found) => matches = views_with_copies(answer, &found, &all_href)?,
        Items::Packages(packages) => {
            for (each, found) in &packages {
                let views = views_with_copies(answer, found, &all_href)?;
                groups.push(GroupView::package(&form, each, views));
            }
        }
        Items::Documents(documents) => {
            for (total, found) in &documents {
                let views = views_with_copies(answer, found, &all_href)?;
                groups.push(GroupView::document(&form, *total, found, views));
            }
        }
    }
    let want = answer.query().want();
    let page = ResultsPage {
        answer,
        interpreted_as: visible::plain(answer.query().interpreted_as().as_bytes()),
        facets: FacetsView::of_answer(answer, &form)?,
        chips: about.chips,
        nothing: about.nothing,
        notices: &about.notices,
        of_revisions: about.of_revisions,
        exact: form.href_exact(),
        again: again.href(0),
        found: answer.found(),
        total: answer.len() as u64,
        folded: unique
            .filter(|_| view.copies == Copies::Folded)
            .map(|unique| unique as u64),
        switch: switches.then(|| form.href_copies(other)),
        want_documents: want == Want::Documents,
        want_count: matches!(want, Want::Count | Want::Estimate),
        elapsed: elapsed_text(answer.timings().total()),
        page: slice.page,
        pages: slice.pages,
        page_links: page_links(&pages_form, slice.page, slice.pages),
        matches,
        groups,
        layout: Layout::new(form),
    };
    let html = page.render().expect("a page fits in memory");
    metrics::phase("render", started.elapsed());
    Ok(html)
}

impl ResultsPage<'_> {
    fn skipped(&self) -> impl Iterator<Item = &SkippedDocument> {
        self.answer.skipped().documents.iter().take(SKIPPED_MAX)
    }

    fn skipped_more(&self) -> u64 {
        self.answer.skipped().count - self.skipped().count() as u64
    }
}

/// The matches of a package or a document.
struct GroupView {
    name: String,
    /// The address of a document.
    href: Option<String>,
    /// How many matches it has, if they were counted.
    total: Option<u64>,
    /// How many matches are not shown, and the address that shows them. A name that is not UTF-8 is
    /// no filter's value, so it has no such address.
    more: u64,
    more_href: Option<String>,
    /// Of a document.
    revisions: RevisionsView,
    matches: Vec<MatchView>,
}

impl GroupView {
    fn kind(&self) -> &'static str {
        if self.href.is_some() {
            "file"
        } else {
            "package"
        }
    }

    fn package(form: &Form, package: &PackageGroup, matches: Vec<MatchView>) -> GroupView {
        let name = str::from_utf8(&package.name).ok();
        GroupView {
            name: visible::plain(&package.name),
            href: None,
            total: Some(package.total),
            more: package.total - matches.len() as u64,
            more_href: name.map(|name| form.href_in(name)),
            revisions: RevisionsView::default(),
            matches,
        }
    }

    fn document(
        form: &Form,
        total: Option<u64>,
        matches: &[Match],
        views: Vec<MatchView>,
    ) -> GroupView {
        let none = Document::default();
        let document = matches.first().map_or(&none, |found| &*found.document);
        let Document { package, path, .. } = document;
        let names = str::from_utf8(package).ok().zip(str::from_utf8(path).ok());
        GroupView {
            name: visible::plain(&[&package[..], path].join(&b'/')),
            href: Some(FileAddress::of(document).show_href(0)),
            total,
            more: total.map_or(0, |total| total.saturating_sub(matches.len() as u64)),
            more_href: names.map(|(package, path)| form.href_in_document(package, path)),
            revisions: (&document.revisions).into(),
            matches: views,
        }
    }
}

/// Returns an estimate in words, which do not promise more than it can. `running.js` has the same words.
fn remaining_text(time: Duration) -> String {
    match time.as_secs_f64().ceil() as u64 {
        0..=1 => "almost done".to_owned(),
        seconds @ ..100 => format!("about {seconds} s left"),
        seconds => format!("about {} min left", seconds.div_ceil(60)),
    }
}

/// `42 ms`, `1.3 s`
fn elapsed_text(time: Duration) -> String {
    match time.as_millis() {
        0 => format!("{} µs", time.as_micros()),
        1..1000 => format!("{} ms", time.as_millis()),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}
