//! Start page: indexed data and example queries.

use super::filters;
use super::form::Layout;
use crate::http::site::Site;
use crate::problem::Problem;
use crate::state::App;
use access::Viewer;
use askama::Template;
use axum::extract::State;
use axum::response::Html;
use std::time::UNIX_EPOCH;

#[derive(Template)]
#[template(path = "start.html")]
struct StartPage {
    layout: Layout,
    packages: u64,
    documents: u64,
    text_bytes: u64,
    /// Age of the oldest index.
    age_s: Option<u64>,
    unsearched: Vec<(String, String)>,
    undecided: Option<String>,
}

pub(crate) async fn start(
    State(app): State<App>,
    viewer: Viewer,
    site: Site,
) -> Result<Html<String>, Problem> {
    let scope = viewer.scope().await?;
    let (served, backends) = (
        app.coordinator.served(&scope),
        app.coordinator.backends(&scope),
    );
    let page = StartPage {
        layout: Layout::of(&site),
        packages: served.packages,
        documents: served.documents,
        text_bytes: served.text_bytes,
        age_s: served.updated.map(age_s),
        unsearched: backends
            .into_iter()
            .filter_map(|backend| Some((backend.name, backend.reason?)))
            .collect(),
        undecided: scope.missing().map(|(_, reason)| reason),
    };
    Ok(Html(site.render(&page)))
}

fn age_s(time: u64) -> u64 {
    let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    now.saturating_sub(time)
}
