//! The kinds of problems. Each has a page, at `/problems/{name}`, that says what it means and what to do.

use axum::http::StatusCode;

/// A kind of problem.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The last part of its address; `/problems/{name}` is the `type` of a problem document.
    pub(crate) name: &'static str,
    pub(crate) status: StatusCode,
    pub(crate) title: &'static str,
    /// What it means, and what to do.
    pub(crate) about: &'static str,
}

macro_rules! kinds {
    ($($constant:ident = $name:literal, $status:ident, $title:literal, $about:literal;)*) => {
        $(pub(crate) static $constant: Kind = Kind {
            name: $name,
            status: StatusCode::$status,
            title: $title,
            about: $about,
        };)*

        /// All kinds, ordered by status.
        pub(crate) static KINDS: &[&Kind] = &[$(&$constant),*];
    };
}

kinds! {
    BAD_QUERY = "bad-query", BAD_REQUEST, "The query cannot be understood",
        "The text that is searched for, or a filter, has a fault. `at` is its place in bytes, in the \
         query or in the text that `filter` is; `hint` says what may help.";
    BAD_REQUEST = "bad-request", BAD_REQUEST, "The request cannot be understood",
        "A parameter is unknown, has a value that it cannot have, or is given twice; or what came is \
         not in the form that it claims. `detail` names it.";
    NOT_FOUND = "not-found", NOT_FOUND, "There is no such thing",
        "Nothing is at this address, or what it names is not there. A search is known by its id for \
         a while only.";
    NO_SUCH_PAGE = "no-such-page", NOT_FOUND, "There is no such page",
        "The answer has fewer pages; `last_page` is the number of its last one. Pages count from 0.";
    METHOD_NOT_ALLOWED = "method-not-allowed", METHOD_NOT_ALLOWED, "The method is not allowed",
        "The address is there, but not for this method. The header Allow lists those that it has.";
    GONE = "gone", GONE, "The answer is not there any more",
        "The cursor or the generation is of documents that are held no more, or of an answer that has \
         made way. Search again, from the first page.";
    TOO_LARGE = "too-large", PAYLOAD_TOO_LARGE, "The body is too large",
        "The body has more bytes than it may; `/api/v2/limits` says how many that are.";
    LONG_ADDRESS = "long-address", URI_TOO_LONG, "The address is too long",
        "The address has more bytes than it may. A long query fits into the body of POST \
         /api/v2/search.";
    UNSUPPORTED = "unsupported-media-type", UNSUPPORTED_MEDIA_TYPE, "The body is of another kind",
        "The body must be JSON, and the header Content-Type must say so.";
    LONG_HEADERS = "long-headers", REQUEST_HEADER_FIELDS_TOO_LARGE, "The headers are too long",
        "The headers have more bytes than they may. Cookies are not needed here.";
    DAMAGED = "damaged", INTERNAL_SERVER_ERROR, "The answer cannot be read",
        "What was kept of the answer is damaged. It will not be given again: search once more. The \
         log of the server has the reason.";
    OVERLOADED = "overloaded", SERVICE_UNAVAILABLE, "Too many queries",
        "Too many queries that cost much are running. Retry-After says in how many seconds to try \
         again; a query that costs less does not wait.";
    UNAVAILABLE = "unavailable", SERVICE_UNAVAILABLE, "Not available now",
        "A backend that may have what was asked for cannot be reached. Retry-After says in how many \
         seconds to try again.";
}
