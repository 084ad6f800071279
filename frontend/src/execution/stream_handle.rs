//! One stream of an execution: what its backend is asked for, receiving the answer, and how to stop
//! that from another thread.

use crate::execution::collector::Collector;
use crate::execution::event::StreamEvent;
use crate::execution::ingest::{Ingest, Ingested, Target};
use crate::execution::stream_stats::StreamStats;
use crate::lock::lock;
use crate::peers::account::StreamEnd;
use crate::peers::{Connection, Peer, PeerError, Socket};
use crate::results::SkippedDocument;
use crate::spool::ResultFiles;
use schema::message;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A stream of an execution.
pub(crate) struct StreamHandle {
    pub(crate) peer: Arc<Peer>,
    /// The number of the stream in pointers and in the spool.
    pub(crate) backend: u16,
    /// What the backend is asked for.
    pub(crate) search: message::Search,
    pub(crate) stats: StreamStats,
    connection: Mutex<Shutdown>,
    collector: Mutex<Option<Collector>>,
}

/// How to stop a stream.
enum Shutdown {
    /// There is no connection to shut down.
    Idle,
    Connected(Arc<Socket>),
    /// The stream is not to begin any more.
    Stopped,
}

impl StreamHandle {
    pub(crate) fn new(
        peer: Arc<Peer>,
        backend: u16,
        search: message::Search,
        stats: StreamStats,
        collector: Collector,
    ) -> StreamHandle {
        StreamHandle {
            peer,
            backend,
            search,
            stats,
            connection: Mutex::new(Shutdown::Idle),
            collector: Mutex::new(Some(collector)),
        }
    }

    /// Ends the stream, or does not let it begin.
    pub(crate) fn stop(&self) {
        let mut connection = lock(&self.connection);
        if let Shutdown::Connected(stream) = &*connection {
            stream.shutdown();
        }
        *connection = Shutdown::Stopped;
    }

    pub(crate) fn is_stopped(&self) -> bool {
        matches!(*lock(&self.connection), Shutdown::Stopped)
    }

    /// Takes the collector: for the thread that receives the stream, and at the end of all.
    pub(crate) fn take_collector(&self) -> Option<Collector> {
        lock(&self.collector).take()
    }

    pub(crate) fn put_collector(&self, collector: Collector) {
        *lock(&self.collector) = Some(collector);
    }

    /// Sends the request and receives the answer to its end; what arrives until then is in `collector`.
    /// `on_skip` is called for each document that the backend skipped.
    pub(crate) fn receive(
        &self,
        search: &message::Search,
        spool: &ResultFiles,
        collector: &mut Collector,
        on_skip: &dyn Fn(SkippedDocument),
    ) -> Result<StreamEnd, PeerError> {
        self.stats.answered.store(false, Relaxed);
        let mut request = Vec::new();
        search.encode(&mut request)?;
        let mut idle = self.peer.take_idle();
        loop {
            let was_idle = idle.is_some();
            let mut connection = match idle.take() {
                Some(connection) => connection,
                None => self.peer.dial()?,
            };
            self.connect(connection.stream())?;
            // What a request for a file has left is not part of this answer.
            connection.decoder.consumed();
            let target = Target {
                backend: self.backend,
                search,
                stats: &self.stats,
                spool,
                on_skip: Box::new(on_skip),
            };
            let mut ingest = Ingest::new(target, collector, Instant::now());
            let sent = connection.send(&request);
            let result = sent.and_then(|()| read(&mut connection, &mut ingest));
            ingest.close(&result);
            self.disconnect();
            match result {
                // The connection broke while it was idle. Nothing but greetings can be left on it.
                Err(PeerError::Broken(_) | PeerError::Closed)
                    if was_idle && self.may_ask_again() => {}
                result => {
                    self.keep_idle(connection, &result);
                    return result;
                }
            }
        }
    }

    /// Keeps a connection for other requests if its answer has been read to the end.
    fn keep_idle(&self, mut connection: Connection, result: &Result<StreamEnd, PeerError>) {
        if connection.is_at_rest()
            && let Ok(_) | Err(PeerError::Refused(_) | PeerError::Stale(_) | PeerError::Heavy) =
                result
        {
            self.peer.put_idle(connection);
        }
    }

    /// Whether nothing has come of the request, and the stream is not to end.
    fn may_ask_again(&self) -> bool {
        !self.stats.answered.load(Relaxed) && !self.is_stopped()
    }

    /// Lets [`stop`](Self::stop) shut down this connection; an error after a stop.
    fn connect(&self, stream: Arc<Socket>) -> Result<(), PeerError> {
        let mut connection = lock(&self.connection);
        if let Shutdown::Stopped = *connection {
            return Err(PeerError::Stopped);
        }
        *connection = Shutdown::Connected(stream);
        Ok(())
    }

    /// The connection may be used for other requests from now on.
    fn disconnect(&self) {
        let mut connection = lock(&self.connection);
        if let Shutdown::Connected(_) = *connection {
            *connection = Shutdown::Idle;
        }
    }
}

fn read(connection: &mut Connection, ingest: &mut Ingest<'_>) -> Result<StreamEnd, PeerError> {
    loop {
        match ingest.take(&mut connection.decoder, Instant::now())? {
            Ingested::End(end) => return Ok(end),
            // Only now: the time that the disk took is not the backend's silence.
            Ingested::Written => connection.touch(),
            Ingested::Nothing => {}
        }
        connection.fill()?;
    }
}

/// Returns what the end of a stream means for its execution.
pub(crate) fn event(result: Result<StreamEnd, PeerError>) -> StreamEvent {
    match result {
        Ok(end) => StreamEvent::End(end),
        Err(PeerError::Refused(bad)) => StreamEvent::Refused(bad),
        Err(PeerError::Heavy) => StreamEvent::Heavy,
        Err(lost) => StreamEvent::Lost {
            reason: lost.to_string(),
        },
    }
}
