//! Read-only file mappings that survive the loss of file bytes.
//!
//! Touching a lost page raises SIGBUS, which ends a process; `catch_unwind` does not help. The
//! handler of a [`Mapping`] records the offset and maps zeros over the rest. Bytes are valid only
//! if [`Mapping::damage`], called *afterwards*, finds nothing. It also compares length and
//! modification time, since truncation inside a page raises no signal.
//!
//! The only module of this crate with `unsafe`, apart from one test.
//! **Invariant:** Trawl never writes to a shard once it has its name. Changes by others are
//! detected, except a write through another mapping or one that restores the modification time.

use memmap2::{Advice, Mmap};
use rustix::fs::fadvise;
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use std::fs::{File, Metadata};
use std::io::{self, IoSliceMut};
use std::num::NonZeroU64;
use std::ops::{Deref, Range};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Files mapped at once: an index has one shard per some gigabytes of text, and few small ones. The
/// registry takes 128 KiB.
pub const MAPPINGS_MAX: usize = 4096;

pub struct Mapping {
    map: Mmap,
    file: File,
    stamp: Stamp,
    slot: &'static Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Truncated or unreadable from `offset` on.
    Lost {
        offset: u64,
    },
    Written,
}

impl Mapping {
    /// Maps a nonempty file, at most [`MAPPINGS_MAX`] at once.
    pub fn new(file: File) -> io::Result<Mapping> {
        Mapping::beyond_end(file, 0)
    }

    /// `more`: bytes past the end; touching them faults.
    fn beyond_end(file: File, more: usize) -> io::Result<Mapping> {
        let stamp = Stamp::of(&file.metadata()?);
        let bytes = usize::try_from(stamp.bytes).map_err(io::Error::other)? + more;
        // SAFETY: Trawl does not change the file. Under changes by others, any byte value is valid.
        #[allow(unsafe_code)]
        let map = unsafe { memmap2::MmapOptions::new().len(bytes).map(&file)? };
        // A fault then reads one page, not megabytes. Failure only costs time.
        let _ = map.advise(Advice::Random);
        let start = map.as_ptr() as usize;
        Ok(Mapping {
            slot: register(start..start + bytes)?,
            map,
            file,
            stamp,
        })
    }

    /// Damage since mapping. After `None`, all earlier reads are correct.
    pub fn damage(&self) -> Option<Damage> {
        // Orders earlier reads of the mapping.
        fence(Ordering::Acquire);
        let lost = self.slot.lost.load(Ordering::Relaxed);
        let now = self.file.metadata().map(|metadata| Stamp::of(&metadata));
        let bytes = now.as_ref().map_or(0, |now| now.bytes);
        if lost != NOTHING || bytes < self.stamp.bytes {
            let offset = bytes.min(lost as u64);
            self.slot.note(offset as usize);
            return Some(Damage::Lost { offset });
        }
        (now.ok() != Some(self.stamp)).then_some(Damage::Written)
    }

    /// Does not touch the mapping.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    /// Does not wait.
    pub fn will_need(&self, range: Range<u64>) {
        if let Some(bytes) = NonZeroU64::new(range.end.saturating_sub(range.start)) {
            let advice = rustix::fs::Advice::WillNeed;
            let _ = fadvise(&self.file, range.start, Some(bytes), advice);
        }
    }

