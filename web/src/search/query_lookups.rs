//! Counts the git look-ups of search requests. Matches come with their commits, so the number does
//! not depend on the number of matches.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use frontend::metrics;

const SEARCHES: [&str; 3] = ["/search", "/api/v2/search", "/api/v2/export"];

pub(crate) async fn count(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_search = SEARCHES.iter().any(|search| path.starts_with(search));
    if is_search {
        metrics::counting_lookups(next.run(request)).await
    } else {
        next.run(request).await
    }
}
