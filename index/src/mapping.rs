//! Files mapped for reading, so that a file that loses its bytes does not take the process with it.
//!
//! To touch a page of a mapping that its file no longer has, or that the disk does not deliver, is
//! SIGBUS, which ends a process past any `catch_unwind`. A [`Mapping`] survives it: a handler, set up
//! with the first mapping, looks up which mapping the address is in, notes the offset, and puts
//! zeros in the place of the rest of the file. So what has been read counts only when
//! [`Mapping::damage`], asked *afterwards*, knows of nothing. It looks at the file's length and its
//! time of modification too: of a file that is cut within a page the rest of that page becomes zeros
//! without a signal, and a file may be cut and written anew in between.
//!
//! This is the only module with `unsafe`. A mapping is a `&[u8]`, which must not change while it is
//! borrowed.
//! **Invariant:** Trawl never writes to a shard after it has its name; it writes to a temporary
//! file, syncs, and renames. What somebody else does to it can make what is read wrong, and is
//! noticed as said; a write through another mapping, or one that puts the time of modification back,
//! is not.

use memmap2::Mmap;
use std::fs::{File, Metadata};
use std::io;
use std::ops::{Deref, Range};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Files that may be mapped at once. An index has a shard for some gigabytes of text and a handful of
/// small ones; 128 KiB of registry are enough for a few thousand of them.
pub const MAPPINGS_MAX: usize = 4096;

/// A file, mapped.
pub struct Mapping {
    map: Mmap,
    file: File,
    /// What the file was when it was mapped.
    stamp: Stamp,
    slot: &'static Slot,
}

/// What has happened to a mapped file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It was cut, or the disk has failed: at least the bytes from here on are lost.
    Lost {
        /// In bytes from the file's start.
        offset: u64,
    },
    /// It was written to.
    Written,
}

impl Mapping {
    /// Maps a file, which must not be empty. At most [`MAPPINGS_MAX`] are mapped at once.
    pub fn new(file: File) -> io::Result<Mapping> {
        Mapping::beyond_end(file, 0)
    }

    /// Maps a file and `more` bytes behind its end, where nothing is.
    fn beyond_end(file: File, more: usize) -> io::Result<Mapping> {
        let stamp = Stamp::of(&file.metadata()?);
        let bytes = usize::try_from(stamp.bytes).map_err(io::Error::other)? + more;
        // SAFETY: see the module: who has written the file does not change it, and when somebody
        // else does, only bytes are read of it, any of which is valid.
        #[allow(unsafe_code)]
        let map = unsafe { memmap2::MmapOptions::new().len(bytes).map(&file)? };
        let start = map.as_ptr() as usize;
        Ok(Mapping {
            slot: register(start..start + bytes)?,
            map,
            file,
            stamp,
        })
    }

    /// What has happened to the file since it was mapped. After `None`, every byte that was read
    /// before the call was the file's.
    pub fn damage(&self) -> Option<Damage> {
        // What was read is older than what is now looked at.
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

    /// Fills `buffer` with the file's bytes from `offset` on, without touching the mapping.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
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
        // While the addresses are still taken: no other mapping can have them yet.
        let _registry = lock();
        self.slot.set(0..0);
    }
}

/// Tells a file that was written to from one that was not.
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

/// Where a file is mapped, for the handler. It changes only under [`REGISTRY`]'s lock.
///
/// **Invariant:** whoever faults in a mapping has borrowed it, so its slot does not change
/// meanwhile; others may, which `version` shows.
struct Slot {
    /// Odd while it is being changed.
    version: AtomicUsize,
    start: AtomicUsize,
    /// 0 when nothing is mapped.
    end: AtomicUsize,
    /// Offset of the lost byte that was noticed first, or [`NOTHING`].
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

    /// The addresses, unless they are changing.
    fn addresses(&self) -> Option<Range<usize>> {
        let version = self.version.load(Ordering::Acquire);
        let addresses = self.start.load(Ordering::Relaxed)..self.end.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let same = self.version.load(Ordering::Relaxed) == version;
        (same && version.is_multiple_of(2)).then_some(addresses)
    }

    /// Notes a lost byte, if none has been noted.
    fn note(&self, offset: usize) {
        let (first, order) = (NOTHING, Ordering::Relaxed);
        let _ = self.lost.compare_exchange(first, offset, order, order);
    }
}

