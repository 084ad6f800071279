//! Distributed traces of requests, for OpenTelemetry.
//!
//! A [`TraceSpan`] is a part of a trace: a request, a wait, a stream. Its parent is in this process
//! or, by its [`TraceContext`], in another. The running request has a [`current`] span. The
//! [`Recorder`] queues finished spans. The caller sends batches of them to a collector, as OTLP
//! JSON: this crate opens no socket.
//!
//! **Invariant:** no request waits for the collector. Spans that overflow the bounded queue or that
//! the collector rejects are dropped and counted. Without a recorder there are no spans.
//! ```
//! use trace::{Kind, Recorder, TraceSpan};
//!
//! let parent = trace::parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
//! // Without a recorder the ids of the caller are known, and nothing is recorded.
//! let request = TraceSpan::of_request(None, parent, "GET /search".into());
//! assert!(!request.is_recorded());
//! assert_eq!(request.trace_id().unwrap(), "0af7651916cd43dd8448eb211c80319c");
//! request.child("parse", Kind::Internal).set("trawl.patterns", 2);
//! ```

mod otlp;
mod queue;
mod recorder;
mod span;
mod traceparent;

pub use otlp::{Kind, Resource, Value};
pub use recorder::{Recorder, Sent, Transport, describe_metrics, flush, install, recorder};
pub use schema::message::TraceContext;
pub use span::{TraceSpan, current, in_current, scope, within};
pub use traceparent::parse_traceparent;
