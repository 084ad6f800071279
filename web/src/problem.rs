//! Errors of requests. Each kind has a page at `/problems/{name}`.
//!
//! A response is a problem document (RFC 9457). It carries the [`Problem`] as an extension, so that
//! an interface can replace the body (`pages::problem`).
//!
//! **Invariant:** a handler's problem does not depend on the address at which it is shown.

use access::Refusal;
use axum::Json;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use frontend::page::PastTheEnd;
use frontend::query::BadQuery;
use frontend::{FileError, SearchError, SpoolError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;
use utoipa::ToSchema;

/// Errors and incomplete answers.
pub(crate) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

pub(crate) const RETRY_AFTER_S: u64 = 5;

/// Failure of a request. `Display` shows its detail.
#[derive(Clone, Debug)]
pub struct Problem {
    pub(crate) kind: &'static Kind,
    pub(crate) document: Box<ProblemDocument>,
    retry_after_s: Option<u64>,
    /// Parameter that the candidates replace.
    replaced: &'static str,
    /// Package version of `newest`.
    package: Vec<u8>,
}

/// Problem document (RFC 9457).
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDocument {
    /// Address of a page about this kind of problem.
    #[schema(example = "/problems/bad-query")]
    pub r#type: String,
    /// Name of the kind.
    pub title: String,
    /// Status of the response.
    pub status: u16,
    /// Explanation of this occurrence.
    pub detail: String,
    /// Position in the query, or in `filter`, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
    /// Filter with the fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Suggested remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Number of the last page, if a later one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_page: Option<usize>,
    /// Similar names, or the ids of an ambiguous revision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// Newest indexed revision, or version of the package, with the requested file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<NewestRevision>,
}

/// Revision or version with the requested file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewestRevision {
    /// Short name; empty for a version.
    pub rev: String,
    /// Version of the package, if the requested one is not indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package: Option<String>,
    /// Address of the file in it.
    #[schema(example = "/api/v2/file?package=project&path=src/file2.c&rev=v2.0")]
    pub link: String,
}

impl Problem {
    fn new(kind: &'static Kind, detail: impl Into<String>) -> Self {
        Problem {
            kind,
            document: Box::new(ProblemDocument {
                r#type: format!("/problems/{}", kind.name),
                title: kind.title.to_owned(),
                status: kind.status.as_u16(),
                detail: detail.into(),
                ..ProblemDocument::default()
            }),
            retry_after_s: None,
            replaced: "",
            package: Vec::new(),
        }
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        Problem::new(&UNAVAILABLE, detail).retry_after(RETRY_AFTER_S)
    }

    fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.document.hint = Some(hint.into());
        self
    }

    /// Adds similar names for a `parameter`: `rev`, `repo`, `package` or `path`.
    pub(crate) fn near_names(mut self, parameter: &'static str, names: Vec<String>) -> Self {
        self.document.candidates = names;
        self.replaced = parameter;
        self
    }

    /// Parameter with an unknown name, and similar names.
    pub(crate) fn near(&self) -> Option<(&'static str, &[String])> {
        (!self.candidates.is_empty()).then_some((self.replaced, &self.candidates[..]))
    }

    pub(crate) fn newest(mut self, newest: Option<NewestRevision>) -> Self {
        self.document.newest = newest;
        self
    }

    pub(crate) fn is(&self, kind: &Kind) -> bool {
        std::ptr::eq(self.kind, kind)
    }

    /// Returns true for a bad value or an unknown parameter.
    pub(crate) fn is_about_parameter(&self, name: &str) -> bool {
        let named = self.detail.strip_prefix("unknown parameter ");
        let rest = named.unwrap_or(&self.detail).strip_prefix(name);
        self.is(&BAD_REQUEST)
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '=']))
    }

    /// Returns true for a missing file, directory or package.
    pub(crate) fn is_about_file(&self) -> bool {
        let kinds = [&NOT_FOUND, &NOT_INDEXED, &UNKNOWN_REVISION];
        kinds.into_iter().any(|kind| self.is(kind))
    }

    pub(crate) fn in_package(mut self, package: Vec<u8>) -> Self {
        self.package = package;
        self
    }

    /// Package version and revision to show instead, if the requested one is no longer indexed or
    /// is ambiguous. Empty: as requested, and the default revision.
    pub(crate) fn instead(&self) -> Option<(&[u8], &str)> {
        let is_gone = self.is(&NOT_INDEXED) && self.newest.is_some();
        let revision = self.newest.as_ref().map_or("", |newest| &newest.rev);
        (is_gone || !self.package.is_empty()).then_some((&self.package[..], revision))
    }

    pub(crate) fn document(&self) -> ProblemDocument {
        (*self.document).clone()
    }
}

