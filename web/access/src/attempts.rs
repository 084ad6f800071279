//! Rate limit for keys tried in the form.
//!
//! Random keys cannot be guessed. The limit protects the log and the metrics from floods, and keys
//! chosen by hand.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Tries in a [`WINDOW`].
const TRIES_MAX: u32 = 10;

const WINDOW: Duration = Duration::from_secs(60);

/// The oldest is evicted.
const CLIENTS_MAX: usize = 4096;

/// Number and first time.
#[derive(Debug, Default)]
pub(super) struct Attempts(Mutex<HashMap<IpAddr, (u32, Instant)>>);

impl Attempts {
    /// The error is the retry delay in seconds.
    pub(super) fn begin(&self, client: IpAddr, now: Instant) -> Result<(), u64> {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|_, (_, first)| now.duration_since(*first) < WINDOW);
        if clients.len() >= CLIENTS_MAX && !clients.contains_key(&client) {
            let oldest = clients.iter().min_by_key(|(_, (_, first))| *first);
            let oldest = oldest.map(|(client, _)| *client);
            oldest.and_then(|oldest| clients.remove(&oldest));
        }
        let (tries, first) = clients.entry(client).or_insert((0, now));
        if *tries >= TRIES_MAX {
            let left = WINDOW.saturating_sub(now.duration_since(*first));
            return Err(left.as_secs() + 1);
        }
        *tries += 1;
        Ok(())
    }

    pub(super) fn forget(&self, client: IpAddr) {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.remove(&client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(number: u32) -> IpAddr {
        IpAddr::from(number.to_be_bytes())
    }

    #[test]
    fn a_client_may_try_a_few_keys_a_minute() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        for _ in 0..TRIES_MAX {
            assert_eq!(attempts.begin(client(1), start), Ok(()));
        }
        let later = start + Duration::from_secs(20);
        assert_eq!(attempts.begin(client(1), later), Err(41));
        assert_eq!(attempts.begin(client(2), later), Ok(()), "another client");
        assert_eq!(attempts.begin(client(1), start + WINDOW), Ok(()));
        for _ in 0..3 * TRIES_MAX {
            attempts.begin(client(3), start).unwrap();
            attempts.forget(client(3));
        }
    }

    #[test]
    fn a_bounded_number_of_clients_is_remembered() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        for number in 0..2 * CLIENTS_MAX as u32 {
            let now = start + Duration::from_micros(number.into());
            attempts.begin(client(number), now).unwrap();
        }
        assert_eq!(attempts.0.lock().unwrap().len(), CLIENTS_MAX);
    }
}
