//! Ctrl-C handling of commands with cleanup.

use super::drain::Signals;
use std::thread::JoinHandle;
use tokio::sync::oneshot;

pub(super) struct InterruptThread(Option<(oneshot::Sender<()>, JoinHandle<()>)>);

impl InterruptThread {
    /// Calls `on_signal` on a signal. Without a handler, signals end the process.
    pub(super) fn start(on_signal: impl FnOnce() + Send + 'static) -> InterruptThread {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        let Ok(runtime) = runtime else {
            return InterruptThread(None);
        };
        let (running, ended) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let signalled = runtime.block_on(async {
                let mut signals = Signals::new();
                tokio::select! {
                    _ = signals.next() => true,
                    _ = ended => false,
                }
            });
            if signalled {
                on_signal();
            }
        });
        InterruptThread(Some((running, thread)))
    }
}

impl Drop for InterruptThread {
    fn drop(&mut self) {
        if let Some((running, thread)) = self.0.take() {
            drop(running);
            // A panic there must not fail the command.
            let _ = thread.join();
        }
    }
}
