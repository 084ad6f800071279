//! Rechecks the scope of a caller while a stream runs.

use crate::problem::{Problem, RETRY_AFTER_S};
use access::{Refusal, Viewer};
use axum::body::Body;
use bytes::Bytes;
use frontend::{Coordinator, Scope, Serving};
use futures_util::stream::{self, StreamExt};
use http_body::Body as _;
use std::future::pending;
use std::io;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Interval of checks, at most a quarter of a decision's life: otherwise the cache could evict a
/// decision before its revocation arrives.
const EVERY_MAX: Duration = Duration::from_secs(10);

/// Time for the last line. Unsent data is lost when a transfer is aborted.
const LAST_LINE_MAX: Duration = Duration::from_millis(100);

pub(crate) struct Watched {
    scope: Scope,
    pub(crate) serving: watch::Receiver<Serving>,
    look: Option<Look>,
}

struct Look {
    viewer: Viewer,
    denials: watch::Receiver<u64>,
    every: Duration,
    next: Instant,
    is_due: bool,
}

impl Watched {
    pub(crate) fn new(coordinator: &Coordinator, viewer: &Viewer, scope: &Scope) -> Watched {
        let look = viewer.authorization().map(|authorization| {
            let kept = authorization.decisions_kept();
            let every = kept.map_or(EVERY_MAX, |kept| EVERY_MAX.min(kept / 4));
            Look {
                viewer: viewer.clone(),
                denials: authorization.denials(),
                every,
                next: Instant::now() + every,
                is_due: false,
            }
        });
        Watched {
            scope: scope.clone(),
            serving: coordinator.serving(),
            look,
        }
    }

    pub(crate) async fn due(&mut self) {
        let Some(look) = &mut self.look else {
            return pending().await;
        };
        if !look.is_due {
            // An error: nothing will be revoked.
            tokio::select! {
                () = sleep_until(look.next) => {}
                Ok(()) = look.denials.changed() => {}
            }
            look.is_due = true;
        }
    }

    /// Returns a problem if the caller's scope has shrunk or is unknown. Send nothing before it
    /// returns.
    pub(crate) async fn look(&mut self) -> Option<Problem> {
        let look = self.look.as_mut()?;
        let scope = look.viewer.scope().await;
        look.is_due = false;
        look.next = Instant::now() + look.every;
        match scope {
            Ok(scope) if scope.covers(&self.scope) => None,
            Ok(scope) if scope.is_undecided() => Some(Problem::from(Refusal::Unknown {
                retry_after_s: RETRY_AFTER_S,
            })),
            Ok(_) => Some(Problem::access_changed(
                "you may not see any more what this answer shows",
            )),
            Err(refusal) => Some(refusal.into()),
        }
    }

    /// Aborts the body when the caller's scope shrinks. `reason` renders the last line.
    pub(crate) fn guard(self, body: Body, reason: Option<fn(&Problem) -> Vec<u8>>) -> Body {
        // A body with a length is sent at once.
        if self.look.is_none() || body.size_hint().exact().is_some() {
            return body;
        }
        let guarded = Guarded {
            watched: self,
            body: body.into_data_stream().boxed(),
            reason,
            is_line_begun: false,
            error: None,
        };
        Body::from_stream(stream::try_unfold(guarded, Guarded::next))
    }
}

struct Guarded {
    watched: Watched,
    body: stream::BoxStream<'static, Result<Bytes, axum::Error>>,
    reason: Option<fn(&Problem) -> Vec<u8>>,
    /// The last piece ended within a line.
    is_line_begun: bool,
    /// Follows the last line.
    error: Option<io::Error>,
}

impl Guarded {
    async fn next(mut self) -> io::Result<Option<(Bytes, Guarded)>> {
        if let Some(error) = self.error.take() {
            tokio::time::sleep(LAST_LINE_MAX).await;
            return Err(error);
        }
        loop {
            tokio::select! {
                biased;
                () = self.watched.due() => {
                    if let Some(problem) = self.watched.look().await {
                        return self.end(&problem);
                    }
                }
                piece = self.body.next() => {
                    let piece = piece.transpose().map_err(io::Error::other)?;
                    return Ok(piece.map(|piece| {
                        self.is_line_begun = piece.last().is_some_and(|&last| last != b'\n');
                        (piece, self)
                    }));
                }
            }
        }
    }

    /// Aborts the transfer, so that the client does not take it for the end.
    fn end(mut self, problem: &Problem) -> io::Result<Option<(Bytes, Guarded)>> {
        tracing::info!(reason = %problem, "an answer is broken off");
        let error = io::Error::other(problem.to_string());
        let Some(render) = self.reason else {
            return Err(error);
        };
        let begin: &[u8] = if self.is_line_begun { b"\n" } else { b"" };
        let line = [begin, &render(problem)].concat();
        self.error = Some(error);
        Ok(Some((line.into(), self)))
    }
}
