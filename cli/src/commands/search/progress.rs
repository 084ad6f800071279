//! Progress of a search on standard error: only on a terminal, and only if the search takes long.

use crate::units;
use frontend::SearchHandle;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time before anything is shown.
const SHOW_AFTER: Duration = Duration::from_secs(1);

/// How often it is updated.
const UPDATE_EVERY: Duration = Duration::from_millis(200);

/// The progress of a search in this process.
pub(super) struct SearchProgress(Option<tokio::task::JoinHandle<()>>);

impl SearchProgress {
    pub(super) fn start(search: &SearchHandle) -> SearchProgress {
        if !stderr().is_terminal() {
            return SearchProgress(None);
        }
        let progress = search.watch();
        SearchProgress(Some(tokio::spawn(async move {
            tokio::time::sleep(SHOW_AFTER).await;
            let ClearedBar(bar) = &ClearedBar(bar());
            loop {
                let now = progress();
                bar.set_length(now.blocks_total);
                bar.set_position(now.blocks_done);
                bar.set_message(format!("{} found", units::count(now.matches)));
                tokio::time::sleep(UPDATE_EVERY).await;
            }
        })))
    }

    /// Clears it from the terminal, before matches are printed.
    pub(super) async fn end(self) {
        if let Some(task) = self.0 {
            task.abort();
            // The result is that it was aborted, or that it has panicked: no reason to fail the search.
            let _ = task.await;
        }
    }
}

/// A bar that is cleared from the terminal when it is dropped.
struct ClearedBar(ProgressBar);

impl Drop for ClearedBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn bar() -> ProgressBar {
    let template = "{bar:30} {percent:>3} %  {msg}  {elapsed}";
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    ProgressBar::new(0).with_style(style)
}

/// A message while a server is searching. Dropping it clears the message.
pub(super) struct ServerProgress(Option<(Sender<()>, JoinHandle<()>)>);

impl ServerProgress {
    pub(super) fn start() -> ServerProgress {
        if !stderr().is_terminal() {
            return ServerProgress(None);
        }
        let (waiting, ended) = channel();
        let thread = std::thread::spawn(move || {
            // Ends when the sender is dropped.
            if ended.recv_timeout(SHOW_AFTER) == Err(RecvTimeoutError::Timeout) {
                let ClearedBar(spinner) = &ClearedBar(ProgressBar::new_spinner());
                spinner.set_message("the server is searching");
                spinner.enable_steady_tick(UPDATE_EVERY);
                let _ = ended.recv();
            }
        });
        ServerProgress(Some((waiting, thread)))
    }
}

impl Drop for ServerProgress {
    fn drop(&mut self) {
        if let Some((waiting, thread)) = self.0.take() {
            drop(waiting);
            // A panic there is no reason to fail the search.
            let _ = thread.join();
        }
    }
}
