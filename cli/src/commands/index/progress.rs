//! Build progress: a bar on a terminal, else a line every few seconds.

use crate::progress::{self, ProgressThread};
use crate::{terminal, units};
use index::indexing::Progress;
use indicatif::ProgressBar;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const LINE_EVERY: Duration = Duration::from_secs(10);

pub(super) fn show(build: Arc<Progress>) -> ProgressThread {
    let (shown, started) = (Arc::clone(&build), Instant::now());
    let template = "{bar:30} {percent:>3} %  {decimal_bytes_per_sec}  {msg}  {eta} left";
    let bar = progress::on_terminal(template, move |bar| ProgressSample::of(&shown).show(bar));
    bar.unwrap_or_else(|| {
        progress::start(LINE_EVERY, LINE_EVERY, move || {
            let sample = ProgressSample::of(&build);
            terminal::report(sample.line(started.elapsed()));
        })
    })
}

struct ProgressSample {
    packages: u64,
    files: u64,
    bytes: u64,
    /// Packages not walked yet count as the average.
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
