//! Doorbell of a tree: asks for all changes until now to be [published](crate::tree).
//!
//! The process watches a file, and a client opens it for reading: that can be done in a sandbox
//! without sockets and with a read-only home, too.
//!
//! ```text
//! file:  answers begun (u64), answers ended (u64), mapped by both sides
//! ```
//!
//! **Invariant:** after [`ring`] each change before the call is published, because an answer began
//! and ended after it.

use memmap2::{Mmap, MmapRaw};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

const BYTES: usize = 16;

/// Longest wait for an answer. The process may be stopped; files are then compared.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// An answer takes some microseconds, or the time slice of another process.
const SPINS: u32 = 100;
const PAUSE: Duration = Duration::from_micros(50);

/// Side of the process.
pub(crate) struct Doorbell(MmapRaw);

impl Doorbell {
    /// Creates the file.
    pub(crate) fn create(path: &Path) -> io::Result<Doorbell> {
        let mut options = File::options();
        let file = options.read(true).write(true).create_new(true).open(path)?;
        file.set_len(BYTES as u64)?;
        Ok(Doorbell(MmapRaw::map_raw(&file)?))
    }

    /// Answers all rings until now. If `publish` fails, they wait in vain.
    pub(crate) fn answer(&self, publish: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let begun = self.count(0).fetch_add(1, Ordering::SeqCst) + 1;
        publish()?;
        self.count(1).store(begun, Ordering::Release);
        Ok(())
    }

    #[expect(unsafe_code)]
    fn count(&self, number: usize) -> &AtomicU64 {
        // SAFETY: the map has two aligned numbers, and only this process writes, by this function.
        unsafe { AtomicU64::from_ptr(self.0.as_mut_ptr().cast::<u64>().add(number)) }
    }
}

/// Rings, and waits for the answer.
///
/// # Errors
/// No such file, or no answer in time.
pub(crate) fn ring(path: &Path) -> io::Result<()> {
    let counts = Counts::map(&File::open(path)?)?;
    let begun = counts.load(0);
    // The first opening rang before `begun` was read.
    drop(File::open(path)?);
    let rang = Instant::now();
    for round in 0.. {
        if counts.load(1) > begun {
            return Ok(());
        }
        if round < SPINS {
            thread::yield_now();
            continue;
        }
        if rang.elapsed() > WAIT_MAX {
            break;
        }
        thread::sleep(PAUSE);
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// Side of a client.
struct Counts(Mmap);

impl Counts {
    #[expect(unsafe_code)]
    fn map(file: &File) -> io::Result<Counts> {
        if file.metadata()?.len() != BYTES as u64 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // SAFETY: only read as atomic numbers, below. The file is of this user alone, and no
        // process of Trawl makes it shorter.
        Ok(Counts(unsafe { Mmap::map(file)? }))
    }

    #[expect(unsafe_code)]
    fn load(&self, number: usize) -> u64 {
        let count = self.0.as_ptr().cast::<u64>().cast_mut();
        // SAFETY: two aligned numbers. Relaxed loads of this size may read memory that is mapped
        // read-only.
        let count = unsafe { AtomicU64::from_ptr(count.add(number)) }.load(Ordering::Relaxed);
        fence(Ordering::SeqCst);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_waits_for_an_answer_that_began_after_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bell");
        assert_eq!(ring(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        let bell = Doorbell::create(&path).unwrap();
        bell.answer(|| Ok(())).unwrap();
        assert_eq!(ring(&path).unwrap_err().kind(), io::ErrorKind::TimedOut);
        let client = thread::spawn({
            let path = path.clone();
            move || ring(&path)
        });
        let mut answers = 0;
        while !client.is_finished() {
            bell.answer(|| Ok(())).unwrap();
            answers += 1;
            thread::yield_now();
        }
        assert!(answers > 0);
        client.join().unwrap().unwrap();
        bell.answer(|| Err(io::Error::other("full"))).unwrap_err();
        std::fs::write(&path, "short").unwrap();
        assert_eq!(ring(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