impl std::error::Error for Problem {}

impl Deref for Problem {
    type Target = ProblemDocument;

    fn deref(&self) -> &ProblemDocument {
        &self.document
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
        let kind = HeaderValue::from_static("application/problem+json");
        let head = [
            (header::CONTENT_TYPE, kind),
            (header::CACHE_CONTROL, NO_STORE),
        ];
        let mut response = (self.kind.status, head, Json(&self.document)).into_response();
        let headers = response.headers_mut();
        let header = match self.kind.status {
            StatusCode::UNAUTHORIZED => Some((header::WWW_AUTHENTICATE, "Bearer")),
            // The rest of the body is never read.
            StatusCode::REQUEST_TIMEOUT => Some((header::CONNECTION, "close")),
            _ => None,
        };
        headers.extend(header.map(|(name, value)| (name, HeaderValue::from_static(value))));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Retries a request once if its result is unreadable, which alone has this status. The damaged
/// result is no longer shared, so the retry searches again.
pub(crate) async fn search_again(request: Request, next: Next) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let again = Request::from_parts(head.clone(), Body::empty());
    let response = next.clone().run(Request::from_parts(head, body)).await;
    if response.status() != DAMAGED.status {
        return response;
    }
    next.run(again).await
}

impl From<BadQuery> for Problem {
    fn from(bad: BadQuery) -> Self {
        let mut problem = Problem::new(&BAD_QUERY, bad.reason);
        let document = &mut *problem.document;
        (document.at, document.filter, document.hint) = (bad.at, bad.filter, bad.hint);
        problem
    }
}

impl From<SearchError> for Problem {
    fn from(error: SearchError) -> Self {
        let detail = error.to_string();
        match error {
            SearchError::BadQuery(bad) => bad.into(),
            SearchError::Overloaded { retry_after_s } => {
                Problem::new(&OVERLOADED, detail).retry_after(retry_after_s)
            }
            SearchError::Draining { retry_after_s } => Problem::draining(detail, retry_after_s),
            SearchError::Gone { .. } => {
                Problem::gone(detail).hint("search again, over the current documents")
            }
            SearchError::Withdrawn => Problem::gone(detail).hint("search again"),
        }
    }
}

impl From<SpoolError> for Problem {
    fn from(error: SpoolError) -> Self {
        // Clients see no paths or OS errors.
        tracing::error!(%error, "cannot read a result from the spool; it is not used again");
        Problem::new(&DAMAGED, "the spooled result is damaged")
    }
}

impl From<PastTheEnd> for Problem {
    fn from(past: PastTheEnd) -> Self {
        let mut problem = Problem::new(&NO_SUCH_PAGE, past.to_string());
        problem.document.last_page = Some(past.last);
        problem
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

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::BadHeader(name) => {
                Problem::bad_request(format!("the header {name} has control characters"))
            }
            Refusal::BadToken(reason) => {
                let hint = "get a new token from the service that issued it";
                Problem::bad_token(reason).hint(hint)
            }
            Refusal::NamesUnknown { retry_after_s } => {
                let detail = "a backend has not listed its packages yet, so it is not known what you may see";
                Problem::authorization_unknown(detail, retry_after_s)
            }
            Refusal::Unknown { retry_after_s } => {
                let detail = "the service that decides what you may see does not answer";
                Problem::authorization_unknown(detail, retry_after_s)
            }
            Refusal::TooManyNames => {
                let detail = "more packages are not public than the authorization service is asked for one by one";
                Problem::authorization_unknown(detail, 60)
                    .hint("the operator can start Trawl with --auth-batch or --public")
            }
        }
    }
}

