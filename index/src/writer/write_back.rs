//! Has the disk write the beginning of a shard while the rest is made.
//!
//! A shard gets its name when it is on the disk. If nothing but the last sync wrote it, a build would end with nothing but
//! waiting for that: 0.28 s of 3 s for 0.6 GB.
//! **Invariant:** an error of the disk is returned by [`finish`](WriteBack::finish): the system reports it only once, perhaps to
//! the thread here.

use std::fs::File;
use std::io;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

/// Bytes after which the disk is told to write: enough to be worth a sync, some tenths of a second of a build.
const STEP_BYTES: u64 = 64 << 20;

/// A thread that syncs a file.
pub(super) struct WriteBack {
    requests: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
    /// Bytes of the file at the last request.
    requested: u64,
}

impl WriteBack {
    pub(super) fn start(file: File) -> io::Result<WriteBack> {
        // One request waits while another is carried out; more would be the same.
        let (requests, received) = mpsc::sync_channel(1);
        let sync = move || received.into_iter().try_for_each(|()| file.sync_data());
        let thread = thread::Builder::new().name("write back".to_owned());
        Ok(WriteBack {
            requests,
            thread: thread.spawn(sync)?,
            requested: 0,
        })
    }

    /// Tells how long the file is now.
    pub(super) fn written(&mut self, bytes: u64) {
        if bytes - self.requested >= STEP_BYTES {
            self.requested = bytes;
            self.all_written();
        }
    }

    /// Has the disk write what has been written, and does not wait for it.
    pub(super) fn all_written(&self) {
        // If one waits already, or an error waits for `finish`, there is nothing to ask for.
        let _ = self.requests.try_send(());
    }

    /// Waits for the thread. What is written after its last request is not on the disk.
    pub(super) fn finish(self) -> io::Result<()> {
        drop(self.requests);
        self.thread.join().expect("it does not panic")
    }
}
