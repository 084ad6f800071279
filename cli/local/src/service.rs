//! The index process of a user: keeps the indexes current, and publishes changes at each ring of a
//! [doorbell](crate::doorbell). Its socket is for offers of trees and for `trawl local`.
//!
//! **Invariant:** what is not current is withdrawn, and a process that fails answers no ring.

use crate::cache;
use crate::connection::is_own;
use crate::message::{self, Request};
use crate::mounts;
use crate::place::{self, Place};
use crate::tree::Tree;
use anyhow::{Context, Result, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FlockOperation;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Ends without a search for this time.
const IDLE_MAX: Duration = Duration::from_secs(30 * 60);

/// Trees that are watched, each with an inotify instance (128 a user).
const TREES_MAX: usize = 16;

/// Requests at one time; more are not answered.
const CONNECTIONS_MAX: usize = 64;

/// Time for a request to arrive and for its answer to leave.
const SOCKET_TIMEOUT: Duration = Duration::from_secs(2);

/// The share of the user's watches that this process takes, and the limit if none is readable.
const WATCHES_SHARE: usize = 2;
const WATCHES_MAX: usize = 4_096;

/// Environment variable with another limit of watched directories of a tree.
const WATCHES_VARIABLE: &str = "TRAWL_LOCAL_WATCHES";

/// Pauses between looks at the notifications and at the trees that are due.
const DRAIN_PAUSE: Duration = Duration::from_millis(20);
const DUE_PAUSE: Duration = Duration::from_millis(250);
const QUIET: Timespec = Timespec {
    tv_sec: 10,
    tv_nsec: 0,
};
const POLL_MAX: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// Rings in a read; each tree has one at a time.
const RINGS_BYTES: usize = 4 << 10;

/// A client holds the lock for a moment.
const LOCK_ATTEMPTS: u32 = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Local file systems that notify of each change, by `f_type`.
const NOTIFYING: [u64; 9] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0x0102_1994, // tmpfs
    0xf2f5_2010, // F2FS
    0x794c_7630, // overlayfs
    0x2fc1_2fc1, // ZFS
    0xca45_1a4e, // bcachefs
    0x8584_58f6, // ramfs
];

struct Service {
    place: Place,
    mounts: Mutex<File>,
    trees: Mutex<Vec<Arc<Tree>>>,
    /// Watches the doorbells of the trees.
    bells: OwnedFd,
    ringing: Mutex<HashMap<i32, Arc<Tree>>>,
    connections: AtomicUsize,
    updates: Mutex<()>,
    /// Directories of trees whose index alone is beyond the limit.
    too_large: Mutex<HashSet<PathBuf>>,
    asked: Mutex<Instant>,
    watches_max: usize,
}

/// Serves until idle. Returns at once if another process of this build does.
pub(crate) fn run(place: Place, root: Option<&Path>) -> Result<()> {
    // Fails for the leader of a group: then it has no terminal to lose.
    let _ = rustix::process::setsid();
    place.create()?;
    let lock = File::create(place.lock()).context("cannot create the lock")?;
    if !try_lock(&lock) {
        return Ok(());
    }
    let socket = place.socket();
    let aside = socket.with_extension("new");
    let _ = fs::remove_file(&aside);
    let listener = UnixListener::bind(&aside).context("cannot listen")?;
    let service = Arc::new(Service {
        mounts: Mutex::new(mounts::open()?),
        trees: Mutex::default(),
        bells: inotify::init(CreateFlags::CLOEXEC)?,
        ringing: Mutex::default(),
        connections: AtomicUsize::new(0),
        updates: Mutex::default(),
        too_large: Mutex::default(),
        asked: Mutex::new(Instant::now()),
        watches_max: watches_max(),
        place,
    });
    fs::rename(&aside, &socket).context("cannot listen")?;
    if let Some(root) = root {
        // The process is useful without this tree.
        let _ = service.offer(root);
    }
    let tasks = [
        Service::drain_always,
        Service::update_always,
        Service::answer_always,
    ];
    for task in tasks {
        let service = Arc::clone(&service);
        thread::spawn(move || task(&service));
    }
    service.serve(&listener)
}

