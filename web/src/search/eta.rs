//! Estimate of the remaining time of a search.
//!
//! Blocks take about the same time, so the remaining time is proportional to the remaining blocks.
//! Pure: the caller passes the elapsed time.

use frontend::Progress;
use std::time::Duration;

/// Younger searches have no steady pace yet.
const ELAPSED_MIN: Duration = Duration::from_millis(200);

/// One block in this many must be done.
const SHARE_MIN: u64 = 20;

/// Weight of a new estimate.
const WEIGHT: f64 = 0.3;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Eta {
    /// Time and value.
    last: Option<(Duration, Duration)>,
}

impl Eta {
    /// `None` if it is too early to tell.
    pub(crate) fn left(&mut self, progress: &Progress) -> Option<Duration> {
        let (done, total) = (progress.blocks_done, progress.blocks_total);
        let ended = |bound: f32| bound == f32::NEG_INFINITY;
        let mut backends = progress.backends.iter();
        // A backend that has not planned yet may have any number of blocks.
        let is_known = backends.all(|each| each.blocks_total > 0 || ended(each.bound));
        let elapsed = progress.elapsed;
        if !is_known || elapsed < ELAPSED_MIN || done == 0 || done < total / SHARE_MIN {
            return None;
        }
        let fresh = elapsed.mul_f64(total.saturating_sub(done) as f64 / done as f64);
        let left = match self.last {
            None => fresh,
            Some((at, left)) => {
                let expected = left.saturating_sub(elapsed.saturating_sub(at));
                expected.mul_f64(1.0 - WEIGHT) + fresh.mul_f64(WEIGHT)
            }
        };
        self.last = Some((elapsed, left));
        Some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::BackendProgress;

    fn at(elapsed_ms: u64, blocks_done: u64, blocks_total: u64) -> Progress {
        let mut progress = Progress {
            elapsed: Duration::from_millis(elapsed_ms),
            ..Progress::default()
        };
        progress.add(BackendProgress {
            blocks_done,
            blocks_total,
            ..BackendProgress::default()
        });
        progress
    }

    fn check(eta: &mut Eta, progress: &Progress) -> Option<u128> {
        eta.left(progress).map(|left| left.as_millis())
    }

    #[test]
    fn gives_no_estimate_too_early() {
        let mut eta = Eta::default();
        assert_eq!(check(&mut eta, &at(0, 0, 0)), None);
        assert_eq!(check(&mut eta, &at(100, 50, 100)), None, "no pace yet");
        assert_eq!(check(&mut eta, &at(900, 4, 100)), None, "one in 25");
        let mut partly = at(1000, 50, 100);
        partly.add(BackendProgress::default());
        assert_eq!(check(&mut eta, &partly), None, "one has not planned yet");
        partly.backends[1].bound = f32::NEG_INFINITY;
        assert_eq!(check(&mut eta, &partly), Some(1000), "it had nothing to do");
    }

    #[test]
    fn is_exact_for_a_steady_search() {
        let mut eta = Eta::default();
        for done in 2..=10 {
            let left = check(&mut eta, &at(100 * done, done, 10)).unwrap();
            assert!(left.abs_diff(u128::from(1000 - 100 * done)) <= 1, "{left}");
        }
    }

    #[test]
    fn is_smoothed_and_never_negative() {
        let mut eta = Eta::default();
        assert_eq!(check(&mut eta, &at(1000, 50, 100)), Some(1000));
        // The search stalls: the estimate grows, but does not jump to the fresh one of 2 s.
        assert_eq!(check(&mut eta, &at(2000, 50, 100)), Some(600));
        // The last estimate has passed, and more blocks are done than were known.
        assert_eq!(check(&mut eta, &at(9000, 110, 100)), Some(0));
    }
}
