//! What went wrong, for programs (problem documents, RFC 9457) and for people (a page).

pub(super) mod kinds;

use super::App;
use super::headers::NEVER;
use super::params::Params;
use crate::render::html::{ErrorPage, caret};
use askama::Template;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use frontend::SpoolError;
use frontend::page::PastTheEnd;
use frontend::query::BadQuery;
use frontend::{FileError, SearchError};
use kinds::Kind;
use std::fmt;

/// An answer that is none.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    kind: &'static Kind,
    detail: String,
    /// What of the query is wrong, when that is it.
    query: Option<Box<BadQuery>>,
    hint: Option<String>,
    retry_after_s: Option<u64>,
    /// The last page there is, when one behind it was asked for.
    last_page: Option<usize>,
}

/// A problem document (RFC 9457).
#[derive(serde::Serialize, utoipa::ToSchema)]
#[schema(as = Problem)]
pub(super) struct Document<'a> {
    /// The address that says what this kind of problem is.
    #[schema(example = "/problems/bad-query")]
    r#type: String,
    /// What the kind is called.
    title: &'a str,
    /// The status of the answer.
    status: u16,
    /// What is wrong this time.
    pub(super) detail: &'a str,
    /// Where in the query, or in `filter`, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<usize>,
    /// The text of the filter that is at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<&'a str>,
    /// What may help.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    /// The last page there is, when one behind it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_page: Option<usize>,
}

impl Problem {
    fn new(kind: &'static Kind, detail: impl Into<String>) -> Self {
        Problem {
            kind,
            detail: detail.into(),
            query: None,
            hint: None,
            retry_after_s: None,
            last_page: None,
        }
    }

    pub(super) fn bad_request(detail: impl Into<String>) -> Self {
        Problem::new(&kinds::BAD_REQUEST, detail)
    }

    pub(super) fn missing(detail: impl Into<String>) -> Self {
        Problem::new(&kinds::NOT_FOUND, detail)
    }

    pub(super) fn gone(detail: impl Into<String>) -> Self {
        Problem::new(&kinds::GONE, detail)
    }

    pub(super) fn too_large(detail: impl Into<String>) -> Self {
        Problem::new(&kinds::TOO_LARGE, detail)
    }

    pub(super) fn unsupported(detail: impl Into<String>) -> Self {
        Problem::new(&kinds::UNSUPPORTED, detail)
    }

    pub(super) fn long_address(detail: impl Into<String>) -> Self {
        Problem::new(&kinds::LONG_ADDRESS, detail)
    }

    pub(super) fn long_headers(detail: impl Into<String>) -> Self {
        Problem::new(&kinds::LONG_HEADERS, detail)
    }

    pub(super) fn unavailable(detail: impl Into<String>) -> Self {
        Problem {
            retry_after_s: Some(5),
            ..Problem::new(&kinds::UNAVAILABLE, detail)
        }
    }

    /// The problem as whoever asks at this address can read it: a document for programs, a line for
    /// those that know Debian Code Search's API, else a page.
    pub(super) fn at_address(self, app: &App, uri: &Uri) -> Response {
        match uri.path() {
            path if path.starts_with("/api/v1/") => self.line(),
            path if path.starts_with("/api/") => self.into_response(),
            _ => self.page(app, &Params::default()),
        }
    }

    fn line(self) -> Response {
        let hint = self.hint.as_ref();
        let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
        let text = format!("{}{hint}\n", self.detail);
        let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        self.with_headers((self.kind.status, kind, text).into_response())
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

    /// What a program is told.
    pub(super) fn document(&self) -> Document<'_> {
        Document {
            r#type: format!("/problems/{}", self.kind.name),
            title: self.kind.title,
            status: self.kind.status.as_u16(),
            detail: &self.detail,
            at: self.at(),
            filter: self.filter(),
            hint: self.hint.as_deref(),
            last_page: self.last_page,
        }
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
            title: self.kind.title.to_owned(),
            detail: self.detail.clone(),
            caret,
            hint: self.hint.clone().unwrap_or_default(),
            link,
            link_text,
        };
        let page = Html(page.render().expect("a page fits in memory"));
        self.with_headers((self.kind.status, page).into_response())
    }

    fn with_headers(&self, mut response: Response) -> Response {
        let (status, detail) = (self.kind.status.as_u16(), &self.detail);
        tracing::debug!(status, detail, "a request has no answer");
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, NEVER);
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = Json(self.document());
        let kind = [(header::CONTENT_TYPE, "application/problem+json")];
        self.with_headers((self.kind.status, kind, document).into_response())
    }
}

impl From<BadQuery> for Problem {
    fn from(bad: BadQuery) -> Self {
        Problem {
            hint: bad.hint.clone(),
            query: Some(Box::new(bad.clone())),
            ..Problem::new(&kinds::BAD_QUERY, bad.reason)
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
                ..Problem::new(&kinds::OVERLOADED, detail)
            },
            SearchError::Gone { .. } => {
                Problem::gone(detail).hint("search again, over the documents of today")
            }
        }
    }
}

impl From<&SpoolError> for Problem {
    fn from(error: &SpoolError) -> Self {
        // Paths and reasons of the operating system are for the log, not for whoever asks.
        tracing::error!(%error, "a page cannot be read from the spool");
        Problem::new(&kinds::DAMAGED, "what was spooled of it is damaged")
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
            ..Problem::new(&kinds::NO_SUCH_PAGE, past.to_string())
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
    Problem::missing(format!("nothing is at {}", uri.path())).at_address(&app, &uri)
}

/// A method that an address does not have.
pub(super) async fn method_not_allowed(State(app): State<App>, uri: Uri) -> Response {
    let detail = "this address does not have that method; Allow says which it has";
    Problem::new(&kinds::METHOD_NOT_ALLOWED, detail).at_address(&app, &uri)
}
