//! Connection that fails when its client is too slow: to send the head of a request or the next
//! request, or to read a response.

use super::clients::ConnectionLimits;
use axum::http::Version;
use futures_util::task::AtomicWaker;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use std::{io, mem};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

#[derive(Debug, Default)]
pub(super) struct Phase {
    requests: AtomicU32,
    /// Modulo 2^32.
    begun: AtomicU32,
    is_http2: AtomicBool,
    /// Task of the connection, woken after a response.
    task: AtomicWaker,
}

impl Phase {
    pub(super) fn begin(self: &Arc<Self>, version: Version) -> Busy {
        self.is_http2.store(version == Version::HTTP_2, Relaxed);
        self.requests.fetch_add(1, Relaxed);
        self.begun.fetch_add(1, Relaxed);
        Busy(Arc::clone(self))
    }
}

#[derive(Debug)]
pub(super) struct Busy(Arc<Phase>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, AcqRel);
        self.0.task.wake();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    First,
    /// A request is being answered.
    No,
    Head,
    Next,
}

pub(super) struct TimedStream {
    stream: TcpStream,
    phase: Arc<Phase>,
    waiting: Waiting,
    /// Value at the last read.
    begun: u32,
    head_max: Duration,
    idle_max: Duration,
    unread_max: Duration,
    read_due: Pin<Box<Sleep>>,
    write_due: Option<Pin<Box<Sleep>>>,
}

impl TimedStream {
    pub(super) fn new(stream: TcpStream, phase: Arc<Phase>, limits: &ConnectionLimits) -> Self {
        TimedStream {
            stream,
            phase,
            waiting: Waiting::First,
            begun: 0,
            head_max: limits.head_max,
            idle_max: limits.idle_max,
            unread_max: limits.unread_max,
            read_due: Box::pin(sleep(limits.head_max)),
            write_due: None,
        }
    }

    fn wait_for(&mut self, waiting: Waiting) {
        self.waiting = waiting;
        let time = match waiting {
            Waiting::No => return,
            Waiting::First | Waiting::Head => self.head_max,
            Waiting::Next => self.idle_max,
        };
        self.read_due.as_mut().reset(Instant::now() + time);
    }

    /// Fails if the client has not read for too long.
    fn written<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_due = None;
            return written;
        }
        let unread_max = self.unread_max;
        let due = self
            .write_due
            .get_or_insert_with(|| Box::pin(sleep(unread_max)));
        ready!(due.as_mut().poll(context));
        Poll::Ready(Err(timed_out("the client does not read its response")))
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        // Registered first: a request that ends after the check wakes the task.
        self.phase.task.register(context.waker());
        let is_busy = self.phase.requests.load(Acquire) > 0;
        // A request can begin and end between two reads.
        let begun = self.phase.begun.load(Relaxed);
        if mem::replace(&mut self.begun, begun) != begun {
            self.waiting = Waiting::No;
        }
        let waiting = match (is_busy, read.is_ready()) {
            (true, _) => Waiting::No,
            // Control frames are no head.
            (false, true) if self.phase.is_http2.load(Relaxed) => Waiting::Next,
            (false, true) => Waiting::Head,
            (false, false) if self.waiting == Waiting::No => Waiting::Next,
            (false, false) => self.waiting,
        };
        if waiting != self.waiting {
            self.wait_for(waiting);
        }
        if read.is_ready() || waiting == Waiting::No {
            return read;
        }
        ready!(self.read_due.as_mut().poll(context));
        Poll::Ready(Err(timed_out("the client sent no request in time")))
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, buffer);
        self.written(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.written(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

fn timed_out(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn requests_that_end_between_two_reads_have_a_time_each() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(address).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let phase = Arc::new(Phase::default());
        let limits = ConnectionLimits {
            head_max: Duration::from_millis(200),
            ..ConnectionLimits::default()
        };
        let mut stream = TimedStream::new(stream, Arc::clone(&phase), &limits);
        let began = Instant::now();
        let mut requests = 0;
        while began.elapsed() < limits.head_max * 3 {
            client.write_all(b"r").await.unwrap();
            let mut head = [0; 1];
            stream.read_exact(&mut head).await.unwrap();
            drop(phase.begin(Version::HTTP_11));
            let next = tokio::time::timeout(limits.head_max / 5, stream.read(&mut head)).await;
            assert!(next.is_err(), "after {requests}: {next:?}");
            requests += 1;
        }
        client.write_all(b"r").await.unwrap();
        stream.read_exact(&mut [0; 1]).await.unwrap();
        let error = stream.read_exact(&mut [0; 1]).await.unwrap_err();
        assert_eq!(
            error.kind(),
            io::ErrorKind::TimedOut,
            "a head that does not end"
        );
    }
}
