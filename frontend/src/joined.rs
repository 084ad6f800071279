//! Awaits work on another thread.

use std::future::pending;
use std::panic::resume_unwind;
use tokio::task::JoinHandle;

/// Waits for a task's result. Panics if the task panicked.
///
/// Tasks are never aborted, so a cancelled one means that the runtime shuts down. This future then
/// stays pending until dropped.
pub async fn joined<T>(task: JoinHandle<T>) -> T {
    match task.await {
        Ok(value) => value,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        Err(_) => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use tokio::runtime::Builder;

    #[test]
    fn waiting_does_not_panic_when_the_runtime_shuts_down() {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(1)
            .build()
            .unwrap();
        let (go, gone) = mpsc::channel::<()>();
        runtime.spawn_blocking(move || gone.recv());
        let queued = runtime.spawn_blocking(|| ());
        // A runtime that shuts down cancels it too, maybe after it ran.
        queued.abort();
        let waits = runtime.spawn(joined(queued));
        drop(go);
        runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
        runtime.block_on(runtime.spawn(async {})).unwrap();
        assert!(!waits.is_finished());
        runtime.shutdown_background();
        let outcome = Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(waits);
        assert!(outcome.unwrap_err().is_cancelled());
    }

    #[test]
    fn a_panic_in_the_task_is_passed_on() {
        let runtime = Builder::new_multi_thread().build().unwrap();
        let work = runtime.spawn_blocking(|| panic!("the work failed"));
        let outcome = runtime.block_on(runtime.spawn(joined(work)));
        let panic = outcome.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"the work failed"));
    }
}
