//! HTTP, without any interface: connections (`server`), checks of requests (`request_*`, `hosts`,
//! `guard`, `watched`), responses (`response`, `compression`, `stream_body`), values of pages
//! (`site`), and shared addresses (`assets`, `links`).

pub(crate) mod assets;
pub(crate) mod compression;
#[cfg(feature = "graphql")]
pub(crate) mod graphql;
pub(crate) mod guard;
pub(crate) mod hosts;
mod kept_body;
pub(crate) mod links;
pub(crate) mod request_id;
pub(crate) mod request_limits;
pub(crate) mod response;
pub(crate) mod server;
pub(crate) mod site;
pub(crate) mod stream_body;
pub(crate) mod watched;

use frontend::{SearchResult, joined};
use std::sync::Arc;
use std::thread;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

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

/// Runs blocking work away from the runtime's workers, within the spans of the request.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (span, trace) = (tracing::Span::current(), trace::current());
    let work = move || span.in_scope(|| trace::within(trace, work));
    joined(tokio::task::spawn_blocking(work)).await
}

/// Permits for half of the processors. Each rendered or compressed piece waits for one, so that
/// light answers find a processor.
#[derive(Clone)]
pub(crate) struct BodyWorkers(Arc<Semaphore>);

impl Default for BodyWorkers {
    fn default() -> BodyWorkers {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        BodyWorkers(Arc::new(Semaphore::new(processors.div_ceil(2))))
    }
}

impl BodyWorkers {
    pub(crate) async fn permit(&self) -> OwnedSemaphorePermit {
        let permit = Arc::clone(&self.0).acquire_owned().await;
        permit.expect("the semaphore is never closed")
    }

    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let permit = self.permit().await;
        blocking(move || {
            let _permit = permit;
            work()
        })
        .await
    }
}
