//! Counts the git look-ups of search requests. The commit of a match comes with it, so the number
//! does not depend on the number of matches.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use frontend::metrics;

/// Prefixes of search requests.
const SEARCHES: [&str; 3] = ["/search", "/api/v2/search", "/api/v2/export"];

/// Records the look-ups of a search request.
pub(crate) async fn count(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_search = SEARCHES.iter().any(|search| path.starts_with(search));
    if is_search {
        metrics::counting_lookups(next.run(request)).await
    } else {
        next.run(request).await
    }
}
