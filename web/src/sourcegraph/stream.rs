//! `/.api/search/stream`: events `filters`, `matches`, `progress`, `alert`, `error` and `done`.
//!
//! Progress is sent at once and while the search runs, and the best matches as soon as they are
//! known. All others follow, best first; they may have further lines of the same files.
//!
//! **Invariant:** no comment lines, on which clients stop.

use super::items::StreamItems;
use super::matches;
use super::progress;
use super::query::{self, StreamParams};
use crate::compat::Files;
use crate::http::blocking;
use crate::http::watched::Watched;
use crate::problem::{BAD_QUERY, Problem};
use crate::search::following::{self, Best, Events, Proof, Report};
use crate::state::Call;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response, sse};
use frontend::query::sourcegraph::{NameFilter, Search, Show};
use frontend::{BEST_MAX, Scope, SearchHandle, SearchResult};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

const MATCHES_AT_ONCE: usize = 10_000;

const EVENT_BYTES_MAX: usize = 1 << 20;

pub(super) async fn search(call: Call) -> Result<Response, Problem> {
    let params = StreamParams::of(&call.params)?;
    let search = match query::parse(&call.params) {
        Ok(search) => search,
        Err(problem) if problem.is(&BAD_QUERY) => return Ok(refused(&problem)),
        Err(problem) => return Err(problem),
    };
    let scope = call.viewer.scope().await?;
    let search = match query::narrowed(&call, &scope, search).await {
        Err(problem) if problem.is(&BAD_QUERY) => return Ok(refused(&problem)),
        search => search?,
    };
    let names = search.names.clone();
    let mut response = match names {
        Some(names) => following::respond_silently(|events| async move {
            list(&call, &scope, &search, &names, &params, &events)
                .await
                .unwrap_or(())
        }),
        None => {
            let handle = query::start(&call, &scope, &search, params.context).await?;
            let mut watched = Watched::new(&call.coordinator, &call.viewer, &scope);
            following::respond_silently(|events| async move {
                let handle = Arc::new(handle);
                let items = StreamItems::new(&search, &params);
                // Matches within a limit must not depend on time.
                let shows_best = search.show == Show::Matches && params.display == u64::MAX;
                let proof = shows_best.then(|| {
                    let (coordinator, client) = (Arc::clone(&call.coordinator), call.params.client);
                    Proof::begin(coordinator, client, Arc::clone(&handle), Best::Lines)
                });
                let mut follower = Follower {
                    call,
                    scope,
                    search,
                    params,
                    handle: Arc::clone(&handle),
                    events,
                    proof,
                    items,
                    has_reported: false,
                };
                following::follow(&mut watched, &handle, &mut follower).await;
            })
        }
    };
    let no_buffer = HeaderName::from_static("x-accel-buffering");
    let headers = response.headers_mut();
    headers.insert(no_buffer, HeaderValue::from_static("no"));
    Ok(response)
}

fn refused(problem: &Problem) -> Response {
    let events = [
        ("progress", done(progress::progress(0, 0, 0), Vec::new())),
        ("alert", progress::refused(problem)),
        ("done", json!({})),
    ];
    let events = events.map(|(name, data)| format!("event: {name}\ndata: {data}\n\n"));
    (
        [(header::CONTENT_TYPE, "text/event-stream")],
        events.concat(),
    )
        .into_response()
}

fn done(mut progress: Value, skipped: Vec<Value>) -> Value {
    progress["done"] = true.into();
    progress["skipped"] = skipped.into();
    progress
}

async fn list(
    call: &Call,
    scope: &Scope,
    search: &Search,
    names: &NameFilter,
    params: &StreamParams,
    events: &Events,
) -> Option<()> {
    let begun = Instant::now();
    let list = match query::repositories(call.corpus(scope), Some(names)).await {
        Ok(list) => list,
        Err(problem) => return fail(events, &problem).await,
    };
    let found = list.entries.len() as u64;
    let wanted = progress::sent_max(search, params.display).min(found);
    let entries = list.entries.iter().take(wanted as usize);
    let items = entries.map(|entry| matches::repository(&entry.package));
    send_matches(events, items.collect()).await?;
    let mut skipped = progress::of_listing(&list);
    if wanted < found {
        skipped.push(progress::limit(search, wanted, found, params.display));
    }
    let elapsed_ms = begun.elapsed().as_millis() as u64;
    let progress = progress::progress(found, list.entries.len(), elapsed_ms);
    events.send("progress", &done(progress, skipped)).await?;
    finish(call, scope, search, found, events).await
}

async fn finish(
    call: &Call,
    scope: &Scope,
    search: &Search,
    found: u64,
    events: &Events,
) -> Option<()> {
    let corpus = call.corpus(scope);
    let alert = progress::alert(corpus, call.params.client, search, found).await;
    if let Some(alert) = alert {
        events.send("alert", &alert).await?;
    }
    events.send("done", &json!({})).await
}

