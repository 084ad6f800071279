//! The span of the request that runs, so that what it calls need not be told.

use crate::span::TraceSpan;

tokio::task_local! {
    static CURRENT: TraceSpan;
}

/// Returns the span of the request that runs on this task or thread; an empty one if there is none.
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

/// Takes the current span along to another task, which runs the future.
pub fn in_current<F: Future>(future: F) -> impl Future<Output = F::Output> {
    scope(current(), future)
}
