//! The start page: what is indexed, and examples of queries.

use super::filters;
use super::form::Layout;
use crate::state::App;
use askama::Template;
use axum::extract::State;
use axum::response::Html;

#[derive(Template)]
#[template(path = "start.html")]
struct StartPage {
    layout: Layout,
    packages: u64,
    documents: u64,
    text_bytes: u64,
    /// Backends that are not connected, and why.
    disconnected: Vec<(String, String)>,
}

pub(crate) async fn start(State(app): State<App>) -> Html<String> {
    let backends = app.coordinator.backends();
    let page = StartPage {
        layout: Layout::default(),
        packages: backends.iter().map(|backend| backend.packages).sum(),
        documents: backends.iter().map(|backend| backend.documents).sum(),
        text_bytes: backends.iter().map(|backend| backend.text_bytes).sum(),
        disconnected: backends
            .into_iter()
            .filter_map(|backend| Some((backend.name, backend.reason?)))
            .collect(),
    };
    Html(page.render().expect("a page fits in memory"))
}
