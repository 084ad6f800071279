//! Log of a server, on standard error.
//!
//! Lines wait in memory for a writer thread, so an unread pipe blocks nothing else. Lines that do
//! not fit are dropped, counted and reported.
//!
//! **Invariant:** once started, only the log thread writes to standard error.

use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Exceeds a burst of errors: some thousand lines.
const WAITING_BYTES_MAX: usize = 1 << 20;

const DROPPED: &str = "trawl_log_dropped_lines_total";

static LOG: OnceLock<LogQueue> = OnceLock::new();

/// The first call starts a thread.
pub(crate) fn start() -> io::Result<&'static LogQueue> {
    let log = LOG.get_or_init(LogQueue::default);
    if !std::mem::replace(&mut log.lock().is_started, true) {
        let thread = thread::Builder::new().name("log".to_owned());
        thread.spawn(|| log.write_to(io::stderr()))?;
    }
    Ok(log)
}

/// `None` if this process is no server.
pub(crate) fn started() -> Option<&'static LogQueue> {
    LOG.get()
}

pub(crate) fn flush(max: Duration) {
    if let Some(log) = started() {
        log.flush(max);
    }
}

pub(crate) fn describe_metrics() {
    metrics::describe_counter!(
        DROPPED,
        "Lines of the log that were dropped, because standard error was not read"
    );
}

#[derive(Default)]
pub(crate) struct LogQueue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    is_started: bool,
    /// Whole lines.
    bytes: Vec<u8>,
    /// True while lines are taken but not written.
    is_writing: bool,
    /// Lines since the last write.
    dropped: u64,
}

impl LogQueue {
    /// Drops lines if full. Never blocks.
    pub(crate) fn push(&self, lines: &[u8]) {
        let mut waiting = self.lock();
        if waiting.bytes.len() + lines.len() > WAITING_BYTES_MAX {
            waiting.dropped += 1;
            metrics::counter!(DROPPED).increment(1);
            return;
        }
        waiting.bytes.extend_from_slice(lines);
        self.changed.notify_all();
    }

    /// Failed lines are lost.
    fn write_to(&self, mut out: impl Write) {
        loop {
            let lines = self.take();
            let _ = out.write_all(&lines).and_then(|()| out.flush());
            let dropped = self.written();
            if dropped > 0 {
                tracing::warn!(dropped, "lines of the log were dropped: it was not read");
            }
        }
    }

    fn take(&self) -> Vec<u8> {
        let mut waiting = self.lock();
        while waiting.bytes.is_empty() {
            waiting = unpoisoned(self.changed.wait(waiting));
        }
        waiting.is_writing = true;
        std::mem::take(&mut waiting.bytes)
    }

    /// Returns dropped lines, once they can be reported.
    fn written(&self) -> u64 {
        let mut waiting = self.lock();
        waiting.is_writing = false;
        self.changed.notify_all();
        if waiting.bytes.len() > WAITING_BYTES_MAX / 2 {
            return 0;
        }
        std::mem::take(&mut waiting.dropped)
    }

    fn flush(&self, max: Duration) {
        let until = Instant::now() + max;
        let mut waiting = self.lock();
        while waiting.is_writing || !waiting.bytes.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (waiting, _) = unpoisoned(self.changed.wait_timeout(waiting, left));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        unpoisoned(self.waiting.lock())
    }
}

/// A panic leaves the state consistent.
fn unpoisoned<T>(result: Result<T, PoisonError<T>>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

/// `tracing-subscriber` writes whole lines.
impl Write for &LogQueue {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.push(lines);
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// Blocks in each write until the test reads.
    struct Pipe(Sender<Vec<u8>>, Receiver<()>);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.1.recv();
            let _ = self.0.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_log_that_is_not_read_drops_and_counts_lines_without_waiting() {
        let log: &'static LogQueue = Box::leak(Box::default());
        let (sender, written) = channel();
        let (read, receiver) = channel();
        thread::spawn(|| log.write_to(Pipe(sender, receiver)));
        let line = [b'x'; 1 << 10];
        log.push(b"first\n");
        for _ in 0..5000 {
            log.push(&line);
        }
        let lost = log.lock().dropped;
        assert!((2900..4000).contains(&lost), "{lost}");
        assert!(log.lock().bytes.len() <= WAITING_BYTES_MAX);
        // The pipe is not read, so this waits for the maximum.
        log.flush(Duration::from_millis(10));
        drop(read);
        log.flush(Duration::from_secs(60));
        assert_eq!(log.lock().dropped, 0);
        let bytes: usize = written.try_iter().map(|lines| lines.len()).sum();
        assert_eq!(bytes, 6 + (5000 - lost as usize) * line.len());
    }
}
