//! A response body that blocking code writes piece by piece, in a fixed amount of memory.

use crate::problem::Problem;
use axum::body::Body;
use bytes::Bytes;
use frontend::SpoolError;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

/// Bytes that are sent at a time.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;

/// Chunks that wait for a slow client.
pub(crate) const WAITING_MAX: usize = 2;

/// The end of the channel that a writer sends chunks to.
pub(crate) type Sender = mpsc::Sender<Result<Bytes, SpoolError>>;

/// Why a body ends early.
pub(crate) enum Broken {
    Spool(SpoolError),
    /// The client has disconnected.
    Gone,
}

impl From<SpoolError> for Broken {
    fn from(error: SpoolError) -> Self {
        Broken::Spool(error)
    }
}

/// Sends one chunk; blocks while the client is slow.
pub(crate) fn send(sender: &Sender, bytes: impl Into<Bytes>) -> Result<(), Broken> {
    let sent = sender.blocking_send(Ok(bytes.into()));
    sent.map_err(|_| Broken::Gone)
}

/// Runs `write` on a blocking thread and returns the body that it writes. A body of one chunk has a
/// length; a failure before the first chunk is a problem with a status, and a later one breaks the
/// transfer off, so that the client does not take it for the end.
pub(crate) async fn stream_body(
    write: impl FnOnce(&Sender) -> Result<(), Broken> + Send + 'static,
) -> Result<Body, Problem> {
    let (sender, mut receiver) = mpsc::channel(WAITING_MAX);
    tokio::task::spawn_blocking(move || {
        if let Err(Broken::Spool(error)) = write(&sender) {
            // This fails only if the client has disconnected.
            let _ = sender.blocking_send(Err(error));
        }
    });
    let Some(first) = receiver.recv().await.transpose()? else {
        return Ok(Body::empty());
    };
    let Some(second) = receiver.recv().await else {
        return Ok(Body::from(first));
    };
    let begun = tokio_stream::iter([Ok(first), second]);
    Ok(Body::from_stream(
        begun.chain(ReceiverStream::new(receiver)),
    ))
}
