//! Noticed changes that are not searched yet.
//!
//! Changes settle first, as programs write files in steps, unless a question waits for them. Files
//! are counted by path hash.
//!
//! A question (`wait=fresh`) is a file in a watched directory. The kernel has one queue for all
//! watches, so its notification follows those of earlier writes.
//!
//! **Invariant:** [`PENDING_MAX`] and [`SUSPECTS_MAX`] bound the memory for any number of changes.

use super::places::Places;
use fnv::FnvHasher;
use frontend::CorpusWatch;
use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RenameMode};
use notify::{Event, EventKind};
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::sync::watch;

/// Programs write files in several steps.
const QUIET: Duration = Duration::from_millis(100);

/// Longest wait for further changes.
pub(super) const DELAY_MAX: Duration = Duration::from_millis(500);

/// Exceeds a checkout of Linux. Further files are indexed, not counted.
const PENDING_MAX: usize = 100_000;

/// Files compared by text at a time. Rescans find others.
const SUSPECTS_MAX: usize = 1_000;

/// Shared by notification and index threads.
pub(super) struct FileChanges {
    pending: Mutex<PendingChanges>,
    woken: Condvar,
    asked: AtomicU64,
    answered: watch::Sender<u64>,
    /// Directory of question files; `None` if unavailable.
    questions: Option<TempDir>,
    /// True if all places are watched.
    is_whole: AtomicBool,
}

#[derive(Default)]
struct PendingChanges {
    places: Places,
    /// First and last change not taken.
    times: Option<(Instant, Instant)>,
    /// Watched places may have changed.
    directories: bool,
    noticed: HashSet<u64>,
    /// Changes not in `taken`.
    new: usize,
    /// Changes in or after a failed update.
    taken: HashSet<u64>,
    suspects: HashSet<PathBuf>,
    /// Last question after `noticed`, and `taken`.
    asked: u64,
    asked_of_taken: u64,
}

#[derive(Debug, Default)]
pub(super) struct TakenChanges {
    pub(super) directories: bool,
    /// New text is possible despite unchanged size and times.
    pub(super) suspects: Vec<PathBuf>,
}

impl FileChanges {
    pub(super) fn new() -> FileChanges {
        FileChanges {
            pending: Mutex::default(),
            woken: Condvar::new(),
            asked: AtomicU64::new(0),
            answered: watch::Sender::new(0),
            questions: tempfile::tempdir().ok(),
            is_whole: AtomicBool::new(false),
        }
    }

    pub(super) fn questions(&self) -> Option<&Path> {
        self.questions.as_ref().map(TempDir::path)
    }

    pub(super) fn set_places(&self, places: Places) {
        self.lock().places = places;
    }

    pub(super) fn set_whole(&self, is_whole: bool) {
        self.is_whole.store(is_whole, Relaxed);
    }

    pub(super) fn add(&self, event: &notify::Result<Event>) {
        let Ok(event) = event else { return self.lost() };
        if event.need_rescan() || event.paths.is_empty() {
            return self.lost();
        }
        if let Some(number) = self.question(event) {
            return self.arrived(number);
        }
        let closed = EventKind::Access(AccessKind::Close(AccessMode::Write));
        let is_closed = event.kind == closed;
        if matches!(event.kind, EventKind::Access(_)) && !is_closed {
            return;
        }
        let mut pending = self.lock();
        let is_counted = |path: &&PathBuf| pending.places.counts(path, is_entry(event.kind));
        let paths: Vec<&PathBuf> = event.paths.iter().filter(is_counted).collect();
        if paths.is_empty() {
            return;
        }
        for path in &paths {
            pending.notice(path, is_closed);
        }
        let decides = paths.iter().any(|path| pending.places.decides(path));
        let directories = decides || may_add_directory(event.kind);
        self.wake(pending, directories);
    }

    pub(super) fn add_unnotified(&self, place: &Path) {
        let mut pending = self.lock();
        pending.notice(place, false);
        self.wake(pending, false);
    }

