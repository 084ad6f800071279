//! OpenSearch 1.1 description for browsers.

use crate::http::assets;
use crate::http::client::IsHttps;
use crate::problem::Problem;
use crate::state::App;
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse;

#[derive(Template)]
#[template(path = "opensearch.xml")]
struct Description {
    host: String,
    /// Without a slash at its end.
    site: String,
    icon: String,
}

/// Names the server as the client did.
pub(crate) async fn description(
    State(app): State<App>,
    https: Option<Extension<IsHttps>>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.ok_or_else(|| Problem::bad_request("the request does not name a host"))?;
    let scheme = if https.is_some() { "https" } else { "http" };
    let description = Description {
        host: host.to_owned(),
        site: format!("{scheme}://{host}{}", app.base_path.as_str()),
        icon: assets::address(assets::ICON),
    };
    let kind = "application/opensearchdescription+xml; charset=utf-8";
    let body = description.render().expect("a page fits in memory");
    Ok(([(header::CONTENT_TYPE, kind)], body))
}