impl Service {
    fn serve(self: &Arc<Self>, listener: &UnixListener) -> Result<()> {
        loop {
            let mut ready = [PollFd::new(listener, PollFlags::IN)];
            let count = poll(&mut ready, Some(&QUIET)).unwrap_or(0);
            if count == 0 {
                self.end_if_unused();
                continue;
            }
            let Ok((stream, _)) = listener.accept() else {
                thread::sleep(DRAIN_PAUSE);
                continue;
            };
            if self.connections.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
                self.connections.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let service = Arc::clone(self);
            thread::spawn(move || {
                // A client that is gone needs no answer.
                let _ = service.answer(stream);
                service.connections.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }

    /// Ends if idle, without a tree, or if its socket is gone.
    fn end_if_unused(&self) {
        let is_idle = lock(&self.asked).elapsed() > IDLE_MAX;
        if is_idle || self.trees().is_empty() || !self.place.socket().exists() {
            self.end();
        }
    }

    fn end(&self) -> ! {
        let _ = fs::remove_file(self.place.socket());
        self.trees().iter().for_each(|tree| tree.end());
        process::exit(0)
    }

    fn answer(&self, mut stream: UnixStream) -> io::Result<()> {
        if !is_own(&stream) {
            return Ok(());
        }
        stream.set_read_timeout(Some(SOCKET_TIMEOUT))?;
        stream.set_write_timeout(Some(SOCKET_TIMEOUT))?;
        loop {
            let request = Request::read(&mut stream)?;
            *lock(&self.asked) = Instant::now();
            let reply = match &request {
                Request::Offer { root } => match self.offer(Path::new(OsStr::from_bytes(root))) {
                    Ok(()) => String::new(),
                    Err(error) => format!("{error:#}"),
                },
                Request::Status => self.status(),
                Request::Update => {
                    self.trees().iter().for_each(|tree| self.update(tree));
                    self.status()
                }
                Request::Evict => {
                    lock(&self.too_large).clear();
                    self.evict();
                    String::new()
                }
                Request::Stop => String::new(),
            };
            message::write(reply.as_bytes(), &mut stream)?;
            if request == Request::Stop {
                self.end();
            }
        }
    }

    /// Publishes the changes of each tree that is rung for.
    fn answer_always(&self) {
        let mut buffer = [const { MaybeUninit::uninit() }; RINGS_BYTES];
        let mut rings = Reader::new(&self.bells, &mut buffer);
        loop {
            let Ok(event) = rings.next() else {
                thread::sleep(DRAIN_PAUSE);
                continue;
            };
            let mut ringing = lock(&self.ringing);
            if event.events().contains(ReadFlags::IGNORED) {
                ringing.remove(&event.wd());
                continue;
            }
            let tree = ringing.get(&event.wd()).cloned();
            drop(ringing);
            if let Some(tree) = tree {
                *lock(&self.asked) = Instant::now();
                tree.answer(|| self.check_mounts());
            }
        }
    }

    /// Adds a tree, to be indexed behind.
    fn offer(&self, root: &Path) -> Result<()> {
        let root = &fs::canonicalize(root)?;
        let shown = root.display();
        ensure!(
            !place::is_too_wide(root),
            "{shown} is too wide for an index"
        );
        ensure!(
            !lock(&self.too_large).contains(&self.place.directory_of(root)),
            "the index of {shown} is beyond the limit"
        );
        let kind = rustix::fs::statfs(root)?.f_type as u64;
        ensure!(
            NOTIFYING.contains(&kind),
            "the file system of {shown} does not notify of all changes"
        );
        let mut trees = lock(&self.trees);
        if trees.iter().any(|tree| tree.root == *root) {
            return Ok(());
        }
        let tree = Arc::new(Tree::new(root, &self.place, self.watches_max)?);
        tree.check_mounts(&mut lock(&self.mounts));
        let number = inotify::add_watch(&self.bells, tree.bell(), WatchFlags::OPEN)?;
        lock(&self.ringing).insert(number, Arc::clone(&tree));
        if trees.len() == TREES_MAX {
            trees.sort_by_key(|tree| tree.asked());
            self.end_tree(&trees.remove(0));
        }
        trees.push(tree);
        Ok(())
    }

    fn remove(&self, is_removed: impl Fn(&Tree) -> bool) {
        for tree in lock(&self.trees).extract_if(.., |tree| is_removed(tree)) {
            self.end_tree(&tree);
        }
    }

    fn end_tree(&self, tree: &Arc<Tree>) {
        tree.end();
        lock(&self.ringing).retain(|_, other| !Arc::ptr_eq(other, tree));
    }

    fn check_mounts(&self) {
        let trees = self.trees();
        let mut table = lock(&self.mounts);
        let mut ready = [PollFd::new(&*table, PollFlags::PRI)];
        let changed = poll(&mut ready, Some(&Timespec::default()));
        if changed.is_ok_and(|count| count == 0) {
            return;
        }
        trees.iter().for_each(|tree| tree.check_mounts(&mut table));
    }

    fn drain_always(&self) {
        loop {
            let trees = self.trees();
            let descriptors = trees.iter().map(|tree| tree.descriptor());
            let descriptors: Vec<_> = descriptors.filter_map(Result::ok).collect();
            let watched = descriptors.iter().map(AsFd::as_fd);
            let watched = watched.map(|watch| PollFd::from_borrowed_fd(watch, PollFlags::IN));
            let mut watched: Vec<PollFd<'_>> = watched.collect();
            let _ = poll(&mut watched, Some(&POLL_MAX));
            trees.iter().for_each(|tree| tree.drain());
            thread::sleep(DRAIN_PAUSE);
        }
    }

    fn update_always(&self) {
        loop {
            for tree in self.trees() {
                if tree.is_present() {
                    if tree.is_due() {
                        self.update(&tree);
                    }
                } else {
                    self.remove(|other| std::ptr::eq(other, &*tree));
                }
            }
            thread::sleep(DUE_PAUSE);
        }
    }

    fn update(&self, tree: &Tree) {
        let _one_at_a_time = lock(&self.updates);
        tree.update();
        self.evict();
    }

    fn evict(&self) {
        cache::evict(&self.place, |directory, is_too_large| {
            if is_too_large {
                lock(&self.too_large).insert(directory.to_owned());
            }
            self.remove(|tree| tree.directory() == directory);
        });
    }

    fn status(&self) -> String {
        let memory = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let memory = memory.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let mut text = format!(
            "process {}, memory {}\n",
            process::id(),
            memory.unwrap_or("unknown").trim()
        );
        let trees = self.trees();
        for tree in &trees {
            text += &tree.status(cache::bytes([tree.directory()]));
            text.push('\n');
        }
        let is_watched = |directory: &Path| trees.iter().any(|tree| tree.directory() == directory);
        text + &cache::status(&self.place, is_watched)
    }

    fn trees(&self) -> Vec<Arc<Tree>> {
        lock(&self.trees).clone()
    }
}

fn try_lock(lock: &File) -> bool {
    (0..LOCK_ATTEMPTS).any(|attempt| {
        if attempt > 0 {
            thread::sleep(LOCK_PAUSE);
        }
        rustix::fs::flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok()
    })
}

fn watches_max() -> usize {
    let named = std::env::var(WATCHES_VARIABLE).ok();
    if let Some(named) = named.and_then(|named| named.parse().ok()) {
        return named;
    }
    let path = PathBuf::from("/proc/sys/fs/inotify/max_user_watches");
    let all = fs::read_to_string(path).ok();
    let all = all.and_then(|all| all.trim().parse::<usize>().ok());
    all.map_or(WATCHES_MAX, |all| all / WATCHES_SHARE)
}

/// A panic leaves no tree half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
