//! A connection's two directions: requests in, frames out.

use schema::frame::{self, Decoder, Kind};
use schema::message::{self, Hello};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};

/// Why a connection ended, other than by the other side's closing it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The network's reason.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
    /// What came is no stream of frames.
    #[error("what came is not Trawl's protocol: {0}")]
    Frame(#[from] frame::Error),
    /// A message could not be made.
    #[error(transparent)]
    Message(#[from] message::Error),
    /// A request that makes no sense here.
    #[error("a bad request: {0}")]
    Request(String),
    /// Told to stop.
    #[error("the other side cancelled its request")]
    Cancelled,
}

pub(super) struct Connection<S> {
    reader: Reader<S>,
    writer: WriteHalf<S>,
    /// Frames to be sent, reused.
    out: Vec<u8>,
}

struct Reader<S> {
    half: ReadHalf<S>,
    decoder: Decoder,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(super) fn new(stream: S) -> Self {
        let (half, writer) = tokio::io::split(stream);
        let reader = Reader {
            half,
            decoder: Decoder::new(),
        };
        Connection {
            reader,
            writer,
            out: Vec::new(),
        }
    }

    /// The next frame; `None` when the other side has closed.
    pub(super) async fn next(&mut self) -> Result<Option<(Kind, Vec<u8>)>, Error> {
        self.reader.next().await
    }

    /// Sends HELLO. The other side need not wait for it before it asks, so what comes meanwhile is
    /// left for [`next`](Self::next).
    pub(super) async fn greet(&mut self, hello: &Hello) -> Result<(), Error> {
        self.out.clear();
        hello.encode(&mut self.out)?;
        Ok(self.writer.write_all(&self.out).await?)
    }

    /// Sends what `encode` makes.
    pub(super) async fn send(
        &mut self,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), message::Error>,
    ) -> Result<(), Error> {
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        encode(&mut out)?;
        let result = self.send_while_wanted(&out).await;
        self.out = out;
        result
    }

    /// Sends frames, however slowly they are read, unless the other side closes or cancels.
    pub(super) async fn send_while_wanted(&mut self, frames: &[u8]) -> Result<(), Error> {
        tokio::select! {
            biased;
            written = self.writer.write_all(frames) => Ok(written?),
            gone = self.reader.unwanted() => gone,
        }
    }

    /// Waits until the other side closes or cancels, or says something that it may not say now.
    pub(super) async fn unwanted(&mut self) -> Result<(), Error> {
        self.reader.unwanted().await
    }
}

impl<S: AsyncRead> Reader<S> {
    async fn next(&mut self) -> Result<Option<(Kind, Vec<u8>)>, Error> {
        loop {
            if let Some(frame) = self.decoder.decode()? {
                return Ok(Some((frame.kind, frame.payload.to_vec())));
            }
            // Cancel safe: what has been read is in the decoder before anything else is awaited.
            let read = self.half.read(self.decoder.space()).await?;
            if read == 0 {
                self.decoder.finish()?;
                return Ok(None);
            }
            self.decoder.filled(read);
        }
    }

    async fn unwanted(&mut self) -> Result<(), Error> {
        match self.next().await? {
            None | Some((Kind::Cancel, _)) => Err(Error::Cancelled),
            Some((kind, _)) => Err(Error::Request(format!(
                "{kind:?} in the midst of an answer"
            ))),
        }
    }
}
