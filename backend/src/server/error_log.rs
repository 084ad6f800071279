//! What is logged of connections that end badly: each, while they are few.
//!
//! A port scanner, or a frontend of another version that comes back every second, must not fill a
//! disk with one line a connection. They are all counted (see [`Backend::serve`]); what is not
//! logged, the next line says how many it were.
//!
//! [`Backend::serve`]: super::Backend::serve

use super::connection::Error;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lines within [`WINDOW`], at most.
const LINES_MAX: u32 = 10;

/// The time after which lines are counted from 0 again.
const WINDOW: Duration = Duration::from_secs(60);

/// How many ends have been logged lately.
#[derive(Debug, Default)]
pub(super) struct ErrorLog(Mutex<RateWindow>);

#[derive(Debug, Default)]
struct RateWindow {
    since: Option<Instant>,
    lines: u32,
    /// Ends that nobody has read of yet.
    unsaid: u64,
}

impl ErrorLog {
    /// Logs why the connection of `peer` ended, if it is its turn.
    pub(super) fn log(&self, peer: SocketAddr, error: &Error) {
        if error.label().is_none() {
            tracing::debug!(%peer, %error, "connection ended");
            return;
        }
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = window.line(Instant::now());
        drop(window);
        if let Some(unsaid) = line {
            tracing::info!(%peer, %error, unsaid, "connection ended");
        }
    }
}

impl RateWindow {
    /// Whether there is to be a line at `now`, and if so, how many there were not before it.
    fn line(&mut self, now: Instant) -> Option<u64> {
        let is_over = |since: Instant| now.duration_since(since) >= WINDOW;
        if self.since.is_none_or(is_over) {
            (self.since, self.lines) = (Some(now), 0);
        }
        if self.lines >= LINES_MAX {
            self.unsaid += 1;
            return None;
        }
        self.lines += 1;
        Some(std::mem::take(&mut self.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_each_while_they_are_few_and_a_sum_afterwards() {
        let (start, mut window) = (Instant::now(), RateWindow::default());
        let at = |second| start + Duration::from_secs(second);
        let few = (0..10).all(|second| window.line(at(second)) == Some(0));
        assert!(few && (0..1000).all(|_| window.line(at(30)).is_none()));
        assert_eq!(window.line(at(60)), Some(1000));
        assert_eq!(window.line(at(61)), Some(0));
    }
}
