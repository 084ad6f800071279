//! Progress on standard error.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

const BAR_EVERY: Duration = Duration::from_millis(100);

const SEARCH_AFTER: Duration = Duration::from_secs(1);

const SEARCH_EVERY: Duration = Duration::from_millis(200);

/// Thread that ends when its sender is dropped.
pub(crate) struct ThreadGuard<S>(Option<(S, JoinHandle<()>)>);

pub(crate) type ProgressThread = ThreadGuard<Sender<()>>;

impl<S> ThreadGuard<S> {
    pub(crate) fn start(running: S, body: impl FnOnce() + Send + 'static) -> ThreadGuard<S> {
        ThreadGuard(Some((running, std::thread::spawn(body))))
    }
}

impl<S> Drop for ThreadGuard<S> {
    fn drop(&mut self) {
        if let Some((running, thread)) = self.0.take() {
            drop(running);
            // A panic there must not fail the command.
            let _ = thread.join();
        }
    }
}

/// Calls `show` after `first`, then at each interval. Its bar is cleared at the end.
pub(crate) fn start(
    first: Duration,
    every: Duration,
    mut show: impl FnMut() + Send + 'static,
) -> ProgressThread {
    let (running, ended) = channel();
    ThreadGuard::start(running, move || {
        let mut wait = first;
        while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            show();
            wait = every;
        }
    })
}

/// Updates a bar, if standard error is a terminal.
pub(crate) fn on_terminal(
    template: &str,
    update: impl Fn(&ProgressBar) + Send + 'static,
) -> Option<ProgressThread> {
    stderr().is_terminal().then(|| {
        let bar = bar(template);
        start(BAR_EVERY, BAR_EVERY, move || update(&bar))
    })
}

/// Shown for long searches on a terminal.
pub(crate) fn of_search(
    new_bar: fn() -> ProgressBar,
    mut update: impl FnMut(&ProgressBar) + Send + 'static,
) -> Option<ProgressThread> {
    let mut bar = None;
    let show = move || update(bar.get_or_insert_with(new_bar));
    let is_terminal = stderr().is_terminal();
    is_terminal.then(|| start(SEARCH_AFTER, SEARCH_EVERY, show))
}

/// Drawn on updates, cleared on drop.
pub(crate) fn bar(template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    ProgressBar::new(0).with_style(style)
}