async fn fail(events: &Events, problem: &Problem) -> Option<()> {
    match problem.is(&BAD_QUERY) {
        true => events.send("alert", &progress::refused(problem)).await?,
        false => {
            let error = json!({ "message": progress::words(problem) });
            events.send("error", &error).await?;
        }
    }
    events.send("done", &json!({})).await
}

async fn send_matches(events: &Events, items: Vec<Value>) -> Option<()> {
    let mut event = String::new();
    for item in items {
        event.push(if event.is_empty() { '[' } else { ',' });
        event.push_str(&item.to_string());
        if event.len() > EVENT_BYTES_MAX {
            let whole = std::mem::take(&mut event) + "]";
            events.send_json("matches", whole).await?;
        }
    }
    if !event.is_empty() {
        events.send_json("matches", event + "]").await?;
    }
    Some(())
}

struct Follower {
    call: Call,
    scope: Scope,
    search: Search,
    params: StreamParams,
    handle: Arc<SearchHandle>,
    events: Events,
    /// For matches in texts.
    proof: Option<Proof>,
    items: StreamItems,
    has_reported: bool,
}

impl Report for Follower {
    fn events(&self) -> &Events {
        &self.events
    }

    fn has_urgent_news(&self) -> bool {
        !self.has_reported || self.has_best()
    }

    async fn report(&mut self) -> Option<bool> {
        if self.has_best() {
            self.send_best().await?;
        }
        let now = self.handle.progress();
        let progress = progress::progress(now.matches, 0, now.elapsed.as_millis() as u64);
        self.events.send("progress", &progress).await?;
        self.has_reported = true;
        Some(true)
    }

    async fn fail(&self, problem: &Problem) -> Option<()> {
        fail(&self.events, problem).await
    }

    fn reconnect(&self, _: sse::Event) -> sse::Event {
        let message = "the server is about to stop; search again";
        let data = json!({ "message": message }).to_string();
        sse::Event::default().event("error").data(data)
    }

    async fn end(&self) -> Option<()> {
        let answer = match query::finished(&self.handle, &self.search).await {
            Ok(answer) => answer,
            Err(problem) => return self.fail(&problem).await,
        };
        match self.answer(&answer).await {
            Ok(sent) => sent,
            Err(problem) => self.fail(&problem).await,
        }
    }
}

impl Follower {
    /// True if the best matches are known and unsent.
    fn has_best(&self) -> bool {
        let is_known = |proof: &Proof| proof.best().is_some() || self.handle.top_matches().is_final;
        self.proof.as_ref().is_some_and(is_known)
    }

    async fn send_best(&mut self) -> Option<()> {
        let best = self.proof.take().and_then(|proof| proof.best().cloned());
        let handle = Arc::clone(&self.handle);
        let read = blocking(move || match best {
            Some(best) => best.matches(0..best.len().min(BEST_MAX)),
            None => handle.best(),
        });
        // The end reads them again and reports the error.
        let matches = read.await.unwrap_or_default();
        let items = self.items.first(matches);
        send_matches(&self.events, items).await
    }

    async fn answer(&self, answer: &Arc<SearchResult>) -> Result<Option<()>, Problem> {
        let whole = Arc::clone(answer);
        let filters = blocking(move || progress::filters(&whole)).await?;
        if self.events.send("filters", &filters).await.is_none() {
            return Ok(None);
        }
        let Some((sent, has_more)) = self.matches(answer).await? else {
            return Ok(None);
        };
        let found = answer.found();
        let elapsed_ms = answer.outcome.timings.total().as_millis() as u64;
        let progress = progress::progress(found, answer.packages(), elapsed_ms);
        let mut skipped = progress::skipped(answer, self.handle.pending());
        if has_more {
            skipped.push(progress::limit(
                &self.search,
                sent,
                found,
                self.params.display,
            ));
        }
        let progress = done(progress, skipped);
        if self.events.send("progress", &progress).await.is_none() {
            return Ok(None);
        }
        Ok(finish(&self.call, &self.scope, &self.search, found, &self.events).await)
    }

    /// Number of sent matches, and true if there are more; `None` without a client.
    async fn matches(&self, answer: &Arc<SearchResult>) -> Result<Option<(u64, bool)>, Problem> {
        let mut items = self.items.clone();
        let mut files = Files::new(answer, 0..usize::MAX);
        while items.sent < items.sent_max {
            let Some(batch) = files.next(items.matches_left(MATCHES_AT_ONCE)).await? else {
                break;
            };
            let corpus = self.call.corpus(&self.scope);
            let around = query::containers(corpus, &batch, items.view.show).await;
            let rendered = blocking(move || {
                let items_of = |file| items.of(file, &around);
                let list = batch.into_iter().flat_map(items_of).collect();
                (items, list)
            });
            let list;
            (items, list) = rendered.await;
            if send_matches(&self.events, list).await.is_none() {
                return Ok(None);
            }
        }
        let has_more = match items.view.show {
            Show::Matches | Show::Symbols => answer.found() > items.sent,
            _ => answer.documents() > files.position() as u64,
        };
        Ok(Some((items.sent, has_more)))
    }
}
