//! Returns freed memory to the system.
//!
//! glibc keeps free memory in up to eight heaps per processor, so a process stays large after a
//! burst of searches. A thread trims them every second after growth.

use std::thread;
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(1);

/// Growth that triggers a trim, which takes some milliseconds.
const GROWTH_BYTES: u64 = 16 << 20;

/// Starts the trimming thread, if possible.
pub(crate) fn give_back_in_thread() {
    let thread = thread::Builder::new().name("allocator".to_owned());
    if let Err(error) = thread.spawn(give_back) {
        tracing::warn!(%error, "no thread gives freed memory back to the system");
    }
}

fn give_back() {
    let mut least = u64::MAX;
    loop {
        thread::sleep(EVERY);
        let Some(bytes) = anonymous_bytes() else {
            return;
        };
        least = least.min(bytes);
        if bytes > least.saturating_add(GROWTH_BYTES) {
            trim();
            least = anonymous_bytes().unwrap_or(bytes);
        }
    }
}

fn anonymous_bytes() -> Option<u64> {
    anonymous(&std::fs::read_to_string("/proc/self/status").ok()?)
}

pub(crate) fn anonymous(status: &str) -> Option<u64> {
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib << 10)
}

#[cfg(target_env = "gnu")]
#[allow(unsafe_code)]
fn trim() {
    // SAFETY: it has no preconditions, and locks each heap in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(not(target_env = "gnu"))]
fn trim() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_env = "gnu")]
    fn freed_memory_is_given_back() {
        const BYTES: usize = 1 << 10;
        let used = thread::spawn(|| {
            let mut all: Vec<Box<[u8; BYTES]>> =
                (0..96 << 10).map(|_| Box::new([1; BYTES])).collect();
            // These prevent the heap from shrinking by itself.
            let kept: Vec<_> = all.drain(..).skip(500).step_by(1000).collect();
            let used = anonymous_bytes().unwrap();
            trim();
            (used, kept)
        });
        let (used, _kept) = used.join().unwrap();
        let left = anonymous_bytes().unwrap();
        assert!(left + (64 << 20) < used, "{used} {left}");
    }
}
