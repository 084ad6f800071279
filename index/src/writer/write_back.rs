//! Writes back a shard while it is made. Otherwise the build would end with one long sync.
//! **Invariant:** disk errors are returned by [`finish`](WriteBack::finish): the system reports
//! each only once, maybe to this thread.

use std::fs::File;
use std::io;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

/// Bytes per sync: some tenths of a second of a build.
const STEP_BYTES: u64 = 64 << 20;

pub(super) struct WriteBack {
    requests: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
    /// Length at the last request.
    requested: u64,
}

impl WriteBack {
    pub(super) fn start(file: File) -> io::Result<WriteBack> {
        // One request queued, one running; more would be redundant.
        let (requests, received) = mpsc::sync_channel(1);
        let sync = move || received.into_iter().try_for_each(|()| file.sync_data());
        let thread = thread::Builder::new().name("write back".to_owned());
        Ok(WriteBack {
            requests,
            thread: thread.spawn(sync)?,
            requested: 0,
        })
    }

    /// Notes the current length of the file.
    pub(super) fn written(&mut self, bytes: u64) {
        if bytes - self.requested >= STEP_BYTES {
            self.requested = bytes;
            self.all_written();
        }
    }

    /// Starts a write-back without waiting.
    pub(super) fn all_written(&self) {
        // A queued request or a failed thread suffices.
        let _ = self.requests.try_send(());
    }

    /// Joins the thread. Later writes are not on disk.
    pub(super) fn finish(self) -> io::Result<()> {
        drop(self.requests);
        self.thread.join().expect("it does not panic")
    }
}