    fn lost(&self) {
        let mut pending = self.lock();
        pending.asked = self.asked.load(Relaxed);
        self.wake(pending, true);
    }

    fn wake(&self, mut pending: MutexGuard<'_, PendingChanges>, directories: bool) {
        let now = Instant::now();
        let first = pending.times.map_or(now, |(first, _)| first);
        pending.times = Some((first, now));
        pending.directories |= directories;
        self.woken.notify_all();
    }

    /// Waits until changes settle. None: there were none until `deadline`.
    pub(super) fn take(&self, deadline: Instant) -> Option<TakenChanges> {
        let mut pending = self.lock();
        loop {
            let now = Instant::now();
            let until = match pending.times {
                Some(_) if pending.is_asked() => now,
                Some((first, last)) => (last + QUIET).min(first + DELAY_MAX),
                None => deadline,
            };
            if now >= until {
                return pending.take();
            }
            let waited = self.woken.wait_timeout(pending, until - now);
            pending = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn searched(&self) {
        let mut pending = self.lock();
        pending.taken.clear();
        pending.new = pending.noticed.len();
        self.answer(pending.asked_of_taken);
    }

    fn answer(&self, question: u64) {
        self.answered.send_if_modified(|answered| {
            let is_greater = question > *answered;
            *answered = question.max(*answered);
            is_greater
        });
    }

    /// 0 for other events of a question file.
    fn question(&self, event: &Event) -> Option<u64> {
        let [path] = &event.paths[..] else {
            return None;
        };
        let number = path.strip_prefix(self.questions()?).ok()?;
        match event.kind {
            EventKind::Create(_) => number.to_str()?.parse().ok(),
            // Neither a question nor a change.
            _ => Some(0),
        }
    }

    /// Earlier writes were noticed.
    fn arrived(&self, question: u64) {
        if question == 0 {
            return;
        }
        if let Some(questions) = self.questions() {
            // The directory removes it otherwise.
            let _ = std::fs::remove_file(questions.join(question.to_string()));
        }
        let mut pending = self.lock();
        if pending.times.is_some() {
            pending.asked = pending.asked.max(question);
            self.woken.notify_all();
        } else if !pending.taken.is_empty() {
            pending.asked_of_taken = pending.asked_of_taken.max(question);
        } else {
            self.answer(question);
        }
    }

    /// A panic leaves it valid.
    fn lock(&self) -> MutexGuard<'_, PendingChanges> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CorpusWatch for FileChanges {
    fn pending(&self) -> u64 {
        let pending = self.lock();
        (pending.taken.len() + pending.new) as u64
    }

    fn ask(&self) -> u64 {
        let question = self.asked.fetch_add(1, Relaxed) + 1;
        let file = self.questions().map(|it| it.join(question.to_string()));
        let is_noticed = self.is_whole.load(Relaxed)
            && file.is_some_and(|file| std::fs::File::create(file).is_ok());
        if !is_noticed {
            // The update compares all files.
            let mut pending = self.lock();
            pending.asked = pending.asked.max(question);
            self.wake(pending, false);
        }
        question
    }

    fn answered(&self) -> watch::Receiver<u64> {
        self.answered.subscribe()
    }
}

impl PendingChanges {
    fn notice(&mut self, path: &Path, is_closed: bool) {
        let mut hasher = FnvHasher::default();
        path.hash(&mut hasher);
        let hash = hasher.finish();
        // Mapped stores send no notification, but closing does.
        if is_closed && !self.noticed.contains(&hash) && self.suspects.len() < SUSPECTS_MAX {
            self.suspects.insert(path.to_owned());
        }
        let is_known = self.taken.contains(&hash);
        if self.noticed.len() < PENDING_MAX && self.noticed.insert(hash) && !is_known {
            self.new += 1;
        }
    }

    /// True if a question waits for changes that are not taken.
    fn is_asked(&self) -> bool {
        self.asked > self.asked_of_taken
    }

    fn take(&mut self) -> Option<TakenChanges> {
        self.times.take()?;
        let noticed = std::mem::take(&mut self.noticed).into_iter();
        let room = (2 * PENDING_MAX).saturating_sub(self.taken.len());
        self.taken.extend(noticed.take(room));
        self.new = 0;
        self.asked_of_taken = self.asked_of_taken.max(self.asked);
        Some(TakenChanges {
            directories: std::mem::take(&mut self.directories),
            suspects: std::mem::take(&mut self.suspects).into_iter().collect(),
        })
    }
}

/// True if an entry was added or removed.
fn is_entry(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
    )
}

fn may_add_directory(kind: EventKind) -> bool {
    let moved_here = EventKind::Modify(ModifyKind::Name(RenameMode::To));
    let moved = EventKind::Modify(ModifyKind::Name(RenameMode::Both));
    let is_created = matches!(kind, EventKind::Create(kind) if kind != CreateKind::File);
    is_created || kind == moved_here || kind == moved
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn modified(path: &str) -> notify::Result<Event> {
        let kind = EventKind::Modify(ModifyKind::Any);
        Ok(Event::new(kind).add_path(PathBuf::from(path)))
    }

    #[test]
    fn steady_changes_are_taken_after_half_a_second() {
        let changes = FileChanges::new();
        let first = Instant::now();
        let last = first + LONG;
        changes.lock().times = Some((first, last));
        assert!(changes.take(first + LONG).is_some());
        let waited = first.elapsed();
        assert!((DELAY_MAX..LONG).contains(&waited), "{waited:?}");
        assert!(changes.take(Instant::now()).is_none());
    }

    #[test]
    fn files_are_pending_until_they_are_searched() {
        let changes = FileChanges::new();
        for path in ["/a", "/b", "/a"] {
            changes.add(&modified(path));
        }
        assert_eq!(changes.pending(), 2);
        assert!(changes.take(Instant::now() + LONG).is_some());
        changes.add(&modified("/b"));
        changes.add(&modified("/c"));
        assert_eq!(changes.pending(), 3);
        changes.searched();
        assert_eq!(changes.pending(), 2);
        // A failed update leaves them pending.
        for _ in 0..2 {
            changes.take(Instant::now() + DELAY_MAX);
            assert_eq!(changes.pending(), 2);
        }
        changes.searched();
        assert_eq!(changes.pending(), 0);
    }

    #[test]
    fn a_question_is_answered_when_all_changes_before_it_are_searched() {
        let changes = FileChanges::new();
        let answered = changes.answered();
        changes.arrived(1);
        assert_eq!(*answered.borrow(), 1);
        changes.add(&modified("/a"));
        changes.arrived(2);
        changes.searched();
        assert_eq!(*answered.borrow(), 1);
        changes.take(Instant::now() + LONG);
        changes.arrived(3);
        changes.add(&modified("/a"));
        changes.arrived(4);
        changes.searched();
        assert_eq!(*answered.borrow(), 3);
        changes.take(Instant::now() + LONG);
        changes.searched();
        assert_eq!(*answered.borrow(), 4);
        // Nothing is watched here, so all files are compared.
        assert_eq!(changes.ask(), 1);
        assert!(changes.take(Instant::now() + LONG).is_some());
    }

    #[test]
    fn more_files_than_are_counted_take_no_more_memory() {
        let mut pending = PendingChanges::default();
        for _ in 0..4 {
            for number in 0..PENDING_MAX + 10 {
                pending.notice(Path::new(&number.to_string()), true);
            }
            assert_eq!(pending.noticed.len(), PENDING_MAX);
            assert_eq!(pending.suspects.len(), SUSPECTS_MAX);
            pending.times = Some((Instant::now(), Instant::now()));
            pending.take();
            assert!(pending.taken.len() <= 2 * PENDING_MAX);
        }
    }
}
