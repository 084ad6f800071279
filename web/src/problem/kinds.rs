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
    BAD_QUERY = "bad-query", BAD_REQUEST, "Malformed query",
        "A pattern or a filter is malformed. `at` is the position of the fault in bytes, in the query or in \
         the text of `filter`; `hint` says what may help.";
    BAD_REQUEST = "bad-request", BAD_REQUEST, "Malformed request",
        "A parameter is unknown, repeated or has an invalid value, or the body is malformed. `detail` \
         names it.";
    NOT_FOUND = "not-found", NOT_FOUND, "Not found",
        "The address does not exist, or what it names does not. The id of a search is known only for a \
         while.";
    NO_SUCH_PAGE = "no-such-page", NOT_FOUND, "No such page",
        "The answer has fewer pages. `last_page` is the number of its last page. Pages count from 0.";
    METHOD_NOT_ALLOWED = "method-not-allowed", METHOD_NOT_ALLOWED, "Method not allowed",
        "The address does not support this method. The header Allow lists the supported ones.";
    GONE = "gone", GONE, "The answer is gone",
        "The documents of the cursor or the generation are no longer kept, or the answer was evicted. \
         Search again, from the first page.";
    TOO_LARGE = "too-large", PAYLOAD_TOO_LARGE, "Body too large",
        "The body exceeds the limit in `/api/v2/limits`.";
    LONG_ADDRESS = "long-address", URI_TOO_LONG, "Address too long",
        "The address exceeds the limit in `/api/v2/limits`. POST /api/v2/search takes a long query in its \
         body.";
    UNSUPPORTED = "unsupported-media-type", UNSUPPORTED_MEDIA_TYPE, "Unsupported media type",
        "The body must be JSON, and the header Content-Type must say so.";
    LONG_HEADERS = "long-headers", REQUEST_HEADER_FIELDS_TOO_LARGE, "Headers too long",
        "The headers exceed the limit in `/api/v2/limits`. No cookies are needed here.";
    DAMAGED = "damaged", INTERNAL_SERVER_ERROR, "The answer cannot be read",
        "The stored answer is damaged and was discarded. Search again. The server's log has the reason.";
    OVERLOADED = "overloaded", SERVICE_UNAVAILABLE, "Too many queries",
        "Too many heavy queries are running. Retry-After says after how many seconds to try again. A \
         light query does not wait.";
    BUSY = "busy", SERVICE_UNAVAILABLE, "Too many requests at once",
        "As many exports or connections are open as the server allows. Retry-After says after how many \
         seconds to try again.";
    UNAVAILABLE = "unavailable", SERVICE_UNAVAILABLE, "Unavailable",
        "A backend that may have the answer cannot be reached. Retry-After says after how many seconds to \
         try again.";
}
