//! Runs blocking work away from the runtime's workers.

use frontend::{SearchResult, joined};

/// Renders in place if the answer is in memory, else on a blocking thread.
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

/// Runs work within the spans of the request.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (span, trace) = (tracing::Span::current(), trace::current());
    let work = move || span.in_scope(|| trace::within(trace, work));
    joined(tokio::task::spawn_blocking(work)).await
}
