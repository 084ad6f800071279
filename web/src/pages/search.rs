//! Page of a search: its answer, or the matches so far.

use super::filters::short_name;
use super::form::{Form, GROUP_DEFAULT};
use super::nothing::Suggester;
use super::problem;
use super::results::{AboutQuery, finished_page};
use super::running::{folds, running_page, wanted};
use super::selected::Selection;
use super::visible;
use crate::http::blocking;
use crate::http::response::{KnownTags, no_store};
use crate::model::Timings;
use crate::problem::Problem;
use crate::search::choice::{Copies, Group};
use crate::search::following::best_of;
use crate::search::rendered::Rendered;
use crate::search::run::{self, KEEP, View};
use crate::source::colours::PageColours;
use crate::state::{App, Call};
use crate::suggest::Corpus;
use crate::symbols::enclosing;
use axum::response::{Html, IntoResponse, Redirect, Response};
use frontend::query::ParsedQuery;
use frontend::{Document, Match, Scope, SearchHandle, SearchRequest, SearchResult};
use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OnceCell};
use tokio::time::{sleep, timeout};

/// Wait for the answer or first matches. Most searches end within it, with a complete first page.
const WAIT: Duration = Duration::from_millis(300);

/// Wait for the best files once there are matches: early ones come from the first packages.
const BEST_WAIT: Duration = Duration::from_millis(150);

/// For each file.
const ENCLOSING_WAIT: Duration = Duration::from_millis(100);

pub(crate) async fn search(call: Call, tags: KnownTags) -> Response {
    let form = Form::new(&call.params);
    if form.q.trim().is_empty() && form.filters.is_empty() {
        return Redirect::to("/").into_response();
    }
    let page = page(&call, tags).await;
    page.unwrap_or_else(|problem| problem::page(problem, form))
}

async fn page(call: &Call, tags: KnownTags) -> Result<Response, Problem> {
    let Call { app, params, .. } = call;
    let links = app.options.links.current();
    let view = View::parse(params, &links, GROUP_DEFAULT, Copies::Folded)?;
    let (first_line, parsed) = (params.number("from", 1)?, params.parsed()?);
    let form = Form::new(params).in_revisions_of(&parsed.query);
    let scope = &call.viewer.scope().await?;
    if run::may_be_known(&app.coordinator, params)
        && let Some(unchanged) =
            tags.unless_changed(|| run::identity(&app.coordinator, scope, params, &parsed.query))
    {
        return Ok(unchanged);
    }
    let mut search = find(call, scope, &form, &parsed).await?;
    let tags = tags.unless_pending(search.pending());
    let of_revisions = app.coordinator.notice_of_revisions(scope, &parsed.query);
    let (proven, is_proven) = (OnceCell::new(), Notify::new());
    let proof = async {
        if let Some(best) = best_of(&app.coordinator, params.client, &search, wanted(&form)).await {
            _ = proven.set(best);
            is_proven.notify_one();
        }
        pending::<Infallible>().await
    };
    let answer = tokio::select! {
        answer = wait((&search, &form), &parsed, app.options.first_matches_after, &is_proven) => answer,
        never = proof => match never {},
    };
    match answer {
        Some(answer) => {
            let answer = answer?;
            let suggester = Suggester {
                corpus: app.corpus(scope),
                client: params.client,
                form: &form,
            };
            let about = AboutQuery {
                versions: versions(app.corpus(scope), &form, &answer).await,
                nothing: suggester.suggest(&parsed, &answer).await,
                notices: parsed.notices,
                of_revisions,
                pending: search.pending(),
            };
            // Rendering from memory is fast, and its colours may come late.
            let is_fast = view.group == Group::None || answer.is_in_memory();
            let about_files = (
                colours(app, &search),
                enclosing(&app.coordinator, &search, ENCLOSING_WAIT),
            );
            let shown = tags.address().to_owned();
            let (whole, is_settled) = (Arc::clone(&answer), about.pending == 0);
            let what = format!("html {shown} {:?} {:?}", about.of_revisions, form.site);
            let render = move || {
                let started = Instant::now();
                let page = finished_page(
                    &whole,
                    form,
                    view,
                    first_line,
                    about,
                    (&about_files.0, &about_files.1),
                )?;
                let timings = Timings::new(&whole, started.elapsed());
                Ok(Rendered::plain("text/html; charset=utf-8", page, timings))
            };
            let rendered = if !is_fast && is_settled {
                app.rendered
                    .get(&search, &answer, what, Box::new(render))
                    .await?
            } else {
                blocking(render).await?
            };
            Ok(rendered.respond(&tags, &search, &answer, search.id()))
        }
        None => {
            search.keep(KEEP);
            let proven = proven.into_inner();
            let page = move || running_page(&search, proven.as_deref(), form, view.page());
            let page = blocking(page).await?;
            Ok(no_store(Html(page)))
        }
    }
}

