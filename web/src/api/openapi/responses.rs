//! Problems that an operation may answer with, for the OpenAPI description.

#![expect(dead_code, reason = "descriptions are never constructed")]

use crate::model::ProblemDocument;
use utoipa::IntoResponses;

/// Responses of any operation.
#[derive(IntoResponses)]
pub(crate) enum Any {
    /// A parameter or the query is malformed.
    #[response(status = 400, content_type = "application/problem+json")]
    BadRequest(ProblemDocument),
}

/// Responses of an operation that searches.
#[derive(IntoResponses)]
pub(crate) enum Searching {
    /// A parameter or the query is malformed.
    #[response(status = 400, content_type = "application/problem+json")]
    BadRequest(ProblemDocument),
    /// The generation is no longer kept, or the cursor has expired.
    #[response(status = 410, content_type = "application/problem+json")]
    Gone(ProblemDocument),
    /// The stored answer is damaged.
    #[response(status = 500, content_type = "application/problem+json")]
    Damaged(ProblemDocument),
    /// Too many heavy queries are running; `Retry-After` says when to try again.
    #[response(status = 503, content_type = "application/problem+json")]
    Overloaded(ProblemDocument),
}

/// There is no such search, page, file, package or directory.
#[derive(IntoResponses)]
#[response(status = 404, content_type = "application/problem+json")]
pub(crate) struct NotFound(ProblemDocument);

/// The client already has the answer.
#[derive(IntoResponses)]
#[response(status = 304)]
pub(crate) struct Unchanged;

/// A backend that may have the answer cannot be reached.
#[derive(IntoResponses)]
#[response(status = 503, content_type = "application/problem+json")]
pub(crate) struct BackendLost(ProblemDocument);

/// Responses of an operation with a body.
#[derive(IntoResponses)]
pub(crate) enum Body {
    /// The body has too many bytes.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(ProblemDocument),
    /// The body is not JSON.
    #[response(status = 415, content_type = "application/problem+json")]
    Unsupported(ProblemDocument),
}

/// Responses that every request may get.
#[derive(IntoResponses)]
pub(crate) enum AnyRequest {
    /// The address is too long.
    #[response(status = 414, content_type = "application/problem+json")]
    LongAddress(ProblemDocument),
    /// The headers are too long.
    #[response(status = 431, content_type = "application/problem+json")]
    LongHeaders(ProblemDocument),
}
