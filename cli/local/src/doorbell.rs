//! Doorbell of a tree: asks for all changes until now to be [published](crate::tree).
//!
//! The process watches a file, and a client opens it for reading: that can be done in a sandbox
//! without sockets and with a read-only home, too.
//!
//! ```text
//! file:  answers begun, answers ended, number of the last publication or 0 (u64 each),
//!        mapped by both sides
//! ```
//!
//! **Invariant:** the publication that [`ring`] returns has each change before the call, because an
//! answer began and ended after it.

use memmap2::{Mmap, MmapRaw};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

const BYTES: usize = 24;

const BEGUN: usize = 0;
const ENDED: usize = 1;
const PUBLICATION: usize = 2;

/// Longest wait for an answer. The process may be stopped; files are then compared.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// An answer takes some microseconds, or the time slice of another process.
const SPINS: u32 = 100;
const PAUSE: Duration = Duration::from_micros(50);

pub(crate) struct Doorbell(MmapRaw);

impl Doorbell {
    pub(crate) fn create(path: &Path) -> io::Result<Doorbell> {
        let mut options = File::options();
        let mut file = options.read(true).write(true).create_new(true).open(path)?;
        // On a full disk a store to a page that was never written would end the process.
        file.write_all(&[0; BYTES])?;
        Ok(Doorbell(MmapRaw::map_raw(&file)?))
    }

    /// Answers all rings until now with the number of a publication. If `publish` fails, they wait
    /// in vain.
    pub(crate) fn answer(&self, publish: impl FnOnce() -> io::Result<u64>) -> io::Result<()> {
        let begun = self.number(BEGUN).fetch_add(1, Ordering::SeqCst) + 1;
        self.number(PUBLICATION)
            .store(publish()?, Ordering::Relaxed);
        self.number(ENDED).store(begun, Ordering::Release);
        Ok(())
    }

    #[expect(unsafe_code)]
    fn number(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the map has three aligned numbers; only this process writes, by this function.
        unsafe { AtomicU64::from_ptr(self.0.as_mut_ptr().cast::<u64>().add(at)) }
    }
}

/// Rings, and waits for the answer: the number of a publication, or 0 if there is none.
///
/// # Errors
/// No such file, or no answer in time.
pub(crate) fn ring(path: &Path) -> io::Result<u64> {
    let numbers = Numbers::map(&File::open(path)?)?;
    let begun = numbers.load(BEGUN);
    // The first opening rang before `begun` was read.
    drop(File::open(path)?);
    let rang = Instant::now();
    for round in 0.. {
        if numbers.load(ENDED) > begun {
            return Ok(numbers.load(PUBLICATION));
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

struct Numbers(Mmap);

impl Numbers {
    #[expect(unsafe_code)]
    fn map(file: &File) -> io::Result<Numbers> {
        if file.metadata()?.len() != BYTES as u64 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // SAFETY: only read as atomic numbers, below. The file is of this user alone, and no
        // process of Trawl makes it shorter.
        Ok(Numbers(unsafe { Mmap::map(file)? }))
    }

    #[expect(unsafe_code)]
    fn load(&self, at: usize) -> u64 {
        let numbers = self.0.as_ptr().cast::<u64>().cast_mut();
        // SAFETY: three aligned numbers. Relaxed loads of this size may read memory that is mapped
        // read-only.
        let number = unsafe { AtomicU64::from_ptr(numbers.add(at)) }.load(Ordering::Relaxed);
        fence(Ordering::SeqCst);
        number
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
        bell.answer(|| Ok(7)).unwrap();
        assert_eq!(ring(&path).unwrap_err().kind(), io::ErrorKind::TimedOut);
        let client = thread::spawn({
            let path = path.clone();
            move || ring(&path)
        });
        let mut answers = 0;
        while !client.is_finished() {
            bell.answer(|| Ok(7)).unwrap();
            answers += 1;
            thread::yield_now();
        }
        assert!(answers > 0);
        assert_eq!(client.join().unwrap().unwrap(), 7);
        bell.answer(|| Err(io::Error::other("full"))).unwrap_err();
        std::fs::write(&path, "short").unwrap();
        assert_eq!(ring(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
