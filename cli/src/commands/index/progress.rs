//! Progress of a build: a bar on a terminal, elsewhere a line every few seconds.

use crate::units;
use index::indexing::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often the bar moves.
const BAR_EVERY: Duration = Duration::from_millis(100);

/// How often a line is written where there is no bar.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Runs `build`, and shows its progress meanwhile.
pub(super) fn showing<T>(progress: &Progress, build: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        let (running, ended) = channel();
        scope.spawn(move || show(progress, &ended));
        let built = build();
        drop(running);
        built
    })
}

/// Shows progress until the sender of `ended` is dropped.
fn show(progress: &Progress, ended: &Receiver<()>) {
    let started = Instant::now();
    let bar = std::io::stderr().is_terminal().then(new_bar);
    let every = if bar.is_some() { BAR_EVERY } else { LINE_EVERY };
    while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        let sample = ProgressSample::of(progress);
        match &bar {
            Some(bar) => sample.show(bar),
            None => eprintln!("{}", sample.line(started.elapsed())),
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
struct ProgressSample {
    packages: u64,
    files: u64,
    bytes: u64,
    /// Bytes of all packages. A package that has not been walked yet counts as the average of those
    /// that have.
    total: u64,
}

impl ProgressSample {
    fn of(progress: &Progress) -> ProgressSample {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (packages, walked) = (load(&progress.packages), load(&progress.packages_walked));
        let (bytes, known) = (load(&progress.bytes), load(&progress.bytes_walked));
        let total = (known as f64 / walked.max(1) as f64 * packages as f64) as u64;
        ProgressSample {
            packages,
            files: load(&progress.files),
            bytes,
            total: total.max(bytes),
        }
    }

    fn show(&self, bar: &ProgressBar) {
        bar.set_length(self.total);
        bar.set_position(self.bytes);
        let packages = units::plural(self.packages, "package");
        let files = units::plural(self.files, "file");
        bar.set_message(format!("{files} of {packages}"));
    }

    fn line(&self, elapsed: Duration) -> String {
        let percent = 100 * self.bytes / self.total.max(1);
        let rate = units::size((self.bytes as f64 / elapsed.as_secs_f64()) as u64);
        let (files, bytes) = (units::plural(self.files, "file"), units::size(self.bytes));
        format!("indexing: {percent} %, {files}, {bytes}, {rate}/s")
    }
}
