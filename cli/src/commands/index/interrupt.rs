//! Ctrl-C while an index is built: says what remains, and removes what was written so far.

use super::super::listener::shutdown_signal;
use crate::{exit, terminal};
use index::indexing::{self, Progress};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// Waits for a signal until it is dropped.
pub(super) struct InterruptThread(Option<(oneshot::Sender<()>, JoinHandle<()>)>);

impl InterruptThread {
    /// Ends the process when a signal arrives while an index is built in `out`. If signals cannot be
    /// waited for, they end the process without a word, and the next build cleans up.
    pub(super) fn start(out: &Path, progress: Arc<Progress>) -> InterruptThread {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        let Ok(runtime) = runtime else {
            return InterruptThread(None);
        };
        let (running, ended) = oneshot::channel();
        let out: PathBuf = out.to_owned();
        let thread = std::thread::spawn(move || {
            let signalled = runtime.block_on(async {
                tokio::select! {
                    () = shutdown_signal() => true,
                    _ = ended => false,
                }
            });
            if signalled {
                abandon(&out, &progress);
            }
        });
        InterruptThread(Some((running, thread)))
    }
}

fn abandon(out: &Path, progress: &Progress) -> ! {
    let shown = out.display();
    terminal::report(match indexing::abandon(out, progress) {
        Ok(true) => format!("interrupted: the index in {shown} is whole, without these changes"),
        Ok(false) => format!("interrupted: no index was built, and nothing is left in {shown}"),
        Err(error) => format!(
            "interrupted: {shown} could not be cleaned up: {error}; the next `trawl index` does it"
        ),
    });
    std::process::exit(exit::INTERRUPTED)
}

impl Drop for InterruptThread {
    fn drop(&mut self) {
        if let Some((running, thread)) = self.0.take() {
            drop(running);
            // A panic there is no reason to fail the command.
            let _ = thread.join();
        }
    }
}
