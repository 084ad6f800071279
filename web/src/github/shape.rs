//! Problems as GitHub reports them.

use super::addresses::PREFIX;
use crate::http::response::with_body;
use crate::problem::{
    ACCESS_CHANGED, BAD_QUERY, BAD_REQUEST, BUSY, Kind, NOT_INDEXED, OVERLOADED, Problem,
    TOO_MANY_TRIES,
};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

/// Addresses of searches, also refused ones.
pub(super) const SEARCHES: [&str; 7] = [
    "code",
    "repositories",
    "commits",
    "issues",
    "users",
    "topics",
    "labels",
];

const OTHERS: [&str; 6] = [
    "/rate_limit",
    "/user",
    "/user/repos",
    "/repositories",
    "/meta",
    "/api/graphql",
];

const BELOW: [&str; 3] = ["/repos/", "/users/", "/orgs/"];

pub(crate) fn shape(uri: &Uri) -> Option<fn(&Problem, Response) -> Response> {
    let path = uri.path();
    let rest = path.strip_prefix(PREFIX);
    let is_versioned = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let searched = path.strip_prefix("/search/");
    let is_ours = is_versioned
        || searched.is_some_and(|of| SEARCHES.contains(&of))
        || BELOW.iter().any(|start| path.starts_with(start))
        || OTHERS.contains(&path);
    is_ours.then_some(reshape)
}

fn reshape(problem: &Problem, mut response: Response) -> Response {
    let status = status(problem.kind, response.status());
    *response.status_mut() = status;
    if status == StatusCode::TOO_MANY_REQUESTS {
        add_limits(&mut response);
    }
    let said = words(problem);
    let mut body = json!({
        "message": said,
        "documentation_url": problem.r#type,
        "status": status.as_str(),
    });
    if status == StatusCode::UNPROCESSABLE_ENTITY {
        let error = json!({"resource": "Search", "field": "q", "code": "invalid", "message": said});
        body["errors"] = json!([error]);
    }
    with_body(
        response,
        "application/json; charset=utf-8",
        body.to_string(),
    )
}

pub(super) fn words(problem: &Problem) -> String {
    let detail = &problem.detail;
    let separator = if detail.ends_with('.') { "" } else { ";" };
    match &problem.hint {
        Some(hint) => format!("{detail}{separator} {hint}"),
        None => detail.clone(),
    }
}

fn status(kind: &'static Kind, status: StatusCode) -> StatusCode {
    let is = |kinds: &[&'static Kind]| kinds.iter().any(|other| std::ptr::eq(*other, kind));
    if is(&[&BAD_QUERY, &BAD_REQUEST]) {
        StatusCode::UNPROCESSABLE_ENTITY
    } else if is(&[&OVERLOADED, &BUSY, &TOO_MANY_TRIES]) {
        StatusCode::TOO_MANY_REQUESTS
    } else if is(&[&NOT_INDEXED, &ACCESS_CHANGED]) {
        StatusCode::NOT_FOUND
    } else {
        status
    }
}

/// Makes clients wait.
fn add_limits(response: &mut Response) {
    let headers = response.headers_mut();
    let after = headers.get(header::RETRY_AFTER);
    let after = after.and_then(|after| after.to_str().ok()?.parse::<u64>().ok());
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let reset = now.unwrap_or_default().as_secs() + after.unwrap_or_default();
    for (name, value) in [("limit", 1), ("remaining", 0), ("reset", reset)] {
        let name = HeaderName::try_from(format!("x-ratelimit-{name}"));
        headers.insert(name.expect("ASCII"), HeaderValue::from(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;

    #[test]
    fn a_busy_server_limits_the_rate() {
        let problem = Problem::busy("many requests", 7);
        let answer = reshape(&problem, problem.clone().into_response());
        assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
        let header = |name| answer.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("retry-after"), "7");
        assert_eq!(header("x-ratelimit-remaining"), "0");
        assert!(header("x-ratelimit-reset").parse::<u64>().unwrap() > 1_700_000_000);
    }

    #[test]
    fn only_its_addresses_have_the_shape() {
        let has = |path: &str| shape(&path.parse().unwrap()).is_some();
        assert!(has("/api/v3") && has("/api/v3/x") && has("/repos/a/b") && has("/search/code?q=x"));
        assert!(!has("/api/v30") && !has("/search") && !has("/search/facets") && !has("/users"));
    }
}
