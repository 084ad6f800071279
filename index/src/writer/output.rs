//! Output of a shard: checksums every page, and writes back while the shard is made. Otherwise the
//! build would end with one long sync.
//! **Invariant:** disk errors are returned by [`WriteBack::finish`]: the system reports each only
//! once, maybe to its thread.

use crate::format::PAGE_BYTES;
use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

pub(super) struct PageWriter<W> {
    out: W,
    /// File offset of the next byte.
    offset: u64,
    complete: Vec<u32>,
    /// Checksum of the current page and its bytes.
    crc: u32,
    filled: usize,
}

impl<W: Write> PageWriter<W> {
    /// `out` is positioned at page 1.
    pub(super) fn new(out: W) -> Self {
        PageWriter {
            out,
            offset: PAGE_BYTES as u64,
            complete: Vec::new(),
            crc: 0,
            filled: 0,
        }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Checksums of all pages, the last maybe partial.
    pub(super) fn checksums(&self) -> impl Iterator<Item = u32> {
        self.complete
            .iter()
            .copied()
            .chain((self.filled > 0).then_some(self.crc))
    }
}

impl<W: Write> Write for PageWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        let mut rest = &bytes[..written];
        while !rest.is_empty() {
            let (page, behind) = rest.split_at(rest.len().min(PAGE_BYTES - self.filled));
            self.crc = crc32c::crc32c_append(self.crc, page);
            self.filled += page.len();
            if self.filled == PAGE_BYTES {
                self.complete.push(std::mem::take(&mut self.crc));
                self.filled = 0;
            }
            rest = behind;
        }
        self.offset += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

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

    pub(super) fn written(&mut self, bytes: u64) {
        if bytes - self.requested >= STEP_BYTES {
            self.requested = bytes;
            self.all_written();
        }
    }

    /// Does not wait.
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
