//! Which problems an address may answer with, for the description.

#![expect(dead_code, reason = "these are descriptions: nothing makes one")]

use crate::api::model::ProblemDocument;
use utoipa::IntoResponses;

/// Of whatever is asked.
#[derive(IntoResponses)]
pub(crate) enum Any {
    /// A parameter or the query has a fault.
    #[response(status = 400, content_type = "application/problem+json")]
    BadRequest(ProblemDocument),
}

/// Of a search by its query.
#[derive(IntoResponses)]
pub(crate) enum Searching {
    /// A parameter or the query has a fault.
    #[response(status = 400, content_type = "application/problem+json")]
    BadRequest(ProblemDocument),
    /// The generation is held no more, or the cursor has expired.
    #[response(status = 410, content_type = "application/problem+json")]
    Gone(ProblemDocument),
    /// What was kept of the answer is damaged.
    #[response(status = 500, content_type = "application/problem+json")]
    Damaged(ProblemDocument),
    /// Too many queries that cost much are running; `Retry-After` says when to try again.
    #[response(status = 503, content_type = "application/problem+json")]
    Overloaded(ProblemDocument),
}

/// There is no such search, page, file, package or directory.
#[derive(IntoResponses)]
#[response(status = 404, content_type = "application/problem+json")]
pub(crate) struct NotFound(ProblemDocument);

/// The client has the answer already.
#[derive(IntoResponses)]
#[response(status = 304)]
pub(crate) struct Unchanged;

/// A backend that may have it cannot be reached.
#[derive(IntoResponses)]
#[response(status = 503, content_type = "application/problem+json")]
pub(crate) struct Unreachable(ProblemDocument);

/// Of a body.
#[derive(IntoResponses)]
pub(crate) enum Body {
    /// The body has too many bytes.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(ProblemDocument),
    /// The body is not JSON.
    #[response(status = 415, content_type = "application/problem+json")]
    Unsupported(ProblemDocument),
}

/// Of every request.
#[derive(IntoResponses)]
pub(crate) enum Gate {
    /// The address is too long.
    #[response(status = 414, content_type = "application/problem+json")]
    LongAddress(ProblemDocument),
    /// The headers are too long.
    #[response(status = 431, content_type = "application/problem+json")]
    LongHeaders(ProblemDocument),
}
