//! Where work runs that blocks: away from the runtime's workers.

use frontend::{SearchResult, joined};

/// Renders a part of an answer: in place if the answer is in memory, else on a blocking thread.
pub(crate) async fn rendering<T: Send + 'static>(
    answer: &SearchResult,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    if answer.is_in_memory() {
        work()
    } else {
        blocking(work).await
    }
}

/// Runs work that blocks, away from the runtime's workers. Its log lines name the request.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let span = tracing::Span::current();
    joined(tokio::task::spawn_blocking(move || span.in_scope(work))).await
}