static SLOTS: [Slot; MAPPINGS_MAX] = [const { Slot::new() }; MAPPINGS_MAX];

/// The right to change slots; whether the handler is in place.
static REGISTRY: Mutex<bool> = Mutex::new(false);

fn lock() -> std::sync::MutexGuard<'static, bool> {
    // Slots are changed by stores alone, which do not panic.
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
        io::Error::other(format!("{MAPPINGS_MAX} shards are open, which is the most"))
    })?;
    slot.set(addresses);
    Ok(slot)
}

/// What runs in the midst of a faulting instruction: loads, stores and system calls alone.
#[allow(unsafe_code)]
mod handler {
    use super::*;
    use std::mem::MaybeUninit;
    use std::ptr;

    /// What SIGBUS did before.
    static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();
    static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

    pub(super) fn install() -> io::Result<()> {
        // SAFETY: it only looks a number up.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page_bytes = usize::try_from(page_bytes).map_err(io::Error::other)?;
        PAGE_BYTES.store(page_bytes, Ordering::Relaxed);
        let mut previous = MaybeUninit::zeroed();
        // SAFETY: all zeros is a `sigaction`, and the call fills it in; it changes nothing yet.
        let previous = unsafe {
            check(libc::sigaction(
                libc::SIGBUS,
                ptr::null(),
                previous.as_mut_ptr(),
            ))?;
            previous.assume_init()
        };
        PREVIOUS.get_or_init(|| previous);
        // SAFETY: all zeros is an action: the default one, with an empty mask.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = on_sigbus as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the action is whole, and its handler is one for SA_SIGINFO.
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
        // SAFETY: with SA_SIGINFO the kernel passes one, and for SIGBUS it has an address.
        let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
        // Only the kernel's own codes are above 0: others are sent by processes.
        let is_fault = code > 0;
        if is_fault && give_zeros(address) {
            return;
        }
        // Not ours. Whoever had the signal before gets it: a fault comes again by itself.
        // SAFETY: both calls may be made in a handler; the action is the kernel's own.
        unsafe {
            if let Some(previous) = PREVIOUS.get() {
                libc::sigaction(signal, previous, ptr::null_mut());
            }
            if !is_fault {
                libc::raise(signal);
            }
        }
    }

    /// Puts zeros in the place of a mapping from the page of `address` on, and notes it; false when
    /// no mapping holds it. All that follows goes too: it is not to be trusted either, and
    /// page after page would be a kernel's mapping each.
    fn give_zeros(address: usize) -> bool {
        let found = SLOTS.iter().find_map(|slot| {
            let addresses = slot.addresses()?;
            addresses.contains(&address).then_some((slot, addresses))
        });
        let Some((slot, addresses)) = found else {
            return false;
        };
        let page = address & !(PAGE_BYTES.load(Ordering::Relaxed).wrapping_sub(1));
        // Before the zeros can be seen.
        slot.note(page.wrapping_sub(addresses.start));
        fence(Ordering::SeqCst);
        // SAFETY: the pages are those of a mapping of ours, which is borrowed by the thread that
        // faulted, so it is not unmapped meanwhile; mappings begin at a page. `mmap` is a bare
        // system call: it takes no lock, and sets `errno` only when it fails.
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

    /// A page, and more than any page there is.
    const PAGE: usize = 4096;
    const BYTES: usize = 64 * PAGE;

    /// A file of ones, last modified a minute ago, and where it is.
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
    fn an_intact_file_is_intact() {
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
    fn a_cut_file_reads_as_zeros_and_says_so() {
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

    /// What is lost stays lost, though the file is as it was.
    #[test]
    fn a_cut_file_that_grows_again_stays_damaged() {
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
    fn a_file_that_was_written_to_says_so() {
        let there = tempfile::tempdir().unwrap();
        let (file, path) = ones(&there);
        let mapping = Mapping::new(file).unwrap();
        let mut writer = File::options().write(true).open(&path).unwrap();
        writer.write_all(&[2]).unwrap();
        assert_eq!(mapping.damage(), Some(Damage::Written));
    }

    /// A page that the file should have and that does not come: as when a disk fails, the file's
    /// length and time say nothing of it.
    #[test]
    fn a_page_that_does_not_come_reads_as_zeros() {
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

    /// Files are cut under many readers, while other mappings come and go.
    #[test]
    fn readers_survive_whatever_comes_and_goes_beside_them() {
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
