//! Span of the running request, without a parameter.

use crate::span::TraceSpan;

tokio::task_local! {
    static CURRENT: TraceSpan;
}

/// Span of the running request, or an empty one.
pub fn current() -> TraceSpan {
    CURRENT.try_with(Clone::clone).unwrap_or_default()
}

/// Runs a future within a span.
pub async fn scope<F: Future>(span: TraceSpan, future: F) -> F::Output {
    if span.context().is_none() {
        return future.await;
    }
    CURRENT.scope(span, future).await
}

/// Runs work within a span.
pub fn within<T>(span: TraceSpan, work: impl FnOnce() -> T) -> T {
    if span.context().is_none() {
        return work();
    }
    CURRENT.sync_scope(span, work)
}

/// Keeps the current span for another task.
pub fn in_current<F: Future>(future: F) -> impl Future<Output = F::Output> {
    scope(current(), future)
}
