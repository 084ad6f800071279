//! What went wrong, for programs (problem documents, RFC 9457) and for people (a page).

use super::App;
use super::headers::NEVER;
use super::params::Params;
use crate::error::{FileError, SearchError};
use crate::page::PastTheEnd;
use crate::query::BadQuery;
use crate::render::html::{ErrorPage, caret};
use crate::spool::SpoolError;
use askama::Template;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};

/// An answer that is none.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    status: StatusCode,
    title: &'static str,
    detail: String,
    /// What of the query is wrong, when that is it.
    query: Option<Box<BadQuery>>,
    hint: Option<String>,
    retry_after_s: Option<u64>,
    /// The last page there is, when one behind it was asked for.
    last_page: Option<usize>,
}

#[derive(serde::Serialize)]
struct Document<'a> {
    r#type: &'static str,
    title: &'a str,
    status: u16,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_page: Option<usize>,
}

impl Problem {
    fn new(status: StatusCode, title: &'static str, detail: impl Into<String>) -> Self {
        Problem {
            status,
            title,
            detail: detail.into(),
            query: None,
            hint: None,
            retry_after_s: None,
            last_page: None,
        }
    }

    pub(super) fn bad_request(detail: impl Into<String>) -> Self {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "The request cannot be understood",
            detail,
        )
    }

    pub(super) fn missing(detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::NOT_FOUND, "There is no such thing", detail)
    }

    pub(super) fn unavailable(detail: impl Into<String>) -> Self {
        Problem {
            retry_after_s: Some(5),
            ..Problem::new(StatusCode::SERVICE_UNAVAILABLE, "Not available now", detail)
        }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Problem {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// Where in the pattern or the filter.
    fn at(&self) -> Option<usize> {
        self.query.as_ref()?.at
    }

    /// The text of the filter that is at fault.
    fn filter(&self) -> Option<&str> {
        self.query.as_ref()?.filter.as_deref()
    }

    #[cfg(test)]
    pub(super) fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The problem as a page, which keeps what was typed and shows where it went wrong.
    pub(super) fn page(self, app: &App, params: &Params) -> Response {
        let form = super::pages::form(params);
        let caret = caret(self.filter().unwrap_or(&form.q), self.at());
        let (link, link_text) = match self.last_page {
            Some(last) => (form.href(last), "Go to the last page".to_owned()),
            None => Default::default(),
        };
        let page = ErrorPage {
            frame: app.chrome(form),
            title: self.title.to_owned(),
            detail: self.detail.clone(),
            caret,
            hint: self.hint.clone().unwrap_or_default(),
            link,
            link_text,
        };
        let page = Html(page.render().expect("a page fits in memory"));
        self.with_headers((self.status, page).into_response())
    }

    fn with_headers(&self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, NEVER);
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = Json(Document {
            r#type: "about:blank",
            title: self.title,
            status: self.status.as_u16(),
            detail: &self.detail,
            at: self.at(),
            filter: self.filter(),
            hint: self.hint.as_deref(),
            last_page: self.last_page,
        });
        let kind = [(header::CONTENT_TYPE, "application/problem+json")];
        self.with_headers((self.status, kind, document).into_response())
    }
}

impl From<BadQuery> for Problem {
    fn from(bad: BadQuery) -> Self {
        let title = "The query cannot be understood";
        Problem {
            hint: bad.hint.clone(),
            query: Some(Box::new(bad.clone())),
            ..Problem::new(StatusCode::BAD_REQUEST, title, bad.reason)
        }
    }
}

impl From<SearchError> for Problem {
    fn from(error: SearchError) -> Self {
        let detail = error.to_string();
        match error {
            SearchError::BadQuery(bad) => bad.into(),
            SearchError::Overloaded { retry_after_s } => Problem {
                retry_after_s: Some(retry_after_s),
                ..Problem::new(StatusCode::SERVICE_UNAVAILABLE, "Too many queries", detail)
            },
            SearchError::Gone { .. } => {
                Problem::new(StatusCode::GONE, "The answer is not there any more", detail)
                    .hint("search again, over the documents of today")
            }
        }
    }
}

impl From<&SpoolError> for Problem {
    fn from(error: &SpoolError) -> Self {
        // Paths and reasons of the operating system are for the log, not for whoever asks.
        tracing::error!(%error, "a page cannot be read from the spool");
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Problem::new(
            status,
            "The answer cannot be read",
            "what was spooled of it is damaged",
        )
    }
}

impl From<SpoolError> for Problem {
    fn from(error: SpoolError) -> Self {
        Problem::from(&error)
    }
}

impl From<PastTheEnd> for Problem {
    fn from(past: PastTheEnd) -> Self {
        Problem {
            last_page: Some(past.last),
            ..Problem::new(
                StatusCode::NOT_FOUND,
                "There is no such page",
                past.to_string(),
            )
        }
    }
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Unreachable(_) => Problem::unavailable(error.to_string()),
            FileError::Request(_) => Problem::bad_request(error.to_string()),
        }
    }
}

/// An address that leads nowhere.
pub(super) async fn not_found(State(app): State<App>, uri: Uri) -> Response {
    answer(
        &app,
        &uri,
        Problem::missing(format!("nothing is at {}", uri.path())),
    )
}

/// A method that an address does not have.
pub(super) async fn method_not_allowed(State(app): State<App>, uri: Uri) -> Response {
    let title = "The method is not allowed";
    let detail = "this address does not have that method; Allow says which it has";
    answer(
        &app,
        &uri,
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, title, detail),
    )
}

fn answer(app: &App, uri: &Uri, problem: Problem) -> Response {
    if uri.path().starts_with("/api/") {
        problem.into_response()
    } else {
        problem.page(app, &Params::default())
    }
}
