//! Search of a request: its parameters (`params`, `choice`), finding or starting it (`run`,
//! `cursor`), following it (`following`), and its rendered answers (`rendered`).

pub(crate) mod choice;
pub(crate) mod cursor;
pub(crate) mod following;
pub(crate) mod params;
pub(crate) mod rendered;
pub(crate) mod run;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use frontend::metrics;

const SEARCHES: [&str; 4] = [
    "/search",
    "/api/v2/search",
    "/api/v2/export",
    "/.api/search",
];

/// Counts the git look-ups of a search request. Matches come with their commits, so their number
/// has no effect.
pub(crate) async fn count_lookups(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_search = SEARCHES.iter().any(|search| path.starts_with(search));
    if is_search {
        metrics::counting_lookups(next.run(request)).await
    } else {
        next.run(request).await
    }
}
