//! Downloads files in parallel, and resumes interrupted downloads.

use crate::error::{Result, StoreError};
use crate::generation::StoredFile;
use crate::objects::Objects;
use crate::publish::{Transfer, hashed};
use index::manifest::hex;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub(super) const PART: &str = ".part";

#[derive(Clone, Copy, Debug)]
pub struct FetchOptions {
    pub files: usize,
    /// Bytes per second in total. `None`: unlimited.
    pub bytes_per_second: Option<u64>,
    /// Bytes left free.
    pub reserve: u64,
}

/// Downloads from the beginning, after a hash mismatch.
const ATTEMPTS_MAX: usize = 2;

pub(super) fn fetch(
    objects: &Objects,
    directory: &Path,
    options: &FetchOptions,
    missing: &[(&String, &StoredFile)],
    progress: &Transfer,
) -> Result<u64> {
    let total: u64 = missing.iter().map(|(_, file)| file.bytes).sum();
    progress.total.store(total, Relaxed);
    progress.bytes.store(0, Relaxed);
    check_room(directory, options, missing)?;
    let job = Job {
        objects,
        directory,
        progress,
        bytes_per_second: options.bytes_per_second,
        due: Mutex::new(Instant::now()),
        stop: AtomicBool::new(false),
    };
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<StoreError>> = Mutex::new(None);
    let work = || {
        while let Some((name, file)) = missing.get(next.fetch_add(1, Relaxed)) {
            if let Err(error) = job
                .file(name, file)
                .map_err(|error| job.explained(error, file))
            {
                job.stop.store(true, Relaxed);
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.get_or_insert(error);
            }
            if job.stop.load(Relaxed) {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..options.files.min(missing.len()) {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(total), Err)
}

/// Fails before anything is downloaded.
fn check_room(
    directory: &Path,
    options: &FetchOptions,
    missing: &[(&String, &StoredFile)],
) -> Result<()> {
    let needed: u64 = missing
        .iter()
        .map(|(_, file)| {
            let part = fs::metadata(directory.join(part_name(file)));
            file.bytes.saturating_sub(part.map_or(0, |part| part.len()))
        })
        .sum();
    let free = free(directory)?;
    if needed > 0 && needed.saturating_add(options.reserve) > free {
        return Err(StoreError::DiskFull {
            path: directory.to_owned(),
            needed,
            free,
        });
    }
    Ok(())
}

fn free(directory: &Path) -> Result<u64> {
    let stat = rustix::fs::statvfs(directory).map_err(io::Error::from);
    let stat = stat.map_err(StoreError::io(directory))?;
    Ok(stat.f_bavail * stat.f_frsize)
}

fn part_name(file: &StoredFile) -> String {
    format!("{}{PART}", hex(&file.hash))
}

struct Job<'a> {
    objects: &'a Objects,
    directory: &'a Path,
    progress: &'a Transfer,
    /// Limit of all threads together.
    bytes_per_second: Option<u64>,
    /// Deadline of the counted bytes.
    due: Mutex<Instant>,
    stop: AtomicBool,
}

impl Job<'_> {
    fn file(&self, name: &str, file: &StoredFile) -> Result<()> {
        let path = self.directory.join(part_name(file));
        for _ in 0..ATTEMPTS_MAX {
            self.rest(&path, file)?;
            if hashed(&path)? == *file {
                return fs::rename(&path, self.directory.join(name))
                    .and_then(|()| File::open(self.directory)?.sync_all())
                    .map_err(StoreError::io(&path));
            }
            fs::remove_file(&path).map_err(StoreError::io(&path))?;
        }
        let object = self.objects.at(&file.object());
        Err(StoreError::damaged(
            object,
            "its bytes have another hash than its name",
        ))
    }

    /// Another program may have filled the disk.
    fn explained(&self, error: StoreError, file: &StoredFile) -> StoreError {
        let is_full = matches!(&error, StoreError::Io { source, .. } if source.kind() == ErrorKind::StorageFull);
        if !is_full {
            return error;
        }
        StoreError::DiskFull {
            path: self.directory.to_owned(),
            needed: file.bytes,
            free: free(self.directory).unwrap_or(0),
        }
    }

    fn wait(&self, bytes: u64) {
        let Some(rate) = self.bytes_per_second else {
            return;
        };
        let now = Instant::now();
        let due = {
            let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = Duration::from_secs_f64(bytes as f64 / rate.max(1) as f64);
            *due = (*due).max(now) + taken;
            *due
        };
        thread::sleep(due.saturating_duration_since(now));
    }

    fn rest(&self, path: &Path, file: &StoredFile) -> Result<()> {
        let open = File::options().create(true).append(true).open(path);
        let part = open.map_err(StoreError::io(path))?;
        let mut have = part.metadata().map_err(StoreError::io(path))?.len();
        if have > file.bytes {
            part.set_len(0).map_err(StoreError::io(path))?;
            have = 0;
        }
        self.progress.bytes.fetch_add(have, Relaxed);
        if have == file.bytes {
            return Ok(());
        }
        let object = file.object();
        let mut out = PartWriter {
            job: self,
            part,
            left: file.bytes - have,
        };
        let objects = self.objects;
        if !objects.download(&object, have, &mut out)? {
            return Err(StoreError::damaged(objects.at(&object), "missing"));
        }
        out.part.sync_all().map_err(StoreError::io(path))
    }
}

struct PartWriter<'a> {
    job: &'a Job<'a>,
    part: File,
    left: u64,
}

impl Write for PartWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.job.stop.load(Relaxed) {
            return Err(io::Error::other("stopped because another file failed"));
        }
        if bytes.len() as u64 > self.left {
            return Err(io::Error::other("the object is longer than it should be"));
        }
        self.part.write_all(bytes)?;
        self.left -= bytes.len() as u64;
        self.job
            .progress
            .bytes
            .fetch_add(bytes.len() as u64, Relaxed);
        self.job.wait(bytes.len() as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
