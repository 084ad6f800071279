//! Cache of expensive rendered answers: facets, lists of packages, and grouped pages of results on
//! disk, with single flight.
//!
//! Only complete answers are cached; they are fixed for query, scope and generation. The response
//! adds the client's id. Above a limit renderings are refused, to protect light queries.

use crate::http::response::{KnownTags, is_whole};
use crate::http::{blocking, rendering};
use crate::model::Timings;
use crate::problem::Problem;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use frontend::cache::{Built, Cache, CacheConfig, CacheError};
use frontend::{Query, SearchHandle, SearchResult};
use http_body::{Body as HttpBody, Frame, SizeHint};
use serde::Serialize;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Entries never become stale: only frees memory.
const LIFE_MAX: Duration = Duration::from_secs(600);

/// Running or queued. At some 50 ms each, the last one waits less than half a second.
const PER_PROCESSOR_MAX: usize = 8;

const RENDER_TIME_MAX: Duration = Duration::from_secs(30);

/// Beginning of the JSON.
const ID: &str = "{\"id\":\"";

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RenderedKey {
    scope: [u8; 16],
    generation: String,
    query: Query,
    view: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Rendered {
    content_type: &'static str,
    /// An id precedes the bytes.
    has_id: bool,
    bytes: Bytes,
    timings: Timings,
}

pub(crate) struct RenderedAnswers {
    kept: Arc<Cache<Arc<RenderedKey>, Rendered, Problem>>,
    processors: Arc<Semaphore>,
}

impl RenderedAnswers {
    /// Keeps at most `bytes_max`. 0 disables caching and sharing.
    pub(crate) fn new(bytes_max: u64) -> RenderedAnswers {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let config = CacheConfig {
            life: LIFE_MAX,
            hard: Duration::ZERO,
            bytes_max,
            builds_max: PER_PROCESSOR_MAX * processors,
            build_max: RENDER_TIME_MAX,
            off: bytes_max == 0,
            ..CacheConfig::new("rendered")
        };
        RenderedAnswers {
            kept: Cache::new(config, weigh),
            processors: Arc::new(Semaphore::new(processors)),
        }
    }

    /// `view` covers everything that the bytes depend on, besides the answer.
    pub(crate) async fn get(
        &self,
        search: &SearchHandle,
        answer: &SearchResult,
        view: String,
        render: Box<dyn FnOnce() -> Result<Rendered, Problem> + Send>,
    ) -> Result<Rendered, Problem> {
        if self.kept.config().off || answer.is_in_memory() || !is_whole(answer) {
            return rendering(answer, render).await;
        }
        let key = Arc::new(RenderedKey {
            scope: search.scope().hash(),
            generation: answer.generation().to_owned(),
            query: answer.query().clone(),
            view,
        });
        let processors = Arc::clone(&self.processors);
        let build = || async move {
            let permit = processors.acquire_owned().await;
            let rendered = blocking(render).await;
            drop(permit);
            rendered.map_or_else(Built::Transient, Built::Value)
        };
        let rendered = self.kept.get_or_build(key, None, build).await;
        rendered.map_err(|error| match error {
            CacheError::Failed(problem) => problem,
            CacheError::Busy { retry_after } | CacheError::Late { retry_after } => {
                Problem::busy(error.to_string(), retry_after.as_secs())
            }
        })
    }
}

fn weigh(key: &Arc<RenderedKey>, rendered: &Rendered) -> usize {
    let texts = key.generation.len() + key.query.interpreted_as().len() + key.view.len();
    size_of::<RenderedKey>() + texts + rendered.bytes.len()
}

impl Rendered {
    /// Renders JSON with an empty id as its first field.
    pub(crate) fn json(shape: &impl Serialize, timings: Timings) -> Rendered {
        let json = serde_json::to_vec(shape).expect("shapes are plain data");
        assert!(json.starts_with(ID.as_bytes()), "the id comes first");
        Rendered {
            content_type: "application/json",
            has_id: true,
            bytes: Bytes::from(json).slice(ID.len()..),
            timings,
        }
    }

    pub(crate) fn plain(
        content_type: &'static str,
        body: impl Into<Bytes>,
        timings: Timings,
    ) -> Rendered {
        Rendered {
            content_type,
            has_id: false,
            bytes: body.into(),
            timings,
        }
    }

    pub(crate) fn respond(
        self,
        known: &KnownTags,
        search: &SearchHandle,
        answer: &SearchResult,
        id: &str,
    ) -> Response {
        let head = if self.has_id {
            Bytes::from(format!("{ID}{id}"))
        } else {
            Bytes::new()
        };
        let content_type = [(header::CONTENT_TYPE, self.content_type)];
        let body = Body::new(TwoParts([head, self.bytes]));
        let mut response = (content_type, body).into_response();
        known.finish(&mut response, answer, &self.timings, search.was_there());
        response
    }
}

struct TwoParts([Bytes; 2]);

impl HttpBody for TwoParts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let mut parts = self.0.iter_mut();
        let next = parts.find(|part| !part.is_empty()).map(std::mem::take);
        Poll::Ready(next.map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.iter().all(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        let bytes = self.0.iter().map(|part| part.len() as u64);
        SizeHint::with_exact(bytes.sum())
    }
}
