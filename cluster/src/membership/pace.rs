//! Back-off between attempts.

use std::time::Duration;

/// First pause after a failure, doubled up to the maximum.
const PAUSE_MIN: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    pub(super) fn succeed(&mut self) {
        self.failures = 0;
    }

    pub(super) fn fail(&mut self) -> Duration {
        let pause = PAUSE_MIN * (1 << self.failures.min(5));
        self.failures += 1;
        jittered(pause.min(PAUSE_MAX))
    }
}

/// Adds up to a quarter, so that processes started together spread out.
pub(super) fn jittered(time: Duration) -> Duration {
    time.mul_f64(1.0 + fastrand::f64() / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound_and_begin_again() {
        let mut backoff = Backoff::default();
        let pauses: Vec<Duration> = (0..40).map(|_| backoff.fail()).collect();
        assert!(pauses[0] < PAUSE_MIN * 2);
        assert!(pauses[39] >= PAUSE_MAX && pauses[39] <= PAUSE_MAX.mul_f64(1.25));
        backoff.succeed();
        assert!(backoff.fail() < PAUSE_MIN * 2);
    }
}