async fn versions(
    corpus: Corpus<'_>,
    form: &Form,
    answer: &Arc<SearchResult>,
) -> Vec<(String, String)> {
    if answer.packages() != 1 || answer.is_empty() {
        return Vec::new();
    }
    let first = Arc::clone(answer);
    let Ok(first) = blocking(move || first.matches(0..1)).await else {
        return Vec::new();
    };
    let is_of_repository = |found: &&Match| found.document.revisions.count > 0;
    let Some(first) = first.first().filter(is_of_repository) else {
        return Vec::new();
    };
    let found = corpus.indexed_repository(&first.document.package).await;
    let Ok(Some(repository)) = found else {
        return Vec::new();
    };
    let selection = Selection::new(form, None);
    let link = |full: &str| {
        let name = short_name(full);
        (visible::plain(name.as_bytes()), selection.in_revision(name))
    };
    repository
        .revisions
        .iter()
        .map(|revision| link(&revision.name))
        .collect()
}

/// Looks up colours, on a thread that may block.
fn colours(app: &App, search: &SearchHandle) -> impl Fn(Vec<Arc<Document>>) -> PageColours + use<> {
    let (cache, coordinator) = (Arc::clone(&app.colours), Arc::clone(&app.coordinator));
    let (scope, runtime) = (search.scope().clone(), Handle::current());
    move |documents| runtime.block_on(cache.of(&coordinator, &scope, documents))
}

/// `None` once the best files are final, or after a while.
async fn wait(
    (search, form): (&SearchHandle, &Form),
    parsed: &ParsedQuery,
    first_matches_after: Duration,
    is_proven: &Notify,
) -> Option<Result<Arc<SearchResult>, Problem>> {
    let mut finished = pin!(run::finished(search, Some(parsed)));
    if let Ok(answer) = timeout(first_matches_after, &mut finished).await {
        return Some(answer);
    }
    let mut news = search.news();
    let mut rest = pin!(sleep(WAIT.saturating_sub(first_matches_after)));
    let mut for_best = pin!(sleep(BEST_WAIT.saturating_sub(first_matches_after)));
    let mut is_best_wanted = true;
    loop {
        let has_some = !search.top_matches().pointers.is_empty();
        if has_some && (!is_best_wanted || search.best_documents(folds(search, form)).is_final) {
            return None;
        }
        tokio::select! {
            biased;
            answer = &mut finished => return Some(answer),
            () = &mut rest => return None,
            () = is_proven.notified() => return None,
            () = &mut for_best, if is_best_wanted => is_best_wanted = false,
            Ok(()) = news.changed() => {}
        }
    }
}

/// Returns the search of an earlier page if still known, else a new one. Later pages show the
/// answer of the first one, even if incomplete.
pub(super) async fn find(
    call: &Call,
    scope: &Scope,
    form: &Form,
    parsed: &ParsedQuery,
) -> Result<SearchHandle, Problem> {
    let Call { app, params, .. } = call;
    if let Some(search) = form.known_search(&app.coordinator, scope, parsed) {
        return Ok(search);
    }
    match params.generation()? {
        Some(generation) if params.bytes("page").is_some() => {
            let request = SearchRequest {
                client: params.search_client(),
                generation: Some(generation.to_owned()),
                is_resumed: true,
                ..SearchRequest::new(scope, parsed.query.clone())
            };
            Ok(app.coordinator.search(request).await?)
        }
        _ => run::start(&app.coordinator, scope, params, parsed).await,
    }
}
