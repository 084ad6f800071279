//! Events of a running search for its page: progress, best matches, end.
//!
//! `progress` and `done` are JSON for the page's script, `boxes` is HTML. Programs use
//! `/api/v2/events`. A client that reconnects, even after a restart, follows the same search or a
//! new one.

use super::boxes::fragment;
use super::form::{Form, GROUP_DEFAULT};
use super::running::{folds, remaining_text, so_far, wanted};
use super::search::find;
use crate::http::blocking;
use crate::http::watched::Watched;
use crate::problem::Problem;
use crate::search::choice::Copies;
use crate::search::following::{self, Eta, Events, Proof, Report};
use crate::search::run::{KEEP, View};
use crate::state::Call;
use axum::response::{Response, sse};
use frontend::{SearchHandle, SearchResult};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) async fn live(call: Call) -> Result<Response, Problem> {
    let params = &call.params;
    let links = call.options.links.current();
    View::parse(params, &links, GROUP_DEFAULT, Copies::Folded)?;
    let parsed = params.parsed()?;
    let form = Form::new(params).in_revisions_of(&parsed.query);
    let scope = call.viewer.scope().await?;
    let mut search = find(&call, &scope, &form, &parsed).await?;
    // The page comes back for the answer.
    search.keep(KEEP);
    let mut watched = Watched::new(&call.coordinator, &call.viewer, &scope);
    let search = Arc::new(search);
    let proof = Proof::begin(
        Arc::clone(&call.coordinator),
        params.client,
        Arc::clone(&search),
        wanted(&form),
    );
    Ok(following::respond(|events| async move {
        let mut page = OpenPage {
            search: Arc::clone(&search),
            proof: Some(proof),
            form: Form { run: None, ..form },
            events,
            eta: Eta::default(),
            shown: None,
            reported: None,
        };
        following::follow(&mut watched, &search, &mut page).await;
    }))
}

struct OpenPage {
    search: Arc<SearchHandle>,
    proof: Option<Proof>,
    form: Form,
    events: Events,
    eta: Eta,
    /// Boxes, and true if later matches cannot change them.
    shown: Option<(String, bool)>,
    reported: Option<(u64, u64)>,
}

impl Report for OpenPage {
    fn events(&self) -> &Events {
        &self.events
    }

    fn has_urgent_news(&self) -> bool {
        let is_proven = self.proven().is_some();
        match &self.shown {
            None => is_proven || !self.search.top_matches().pointers.is_empty(),
            Some((_, is_final)) => {
                let folds = folds(&self.search, &self.form);
                !is_final && (is_proven || self.search.best_documents(folds).is_final)
            }
        }
    }

    async fn report(&mut self) -> Option<bool> {
        let (search, form) = (Arc::clone(&self.search), self.form.clone());
        let is_final = self.shown.as_ref().is_some_and(|(_, is_final)| *is_final);
        if !is_final {
            let proven = self.proven().cloned();
            let is_proven = proven.is_some();
            let read = move || {
                let (boxes, is_final) = so_far(&search, proven.as_deref(), &form)?;
                Ok::<_, frontend::SpoolError>((fragment(boxes, &form.site), is_final))
            };
            let best = blocking(read).await.ok();
            if is_proven && best.as_ref().is_some_and(|(_, is_final)| !is_final) {
                // The proven best are not the page's, and nothing else will be proven.
                self.proof = None;
            }
            let is_news = |(html, _): &(String, bool)| !html.trim().is_empty();
            if let Some(best) = best.filter(is_news)
                && self.shown.as_ref() != Some(&best)
            {
                let boxes = json!({ "final": best.1, "html": best.0 });
                self.events.send("boxes", &boxes).await?;
                self.shown = Some(best);
            }
        }
        let progress = self.search.progress();
        let left = self.eta.left(&progress);
        let event = json!({
            "matches": progress.matches,
            "blocks_done": progress.blocks_done,
            "blocks_total": progress.blocks_total,
            // Empty if unknown.
            "left": left.map_or_else(String::new, remaining_text),
        });
        self.events.send("progress", &event).await?;
        let count = Some((progress.matches, progress.blocks_done));
        Some(std::mem::replace(&mut self.reported, count) != count)
    }

    async fn fail(&self, problem: &Problem) -> Option<()> {
        self.events
            .send("done", &self.failed(&problem.detail))
            .await
    }

    async fn end(&self) -> Option<()> {
        let end = match self.search.finished().await {
            Ok(answer) => json!({ "matches": answer.found(), "error": null }),
            Err(error) => self.failed(&error.to_string()),
        };
        self.events.send("done", &end).await
    }

    fn reconnect(&self, event: sse::Event) -> sse::Event {
        event.data("{}")
    }
}

impl OpenPage {
    fn proven(&self) -> Option<&Arc<SearchResult>> {
        self.proof.as_ref()?.best()
    }

    fn failed(&self, error: &str) -> Value {
        json!({ "matches": self.search.progress().matches, "error": error })
    }
}
