//! The index process of a user: answers questions on a socket, and keeps the indexes current.
//!
//! **Invariant:** a question that cannot be answered exactly is answered with [`Reply::All`] or
//! [`Reply::Stale`], and a process that fails is one without an answer.

use crate::condition::Condition;
use crate::connection::is_own;
use crate::message::{Reply, Request};
use crate::place::{self, Place};
use crate::tree::Tree;
use anyhow::{Context, Result, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FlockOperation;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Ends without a question for this time.
const IDLE_MAX: Duration = Duration::from_secs(30 * 60);

/// Trees that are watched, each with an inotify instance (128 a user).
const TREES_MAX: usize = 16;

/// Questions at one time; more are not answered.
const CONNECTIONS_MAX: usize = 64;

/// Time for a question to arrive and for its answer to leave.
const SOCKET_TIMEOUT: Duration = Duration::from_secs(2);

/// Disk for indexes of all trees.
const CACHE_BYTES_MAX: u64 = 10_000_000_000;

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
    mount_namespace: u64,
    /// Readable once the mounts have changed.
    mounts: Mutex<File>,
    trees: Mutex<Vec<Arc<Tree>>>,
    connections: AtomicUsize,
    updates: Mutex<()>,
    asked: Mutex<Instant>,
    watches_max: usize,
}

/// Serves until idle. Returns at once if another process of this build does.
pub(crate) fn run(place: Place, root: Option<&Path>) -> Result<()> {
    // Fails for the leader of a group: then it has no terminal to lose.
    let _ = rustix::process::setsid();
    place.create()?;
    let lock = File::create(place.lock()).context("cannot create the lock")?;
    if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(());
    }
    let socket = place.socket();
    let aside = socket.with_extension("new");
    let _ = fs::remove_file(&aside);
    let listener = UnixListener::bind(&aside).context("cannot listen")?;
    let service = Arc::new(Service {
        mount_namespace: place::mount_namespace()?,
        mounts: Mutex::new(File::open("/proc/self/mountinfo")?),
        trees: Mutex::default(),
        connections: AtomicUsize::new(0),
        updates: Mutex::default(),
        asked: Mutex::new(Instant::now()),
        watches_max: watches_max(),
        place,
    });
    fs::rename(&aside, &socket).context("cannot listen")?;
    if let Some(root) = root {
        // The process is useful without this tree.
        let _ = service.offer(root);
    }
    for task in [Service::drain_always, Service::update_always] {
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
                // The client scans.
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
                Request::Ask {
                    directory,
                    condition,
                } => self.narrowed(directory, condition),
                Request::Offer { root } => match self.offer(Path::new(OsStr::from_bytes(root))) {
                    Ok(()) => Reply::All,
                    Err(error) => Reply::Text(format!("{error:#}").into_bytes()),
                },
                Request::Status => Reply::Text(self.status().into_bytes()),
                Request::Update => {
                    self.trees().iter().for_each(|tree| self.update(tree));
                    Reply::Text(self.status().into_bytes())
                }
                Request::Stop => Reply::Text(Vec::new()),
            };
            reply.write(&mut stream)?;
            if request == Request::Stop {
                self.end();
            }
        }
    }

    fn narrowed(&self, directory: &[u8], condition: &Condition) -> Reply {
        self.check_mounts();
        let path = Path::new(OsStr::from_bytes(directory));
        let mut trees = self.trees();
        trees.retain(|tree| path.starts_with(&tree.root));
        trees.sort_by_key(|tree| (tree.is_ready(), tree.root.as_os_str().len()));
        let Some(tree) = trees.pop() else {
            return Reply::Unknown;
        };
        let below = path.strip_prefix(&tree.root).unwrap_or(path);
        match condition.query() {
            Ok(query) => {
                let below = below.as_os_str().as_bytes();
                tree.narrowed(below, &query, condition.match_bytes as usize)
            }
            Err(_) => Reply::All,
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
        let kind = rustix::fs::statfs(root)?.f_type as u64;
        ensure!(
            NOTIFYING.contains(&kind),
            "the file system of {shown} does not notify of all changes"
        );
        let mut trees = lock(&self.trees);
        if trees.iter().any(|tree| tree.root == *root) {
            return Ok(());
        }
        let directory = self.place.directory_of(root);
        let tree = Tree::new(root, directory, self.mount_namespace, self.watches_max)?;
        tree.check_mounts(&fs::read("/proc/self/mountinfo")?);
        if trees.len() == TREES_MAX {
            trees.sort_by_key(|tree| tree.asked());
            trees.remove(0);
        }
        trees.push(Arc::new(tree));
        Ok(())
    }

    fn check_mounts(&self) {
        let mut file = lock(&self.mounts);
        let mut ready = [PollFd::new(&*file, PollFlags::PRI)];
        let changed = poll(&mut ready, Some(&Timespec::default()));
        if changed.is_ok_and(|count| count == 0) {
            return;
        }
        let mut mounts = Vec::new();
        // Unreadable: no mount is as before.
        let _ = file.rewind().and_then(|()| file.read_to_end(&mut mounts));
        self.trees()
            .iter()
            .for_each(|tree| tree.check_mounts(&mounts));
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
                    lock(&self.trees).retain(|other| !Arc::ptr_eq(other, &tree));
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

    /// Removes indexes beyond the limit of the disk, the least recently updated first.
    fn evict(&self) {
        let entries = fs::read_dir(&self.place.indexes).into_iter().flatten();
        let directories = entries.flatten().map(|entry| entry.path());
        let mut indexes: Vec<_> = directories
            .filter_map(|directory| {
                let updated = fs::metadata(place::record_in(&directory))
                    .ok()?
                    .modified()
                    .ok()?;
                let bytes = place::directory_bytes(&place::index_in(&directory));
                Some((updated, bytes, directory))
            })
            .collect();
        indexes.sort();
        let mut all: u64 = indexes.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, directory) in indexes {
            if all <= CACHE_BYTES_MAX {
                return;
            }
            all -= bytes;
            lock(&self.trees).retain(|tree| tree.directory() != directory);
            let _ = place::remove(&directory);
        }
    }

    fn status(&self) -> String {
        let memory = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let memory = memory.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let mut text = format!(
            "process {}, memory {}\n",
            process::id(),
            memory.unwrap_or("unknown").trim()
        );
        for tree in self.trees() {
            let bytes = place::directory_bytes(&place::index_in(tree.directory()));
            text += &tree.status(bytes);
            text.push('\n');
        }
        text
    }

    fn trees(&self) -> Vec<Arc<Tree>> {
        lock(&self.trees).clone()
    }
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
