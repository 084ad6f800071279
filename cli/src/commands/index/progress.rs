//! Build progress: a bar on a terminal, else a line every few seconds.

use crate::progress::{self, ProgressThread};
use crate::{terminal, units};
use index::indexing::Progress;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

const LINE_EVERY: Duration = Duration::from_secs(10);

pub(super) fn show(build: Arc<Progress>) -> ProgressThread {
    let (shown, started) = (Arc::clone(&build), Instant::now());
    let template = "{bar:30} {percent:>3} %  {decimal_bytes_per_sec}  {msg}  {eta} left";
    let bar = progress::on_terminal(template, move |bar| {
        let (bytes, total) = bytes(&shown);
        bar.set_length(total);
        bar.set_position(bytes);
        let files = units::plural(shown.files.load(Relaxed), "file");
        let packages = units::plural(shown.packages.load(Relaxed), "package");
        bar.set_message(format!("{files} of {packages}"));
    });
    bar.unwrap_or_else(|| {
        progress::start(LINE_EVERY, LINE_EVERY, move || {
            let (bytes, total) = bytes(&build);
            let percent = 100 * bytes / total.max(1);
            let rate = units::size((bytes as f64 / started.elapsed().as_secs_f64()) as u64);
            let files = units::plural(build.files.load(Relaxed), "file");
            let bytes = units::size(bytes);
            terminal::report(format_args!(
                "indexing: {percent} %, {files}, {bytes}, {rate}/s"
            ));
        })
    })
}

/// Bytes read and in total. Packages not walked yet count as the average.
fn bytes(progress: &Progress) -> (u64, u64) {
    let packages = progress.packages.load(Relaxed);
    let walked = progress.packages_walked.load(Relaxed);
    let bytes = progress.bytes.load(Relaxed);
    let known = progress.bytes_walked.load(Relaxed);
    let total = (known as f64 / walked.max(1) as f64 * packages as f64) as u64;
    (bytes, total.max(bytes))
}