    /// `None` if unknown.
    pub fn is_cached(&self, offset: u64) -> Option<bool> {
        let mut byte = [0];
        let buffers = &mut [IoSliceMut::new(&mut byte)];
        let read = preadv2(&self.file, buffers, offset, ReadWriteFlags::NOWAIT);
        match read {
            Ok(_) => Some(true),
            Err(Errno::AGAIN) => Some(false),
            Err(_) => None,
        }
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // Still mapped, so not reused yet.
        let _registry = lock();
        self.slot.set(0..0);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp {
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

/// Addresses for the handler, changed under the lock of [`REGISTRY`].
/// **Invariant:** a thread that faults in a mapping borrows it, so its slot is stable. Others may
/// change; `version` detects that.
struct Slot {
    /// Odd during a change.
    version: AtomicUsize,
    start: AtomicUsize,
    /// 0 if free.
    end: AtomicUsize,
    /// First lost offset, or [`NOTHING`].
    lost: AtomicUsize,
}

const NOTHING: usize = usize::MAX;

impl Slot {
    const fn new() -> Slot {
        Slot {
            version: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            lost: AtomicUsize::new(NOTHING),
        }
    }

    fn is_free(&self) -> bool {
        self.end.load(Ordering::Relaxed) == 0
    }

    fn set(&self, addresses: Range<usize>) {
        let version = self.version.load(Ordering::Relaxed);
        self.version
            .store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.start.store(addresses.start, Ordering::Relaxed);
        self.end.store(addresses.end, Ordering::Relaxed);
        self.lost.store(NOTHING, Ordering::Relaxed);
        self.version
            .store(version.wrapping_add(2), Ordering::Release);
    }

    fn addresses(&self) -> Option<Range<usize>> {
        let version = self.version.load(Ordering::Acquire);
        let addresses = self.start.load(Ordering::Relaxed)..self.end.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let same = self.version.load(Ordering::Relaxed) == version;
        (same && version.is_multiple_of(2)).then_some(addresses)
    }

    fn note(&self, offset: usize) {
        let (first, order) = (NOTHING, Ordering::Relaxed);
        let _ = self.lost.compare_exchange(first, offset, order, order);
    }
}

static SLOTS: [Slot; MAPPINGS_MAX] = [const { Slot::new() }; MAPPINGS_MAX];

/// Lock for slots. The flag: handler installed.
static REGISTRY: Mutex<bool> = Mutex::new(false);

fn lock() -> std::sync::MutexGuard<'static, bool> {
    // Only stores run under the lock.
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn register(addresses: Range<usize>) -> io::Result<&'static Slot> {
    let mut has_handler = lock();
    if !*has_handler {
        handler::install()?;
        *has_handler = true;
    }
    let free = SLOTS.iter().find(|slot| slot.is_free());
    let slot = free.ok_or_else(|| {
        io::Error::other(format!(
            "{MAPPINGS_MAX} shards are open, which is the limit"
        ))
    })?;
    slot.set(addresses);
    Ok(slot)
}

/// Signal handler: it interrupts a faulting instruction, so only loads, stores and system calls.
#[allow(unsafe_code)]
mod handler {
    use super::*;
    use std::mem::MaybeUninit;
    use std::ptr;

    static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();
    static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

    pub(super) fn install() -> io::Result<()> {
        // SAFETY: `sysconf` only returns a number.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page_bytes = usize::try_from(page_bytes).map_err(io::Error::other)?;
        PAGE_BYTES.store(page_bytes, Ordering::Relaxed);
        let mut previous = MaybeUninit::zeroed();
        // SAFETY: all zeros is valid; the call only fills it in.
        let previous = unsafe {
            check(libc::sigaction(
                libc::SIGBUS,
                ptr::null(),
                previous.as_mut_ptr(),
            ))?;
            previous.assume_init()
        };
        PREVIOUS.get_or_init(|| previous);
        // SAFETY: all zeros is the default action with an empty mask.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = on_sigbus as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: initialised, with the signature for SA_SIGINFO.
        check(unsafe { libc::sigaction(libc::SIGBUS, &action, ptr::null_mut()) })
    }

    fn check(result: libc::c_int) -> io::Result<()> {
        match result {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    extern "C" fn on_sigbus(
        signal: libc::c_int,
        info: *mut libc::siginfo_t,
        _context: *mut libc::c_void,
    ) {
        // SAFETY: SA_SIGINFO passes `info`; SIGBUS has an address.
        let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
        // Positive codes come from the kernel.
        let is_fault = code > 0;
        if is_fault && map_zeros(address) {
            return;
        }
        // Not a fault in a mapping: restore the previous action. A fault repeats by itself.
        // SAFETY: both calls are allowed in a handler; the action came from the kernel.
        unsafe {
            if let Some(previous) = PREVIOUS.get() {
                libc::sigaction(signal, previous, ptr::null_mut());
            }
            if !is_fault {
                libc::raise(signal);
            }
        }
    }

    /// Maps zeros from the page of `address` on; false if no mapping has it. Later pages are lost
    /// too: one by one, each would cost a kernel mapping.
    fn map_zeros(address: usize) -> bool {
        let found = SLOTS.iter().find_map(|slot| {
            let addresses = slot.addresses()?;
            addresses.contains(&address).then_some((slot, addresses))
        });
        let Some((slot, addresses)) = found else {
            return false;
        };
        let page = address & !(PAGE_BYTES.load(Ordering::Relaxed).wrapping_sub(1));
        // Before the zeros are visible.
        slot.note(page.wrapping_sub(addresses.start));
        fence(Ordering::SeqCst);
        // SAFETY: the faulting thread borrows the mapping, so it stays mapped; mappings begin at a
        // page. `mmap` takes no lock.
        let zeros = unsafe {
            libc::mmap(
                page as *mut libc::c_void,
                addresses.end.wrapping_sub(page),
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        zeros != libc::MAP_FAILED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::path::PathBuf;
    use std::sync::atomic::AtomicBool;
    use std::thread;
    use std::time::{Duration, SystemTime};

    const PAGE: usize = 4096;
    const BYTES: usize = 64 * PAGE;

    #[test]
    fn advice_for_bytes_that_are_not_there_changes_nothing() {
        let there = tempfile::tempdir().unwrap();
        let mapping = Mapping::new(ones(&there).0).unwrap();
        let end = BYTES as u64;
        #[allow(clippy::reversed_empty_ranges)]
        let ranges = [
            0..end,
            end - 1..end + 9,
            end * 9..end * 10,
            7..7,
            9..3,
            0..u64::MAX,
        ];
        for range in ranges {
            mapping.will_need(range);
        }
        assert_eq!(
            mapping.is_cached(end * 9),
            Some(true),
            "there is nothing to wait for"
        );
        assert_eq!((&mapping[..], mapping.damage()), (&[1; BYTES][..], None));
    }

    /// Ones, last modified a minute ago.
    fn ones(there: &tempfile::TempDir) -> (File, PathBuf) {
        let path = there.path().join("ones");
        fs::write(&path, [1; BYTES]).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let before = SystemTime::now() - Duration::from_secs(60);
        file.set_modified(before).unwrap();
        (file, path)
    }

    fn sum(bytes: &[u8]) -> usize {
        bytes.iter().map(|&byte| usize::from(byte)).sum()
    }

    #[test]
    fn an_unchanged_file_is_intact() {
        let there = tempfile::tempdir().unwrap();
        let (file, path) = ones(&there);
        let mapping = Mapping::new(file).unwrap();
        assert_eq!(sum(&mapping), BYTES);
        assert_eq!(mapping.damage(), None);
        fs::rename(&path, there.path().join("renamed")).unwrap();
        fs::remove_file(there.path().join("renamed")).unwrap();
        assert_eq!((sum(&mapping), mapping.damage()), (BYTES, None));
    }

    #[test]
    fn a_truncated_file_reads_as_zeros_and_is_damaged() {
        for cut in [0, 1, PAGE - 1, PAGE, 3 * PAGE + 7, BYTES - 1] {
            let there = tempfile::tempdir().unwrap();
            let (file, path) = ones(&there);
            let mapping = Mapping::new(file).unwrap();
            let writer = File::options().write(true).open(&path).unwrap();
            writer.set_len(cut as u64).unwrap();
            assert_eq!(sum(&mapping), cut);
            let lost = Some(Damage::Lost { offset: cut as u64 });
            assert_eq!(mapping.damage(), lost);
        }
    }

    #[test]
    fn a_truncated_file_that_grows_again_stays_damaged() {
        let there = tempfile::tempdir().unwrap();
        let (file, path) = ones(&there);
        let modified = file.metadata().unwrap().modified().unwrap();
        let mapping = Mapping::new(file).unwrap();
        let mut writer = File::options().write(true).open(&path).unwrap();
        writer.set_len(0).unwrap();
        assert_eq!(mapping[5 * PAGE + 1], 0);
        writer.write_all(&[1; BYTES]).unwrap();
        writer.set_modified(modified).unwrap();
        assert_eq!(
            mapping.damage(),
            Some(Damage::Lost {
                offset: 5 * PAGE as u64
            })
        );
    }

    #[test]
    fn a_file_that_was_written_to_is_damaged() {
        let there = tempfile::tempdir().unwrap();
        let (file, path) = ones(&there);
        let mapping = Mapping::new(file).unwrap();
        let mut writer = File::options().write(true).open(&path).unwrap();
        writer.write_all(&[2]).unwrap();
        assert_eq!(mapping.damage(), Some(Damage::Written));
    }

    /// A bad page changes neither length nor time.
    #[test]
    fn an_unreadable_page_reads_as_zeros() {
        let there = tempfile::tempdir().unwrap();
        let (file, _) = ones(&there);
        let mapping = Mapping::beyond_end(file, 8 * PAGE).unwrap();
        assert_eq!((sum(&mapping[..BYTES]), mapping.damage()), (BYTES, None));
        let beyond = BYTES + PAGE;
        assert_eq!(mapping[beyond + 17], 0);
        let lost = mapping.slot.lost.load(Ordering::Relaxed);
        assert_eq!(lost, beyond);
        assert!(matches!(mapping.damage(), Some(Damage::Lost { .. })));
    }

    #[test]
    fn readers_survive_truncation_while_other_mappings_change() {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let there = tempfile::tempdir().unwrap();
                while !over.load(Ordering::Relaxed) {
                    let mapping = Mapping::new(ones(&there).0).unwrap();
                    assert_eq!((sum(&mapping[..2]), mapping.damage()), (2, None));
                }
            });
            for _ in 0..50 {
                let there = tempfile::tempdir().unwrap();
                let (file, path) = ones(&there);
                let mapping = Mapping::new(file).unwrap();
                thread::scope(|scope| {
                    for _ in 0..3 {
                        scope.spawn(|| {
                            let (sum, damage) = (sum(&mapping), mapping.damage());
                            assert!(sum == BYTES || damage.is_some(), "{sum}");
                        });
                    }
                    let writer = File::options().write(true).open(&path).unwrap();
                    writer.set_len(PAGE as u64).unwrap();
                });
                assert_eq!(sum(&mapping), PAGE);
            }
            over.store(true, Ordering::Relaxed);
        });
    }
}
