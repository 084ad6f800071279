//! Share of the processors for streamed bodies.
//!
//! Any number of exports may be rendered or compressed at a time. Each piece waits for a permit, so
//! that light answers find a processor.

use crate::http::blocking;
use std::sync::Arc;
use std::thread;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Permits for half of the processors.
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

    /// Runs `work` on a blocking thread.
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
