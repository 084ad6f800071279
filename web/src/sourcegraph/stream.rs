//! `/.api/search/stream`: events `filters`, `matches`, `progress`, `alert`, `error` and `done`.
//!
//! Progress is sent at once and while the search runs, then its matches, best first.
//!
//! **Invariant:** no comment lines, on which clients stop.

use super::items::StreamItems;
use super::matches;
use super::progress;
use super::query::{self, StreamParams};
use crate::compat::files;
use crate::http::blocking;
use crate::http::watched::Watched;
use crate::problem::{BAD_QUERY, Problem};
use crate::search::following::{self, Events, Report};
use crate::state::Call;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response, sse};
use frontend::query::sourcegraph::{NameFilter, Search, Show};
use frontend::{Scope, SearchHandle, SearchResult};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

const FILES_AT_ONCE: usize = 256;
const MATCHES_AT_ONCE: u64 = 10_000;

const EVENT_BYTES_MAX: usize = 1 << 20;

pub(super) async fn search(call: Call) -> Result<Response, Problem> {
    let params = StreamParams::of(&call.params)?;
    let search = match query::parse(&call.params) {
        Ok(search) => search,
        Err(problem) if problem.is(&BAD_QUERY) => return Ok(refused(&problem)),
        Err(problem) => return Err(problem),
    };
    let scope = call.viewer.scope().await?;
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
                let mut follower = Follower {
                    call,
                    scope,
                    search,
                    params,
                    handle: Arc::clone(&handle),
                    events,
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
    let (mut event, mut bytes) = (Vec::new(), 0);
    for item in items {
        bytes += item.to_string().len();
        event.push(item);
        if bytes > EVENT_BYTES_MAX {
            events.send("matches", &event).await?;
            (event, bytes) = (Vec::new(), 0);
        }
    }
    if !event.is_empty() {
        events.send("matches", &event).await?;
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
    has_reported: bool,
}

impl Report for Follower {
    fn events(&self) -> &Events {
        &self.events
    }

    fn has_urgent_news(&self) -> bool {
        !self.has_reported
    }

    async fn report(&mut self) -> Option<bool> {
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
        let sent_max = progress::sent_max(&self.search, self.params.display);
        let mut items = StreamItems::new(&self.search, &self.params);
        let mut at = 0;
        while items.sent < sent_max {
            let most = MATCHES_AT_ONCE.min(sent_max - items.sent) as usize;
            let batch = files(answer, at..at + FILES_AT_ONCE, most).await?;
            if batch.is_empty() {
                break;
            }
            at += FILES_AT_ONCE;
            let rendered = blocking(move || {
                let list = batch.into_iter().flat_map(|file| items.of(file)).collect();
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
            _ => answer.documents() > at as u64,
        };
        Ok(Some((items.sent, has_more)))
    }
}
