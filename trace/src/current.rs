//! Span of the running request, so that callees need no parameter for it.

use crate::span::TraceSpan;

tokio::task_local! {
    static CURRENT: TraceSpan;
}

/// Returns the span of the running request; empty if there is none.
pub fn current() -> TraceSpan {
    CURRENT.try_with(Clone::clone).unwrap_or_default()
}

/// Runs a future in a span.
pub async fn scope<F: Future>(span: TraceSpan, future: F) -> F::Output {
    if span.context().is_none() {
        return future.await;
    }
    CURRENT.scope(span, future).await
}

/// Runs work on this thread in a span.
pub fn within<T>(span: TraceSpan, work: impl FnOnce() -> T) -> T {
    if span.context().is_none() {
        return work();
    }
    CURRENT.sync_scope(span, work)
}

/// Captures the current span for a future on another task.
pub fn in_current<F: Future>(future: F) -> impl Future<Output = F::Output> {
    scope(current(), future)
}