pub(crate) async fn not_found(uri: Uri) -> Problem {
    Problem::missing(format!("no such address: {}", uri.path()))
}

pub(crate) async fn method_not_allowed() -> Problem {
    let detail = "method not allowed; the header Allow lists the methods of this address";
    Problem::new(&METHOD_NOT_ALLOWED, detail)
}

#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) status: StatusCode,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
}

macro_rules! kinds {
    ($(
        $constant:ident $($constructor:ident($($retry_after_s:ident)?))? =
            $name:literal, $status:ident, $title:literal, $about:literal;
    )*) => {
        $(pub(crate) static $constant: Kind = Kind {
            name: $name,
            status: StatusCode::$status,
            title: $title,
            about: $about,
        };)*

        /// Ordered by status.
        pub(crate) static KINDS: &[&Kind] = &[$(&$constant),*];

        impl Problem {
            $($(pub(crate) fn $constructor(
                detail: impl Into<String> $(, $retry_after_s: u64)?
            ) -> Self {
                Problem::new(&$constant, detail) $(.retry_after($retry_after_s))?
            })?)*
        }
    };
}

kinds! {
    BAD_QUERY = "bad-query", BAD_REQUEST, "Malformed query",
        "A pattern or a filter is malformed. `at` is the position of the fault in bytes, in the query or in \
         the text of `filter`; `hint` says what may help.";
    BAD_REQUEST bad_request() = "bad-request", BAD_REQUEST, "Malformed request",
        "A parameter is unknown, repeated or has an invalid value, or the body is malformed. `detail` \
         names it.";
    UNAUTHORIZED unauthorized() = "key-needed", UNAUTHORIZED, "A key is needed",
        "The request has no key, or one that is not known or was revoked. The operator of the server hands out \
         keys. Send one in the header `authorization: Bearer KEY`; `trawl` reads it from a file (`--key-file`).";
    BAD_TOKEN bad_token() = "bad-token", UNAUTHORIZED, "The token is not accepted",
        "The token in the header Authorization has expired, is malformed, or is not signed by a key that is \
         accepted here. `detail` says which. Without a token only public packages are shown.";
    ACCESS_CHANGED access_changed() = "access-changed", FORBIDDEN, "You may see less than before",
        "While the answer was sent, its reader lost the right to see a part of it. Search again, over what you \
         may see now.";
    FOREIGN foreign() = "foreign-origin", FORBIDDEN, "Page of another site",
        "A page of another site asked for a change. Only pages of this server may, and those whose origin \
         the operator allows.";
    NOT_FOUND missing() = "not-found", NOT_FOUND, "Not found",
        "The address does not exist, or what it names does not. The id of a search is known only for a \
         while.";
    NO_SUCH_PAGE = "no-such-page", NOT_FOUND, "No such page",
        "The answer has fewer pages. `last_page` is the number of its last page. Pages count from 0.";
    UNKNOWN_REVISION unknown_revision() = "unknown-revision", NOT_FOUND, "Unknown repository or revision",
        "There is no repository of this name, or it has no such revision. `candidates` lists similar names.";
    AMBIGUOUS_REVISION ambiguous_revision() = "ambiguous-revision", NOT_FOUND, "Ambiguous revision",
        "The revision is the beginning of several ids. `candidates` lists them.";
    NO_REPOSITORIES no_repositories() = "no-repositories", NOT_FOUND, "No repositories",
        "No backend was started with git repositories. The operator gives their directory with `--repos`.";
    METHOD_NOT_ALLOWED = "method-not-allowed", METHOD_NOT_ALLOWED, "Method not allowed",
        "The address does not support this method. The header Allow lists the supported ones.";
    SLOW_BODY slow_body() = "slow-body", REQUEST_TIMEOUT, "Body too slow",
        "The body of the request did not arrive in time. Send it again.";
    GONE gone() = "gone", GONE, "The answer is gone",
        "The documents of the cursor or the generation are no longer kept, or the client has stopped the search. \
         Search again, from the first page.";
    NOT_INDEXED not_indexed() = "revision-not-indexed", GONE, "The revision is no longer indexed",
        "The index had the revision, or may have had it, and no backend can read it from the repository. `newest` \
         names the newest indexed revision that has the file, with its address.";
    PRECONDITION_FAILED precondition_failed() = "precondition-failed", PRECONDITION_FAILED, "Another file",
        "The file is not, or no longer, the one that the header If-Match names. Its tag is in the header ETag of an \
         answer without If-Match.";
    TOO_LARGE too_large() = "too-large", PAYLOAD_TOO_LARGE, "Body too large",
        "The body exceeds the limit in `/api/v2/limits`.";
    LONG_ADDRESS long_address() = "long-address", URI_TOO_LONG, "Address too long",
        "The address exceeds the limit in `/api/v2/limits`. POST /api/v2/search takes a long query in its \
         body.";
    UNSUPPORTED unsupported() = "unsupported-media-type", UNSUPPORTED_MEDIA_TYPE, "Unsupported media type",
        "The body must be JSON, and the header Content-Type must say so.";
    UNSATISFIABLE_RANGE unsatisfiable_range() = "unsatisfiable-range", RANGE_NOT_SATISFIABLE, "No such bytes",
        "No range of the header Range begins within the file. The header Content-Range has the file's size.";
    MISDIRECTED misdirected() = "misdirected", MISDIRECTED_REQUEST, "Another host",
        "The request names a host that this server does not answer for. A server that only this machine \
         reaches answers to localhost, and to names that its operator lists.";
    TOO_MANY_TRIES too_many_tries(retry_after_s) = "too-many-tries", TOO_MANY_REQUESTS, "Too many wrong keys",
        "Too many wrong keys were tried from this address. Retry-After says after how many seconds to try \
         again.";
    LONG_HEADERS long_headers() = "long-headers", REQUEST_HEADER_FIELDS_TOO_LARGE, "Headers too long",
        "The headers exceed the limit in `/api/v2/limits`. The longest are often cookies of other sites on the \
         same host.";
    DAMAGED = "damaged", INTERNAL_SERVER_ERROR, "The answer cannot be read",
        "The stored answer is damaged, and so was that of the search that was run again. The server's log has the reason.";
    UNREADABLE_REPOSITORY unreadable_repository() = "unreadable-repository", BAD_GATEWAY, "Unreadable repository",
        "The repository is damaged, or the backend may not read it. `detail` has the reason.";
    DRAINING draining(retry_after_s) = "draining", SERVICE_UNAVAILABLE, "The server is about to stop",
        "The server starts no search any more. Ask again: another server answers at the same address, or this one \
         after its restart.";
    OVERLOADED = "overloaded", SERVICE_UNAVAILABLE, "Too many queries",
        "Too many heavy queries are running. Retry-After says after how many seconds to try again. A \
         light query does not wait.";
    BUSY busy(retry_after_s) = "busy", SERVICE_UNAVAILABLE, "Too many requests at once",
        "As many exports or connections are open as the server allows. Retry-After says after how many \
         seconds to try again.";
    AUTHORIZATION_UNKNOWN authorization_unknown(retry_after_s) = "authorization-unknown", SERVICE_UNAVAILABLE, "It is not known what you may see",
        "The service that decides what you may see does not answer, or the packages are not known yet. \
         Retry-After says after how many seconds to try again. Public packages can be read meanwhile.";
    UNAVAILABLE = "unavailable", SERVICE_UNAVAILABLE, "Unavailable",
        "A backend that may have the answer cannot be reached. Retry-After says after how many seconds to \
         try again.";
}
