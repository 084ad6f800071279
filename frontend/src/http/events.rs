//! A search as it goes on: server-sent events.
//!
//! `progress` and `matches` at most five times a second, then one `done`. The run goes on as long as
//! somebody listens.

use super::problem::Problem;
use super::{App, api, blocking};
use crate::render::Match;
use crate::render::html::{BestPart, MatchView};
use crate::render::json::{MissingJson, ProgressJson};
use crate::search::Search;
use askama::Template;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// How often a listener is told how far the search is.
const EVERY: Duration = Duration::from_millis(200);

/// When a listener is told for the first time: most searches are done by then, and the first
/// matches of the others are there.
const FIRST: Duration = Duration::from_millis(15);

/// Events that wait for a slow listener. It gets the next state instead of a backlog.
const WAITING_MAX: usize = 2;

#[derive(serde::Serialize)]
struct Matches {
    r#final: bool,
    matches: Vec<Match>,
    /// The same as a part of a page.
    html: String,
}

#[derive(serde::Serialize)]
struct Done {
    total: u64,
    complete: bool,
    missing: Vec<MissingJson>,
    documents: u64,
    packages: usize,
    error: Option<String>,
}

pub(super) async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    let search = api::known(&app, &id)?;
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    tokio::spawn(follow(Arc::new(search), sender));
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default()))
}

type Sender = mpsc::Sender<Result<Event, Infallible>>;

/// Sends events until the search is done or nobody listens any more.
async fn follow(search: Arc<Search>, sender: Sender) {
    let (mut pause, mut shown) = (FIRST, Vec::new());
    loop {
        tokio::select! {
            _ = search.finished() => break,
            () = sender.closed() => return,
            () = tokio::time::sleep(pause) => {}
        }
        pause = EVERY;
        let progress = ProgressJson::from(search.progress());
        let sent = send(&sender, "progress", &progress).await;
        if sent.is_none() || best(&search, &sender, &mut shown).await.is_none() {
            return;
        }
    }
    let done = match search.finished().await {
        Ok(answer) => Done {
            total: answer.len() as u64,
            complete: answer.is_complete(),
            missing: answer.missing().iter().map(Into::into).collect(),
            documents: answer.documents(),
            packages: answer.packages(),
            error: None,
        },
        Err(error) => Done {
            total: 0,
            complete: false,
            missing: Vec::new(),
            documents: 0,
            packages: 0,
            error: Some(error.to_string()),
        },
    };
    let _ = send(&sender, "done", &done).await;
}

/// Sends the best matches so far when they are others than those `shown`.
async fn best(search: &Arc<Search>, sender: &Sender, shown: &mut Vec<Match>) -> Option<()> {
    let reader = Arc::clone(search);
    let matches = match blocking(move || reader.best()).await {
        Ok(matches) if matches != *shown => matches,
        _ => return Some(()),
    };
    shown.clone_from(&matches);
    let part = BestPart {
        matches: matches.iter().map(MatchView::from).collect(),
    };
    let event = Matches {
        r#final: false,
        html: part.render().expect("a page fits in memory"),
        matches,
    };
    send(sender, "matches", &event).await
}

async fn send(sender: &Sender, name: &str, data: &impl serde::Serialize) -> Option<()> {
    let data = serde_json::to_string(data).expect("events are plain data");
    let event = Event::default().event(name).data(data);
    sender.send(Ok(event)).await.ok()
}
