//! How far a search is, on standard error: when it takes long and somebody looks.

use crate::size;
use frontend::SearchHandle;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::time::Duration;

/// What a search may take before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often it is brought up to date.
const EVERY: Duration = Duration::from_millis(200);

/// What is shown, until [`end`](Self::end). Nothing, and no thread, when nobody looks.
pub(super) struct Shown(Option<tokio::task::JoinHandle<()>>);

impl Shown {
    /// Of a search in this process.
    pub(super) fn of(search: &Search) -> Shown {
        if !stderr().is_terminal() {
            return Shown(None);
        }
        let progress = search.watch();
        Shown(Some(tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            let bar = Bar(bar());
            loop {
                let now = progress();
                bar.0.set_length(now.blocks_total);
                bar.0.set_position(now.blocks_done);
                bar.0
                    .set_message(format!("{} found", size::count(now.matches)));
                tokio::time::sleep(EVERY).await;
            }
        })))
    }

    /// Nothing: what is found is printed meanwhile.
    pub(super) fn nothing() -> Shown {
        Shown(None)
    }

    /// Takes it away, before anything else is printed.
    pub(super) async fn end(self) {
        if let Some(task) = self.0 {
            task.abort();
            // It says that it was aborted, or that it has panicked, which is no fault of the search.
            let _ = task.await;
        }
    }
}

/// A bar that leaves nothing behind.
struct Bar(ProgressBar);

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn bar() -> ProgressBar {
    let template = "{bar:30} {percent:>3} %  {msg}  {elapsed}";
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    ProgressBar::new(0).with_style(style)
}

/// A word on standard error for as long as a server is waited for.
pub(super) struct Waiting(
    Option<std::sync::mpsc::Sender<()>>,
    Option<std::thread::JoinHandle<()>>,
);

impl Waiting {
    pub(super) fn start() -> Waiting {
        if !stderr().is_terminal() {
            return Waiting(None, None);
        }
        let (sender, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            // Ends with an error when it is told to, by a sender that is gone.
            if told.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let spinner = Bar(ProgressBar::new_spinner());
                spinner.0.set_message("the server is searching");
                spinner.0.enable_steady_tick(EVERY);
                let _ = told.recv();
            }
        });
        Waiting(Some(sender), Some(thread))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.0.take());
        // A thread that has panicked has nothing to say here.
        let _ = self.1.take().map(std::thread::JoinHandle::join);
    }
}
