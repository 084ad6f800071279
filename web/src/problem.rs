//! What went wrong with a request, and its response.
//!
//! The response of a handler is a problem document (RFC 9457), and carries the [`Problem`] itself as an
//! extension: the interface to which the address belongs may put another body in its place
//! (`pages::problem`). **Invariant:** no handler's problem knows at which address it is shown.

pub(crate) mod kinds;

use crate::model::ProblemDocument;
use crate::response::NO_STORE;
use axum::Json;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use frontend::SpoolError;
use frontend::page::PastTheEnd;
use frontend::query::BadQuery;
use frontend::{FileError, SearchError};
use kinds::Kind;
use std::fmt;

/// An error response.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) kind: &'static Kind,
    pub(crate) detail: String,
    /// The fault in the query.
    query: Option<Box<BadQuery>>,
    pub(crate) hint: Option<String>,
    retry_after_s: Option<u64>,
    /// The number of the last page, if a later one was requested.
    pub(crate) last_page: Option<usize>,
}

macro_rules! constructors {
    ($($name:ident: $kind:ident),* $(,)?) => {
        $(pub(crate) fn $name(detail: impl Into<String>) -> Self {
            Problem::new(&kinds::$kind, detail)
        })*
    };
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

    constructors! {
        bad_request: BAD_REQUEST,
        missing: NOT_FOUND,
        gone: GONE,
        too_large: TOO_LARGE,
        unsupported: UNSUPPORTED,
        long_address: LONG_ADDRESS,
        long_headers: LONG_HEADERS,
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        Problem {
            retry_after_s: Some(5),
            ..Problem::new(&kinds::UNAVAILABLE, detail)
        }
    }

    pub(crate) fn busy(detail: impl Into<String>, retry_after_s: u64) -> Self {
        Problem {
            retry_after_s: Some(retry_after_s),
            ..Problem::new(&kinds::BUSY, detail)
        }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Problem {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// The position of the fault in the pattern or the filter, in bytes.
    pub(crate) fn at(&self) -> Option<usize> {
        self.query.as_ref()?.at
    }

    /// The text of the filter that has the fault.
    pub(crate) fn filter(&self) -> Option<&str> {
        self.query.as_ref()?.filter.as_deref()
    }

    /// Returns the problem document (RFC 9457).
    pub(crate) fn document(&self) -> ProblemDocument {
        ProblemDocument {
            r#type: format!("/problems/{}", self.kind.name),
            title: self.kind.title.to_owned(),
            status: self.kind.status.as_u16(),
            detail: self.detail.clone(),
            at: self.at(),
            filter: self.filter().map(str::to_owned),
            hint: self.hint.clone(),
            last_page: self.last_page,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, detail) = (self.kind.status.as_u16(), &self.detail);
        tracing::debug!(status, detail, "request failed");
        let head = [
            (
                header::CONTENT_TYPE,
                HeaderValue::from_static("application/problem+json"),
            ),
            (header::CACHE_CONTROL, NO_STORE),
        ];
        let mut response = (self.kind.status, head, Json(self.document())).into_response();
        if let Some(seconds) = self.retry_after_s {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self);
        response
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
                Problem::gone(detail).hint("search again, over the current documents")
            }
        }
    }
}

impl From<&SpoolError> for Problem {
    fn from(error: &SpoolError) -> Self {
        // Paths and the operating system's reasons go to the log, not to clients.
        tracing::error!(%error, "cannot read a result from the spool");
        Problem::new(&kinds::DAMAGED, "the spooled result is damaged")
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

/// Answers an address without a route.
pub(crate) async fn not_found(uri: Uri) -> Problem {
    Problem::missing(format!("no such address: {}", uri.path()))
}

/// Answers a method that the address does not have.
pub(crate) async fn method_not_allowed() -> Problem {
    let detail = "method not allowed; the header Allow lists the methods of this address";
    Problem::new(&kinds::METHOD_NOT_ALLOWED, detail)
}
