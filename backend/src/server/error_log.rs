//! Logs ends of connections, rate limited.
//!
//! Port scanners, or incompatible frontends that reconnect, must not fill the disk. All errors are
//! counted (see [`Backend::serve`]); a line has the number suppressed before it.
//!
//! [`Backend::serve`]: super::Backend::serve

use super::connection::ConnectionError;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lines within [`WINDOW`].
const LINES_MAX: u32 = 10;

const WINDOW: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct ErrorLog(Mutex<RateLimit>);

#[derive(Debug, Default)]
struct RateLimit {
    since: Option<Instant>,
    lines: u32,
    /// Errors not logged since the last line.
    suppressed: u64,
}

impl ErrorLog {
    pub(super) fn log(&self, peer: SocketAddr, error: &ConnectionError) {
        if error.label().is_none() {
            tracing::debug!(%peer, %error, "connection ended");
            return;
        }
        let mut limit = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = limit.line(Instant::now());
        drop(limit);
        if let Some(suppressed) = line {
            tracing::info!(%peer, %error, suppressed, "connection ended");
        }
    }
}

impl RateLimit {
    /// Errors suppressed before this line; `None` over the limit.
    fn line(&mut self, now: Instant) -> Option<u64> {
        let is_over = |since: Instant| now.duration_since(since) >= WINDOW;
        if self.since.is_none_or(is_over) {
            (self.since, self.lines) = (Some(now), 0);
        }
        if self.lines >= LINES_MAX {
            self.suppressed += 1;
            return None;
        }
        self.lines += 1;
        Some(std::mem::take(&mut self.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_lines_and_counts_suppressed_errors() {
        let (start, mut limit) = (Instant::now(), RateLimit::default());
        let at = |second| start + Duration::from_secs(second);
        let few = (0..10).all(|second| limit.line(at(second)) == Some(0));
        assert!(few && (0..1000).all(|_| limit.line(at(30)).is_none()));
        assert_eq!(limit.line(at(60)), Some(1000));
        assert_eq!(limit.line(at(61)), Some(0));
    }
}
