//! Shows how far a build is: a bar on a terminal, now and then a line elsewhere.

use crate::{size, terminal};
use index::indexing::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// How often the bar moves.
const BAR_EVERY: Duration = Duration::from_millis(100);

/// How often a line is written where there is no bar.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// A thread that looks at the progress of a build.
pub(super) struct Watch<'scope> {
    thread: ScopedJoinHandle<'scope, ()>,
    stop: Arc<(Mutex<bool>, Condvar)>,
}

impl<'scope> Watch<'scope> {
    pub(super) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        progress: &'env Progress,
    ) -> Watch<'scope> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let stopped = stop.clone();
        let thread = scope.spawn(move || watch(progress, &stopped));
        Watch { thread, stop }
    }

    pub(super) fn stop(self) {
        let (stopped, changed) = &*self.stop;
        *stopped
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner()) = true;
        changed.notify_all();
        if self.thread.join().is_err() {
            eprintln!("trawl: the progress could not be shown");
        }
    }
}

fn watch(progress: &Progress, (stopped, changed): &(Mutex<bool>, Condvar)) {
    let started = Instant::now();
    let bar = std::io::stderr().is_terminal().then(new_bar);
    let every = if bar.is_some() { BAR_EVERY } else { LINE_EVERY };
    let mut stop = stopped
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    loop {
        let waited = changed.wait_timeout_while(stop, every, |stop| !*stop);
        stop = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        if *stop {
            break;
        }
        let now = Now::of(progress);
        match &bar {
            Some(bar) => now.show(bar),
            None => eprintln!("{}", now.line(started.elapsed())),
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn new_bar() -> ProgressBar {
    let template = "{bar:30} {percent:>3} %  {binary_bytes_per_sec}  {msg}  {eta} left";
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    ProgressBar::new(0).with_style(style)
}

/// The progress at one moment.
struct Now {
    packages: u64,
    files: u64,
    bytes: u64,
    /// Bytes in all: known of the packages that have been walked, and as many for each other one.
    total: u64,
}

impl Now {
    fn of(progress: &Progress) -> Now {
        let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let (packages, walked) = (load(&progress.packages), load(&progress.packages_walked));
        let (bytes, known) = (load(&progress.bytes), load(&progress.bytes_walked));
        let total = (known as f64 / walked.max(1) as f64 * packages as f64) as u64;
        Now {
            packages,
            files: load(&progress.files),
            bytes,
            total: total.max(bytes),
        }
    }

    fn show(&self, bar: &ProgressBar) {
        bar.set_length(self.total);
        bar.set_position(self.bytes);
        let packages = terminal::plural(self.packages, "package");
        bar.set_message(format!(
            "{} of {packages}",
            terminal::plural(self.files, "file")
        ));
    }

    fn line(&self, elapsed: Duration) -> String {
        let percent = 100 * self.bytes / self.total.max(1);
        let rate = size::show((self.bytes as f64 / elapsed.as_secs_f64()) as u64);
        let (files, bytes) = (terminal::plural(self.files, "file"), size::show(self.bytes));
        format!("indexing: {percent} %, {files}, {bytes}, {rate}/s")
    }
}
