//! A span of a trace, and the span of the running request, without a parameter.

use crate::otlp::{Kind, Record, Value};
use crate::recorder::{Recorder, recorder};
use schema::message::TraceContext;
use std::borrow::Cow;
use std::num::{NonZeroU64, NonZeroU128};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The code sets fewer, whatever clients do.
const ATTRIBUTES_MAX: usize = 24;
const LINKS_MAX: usize = 8;

/// Handle of a span, which ends with [`end`](Self::end) or its last handle. An empty handle records
/// nothing, and its children are empty.
#[derive(Clone, Debug, Default)]
pub struct TraceSpan(State);

#[derive(Clone, Debug, Default)]
enum State {
    #[default]
    Empty,
    /// Not recorded here: its ids are for the log and other processes.
    Known(TraceContext),
    Recorded(Arc<Recorded>),
}

struct Recorded {
    context: TraceContext,
    recorder: Recorder,
    begun: Instant,
    /// `None` after the end.
    record: Mutex<Option<Record>>,
}

impl TraceSpan {
    /// Begins the span of an external request, in the caller's trace if it has one.
    pub fn of_request(
        recorder: Option<&Recorder>,
        caller: Option<TraceContext>,
        name: Cow<'static, str>,
    ) -> TraceSpan {
        match recorder {
            Some(recorder) if recorder.samples(caller.map(|caller| caller.is_sampled)) => {
                let trace = caller.map(|caller| caller.trace);
                let parent = caller.map(|caller| caller.span);
                TraceSpan::begin(recorder, trace, parent, name, Kind::Server)
            }
            _ => TraceSpan(caller.map_or(State::Empty, |caller| {
                let is_sampled = false;
                State::Known(TraceContext {
                    is_sampled,
                    ..caller
                })
            })),
        }
    }

    /// Begins the span of a frontend's request. The frontend decides about sampling.
    pub fn of_frontend(frontend: Option<TraceContext>, name: &'static str) -> TraceSpan {
        let Some(caller) = frontend else {
            return TraceSpan::default();
        };
        match recorder() {
            Some(recorder) if caller.is_sampled => {
                TraceSpan::of_request(Some(recorder), frontend, name.into())
            }
            _ => TraceSpan(State::Known(caller)),
        }
    }

    pub fn child(&self, name: &'static str, kind: Kind) -> TraceSpan {
        match &self.0 {
            State::Empty => TraceSpan::default(),
            State::Known(context) => TraceSpan(State::Known(*context)),
            State::Recorded(this) => {
                let TraceContext { trace, span, .. } = this.context;
                TraceSpan::begin(&this.recorder, Some(trace), Some(span), name.into(), kind)
            }
        }
    }

    /// Records a finished child span.
    pub fn child_between(&self, name: &'static str, begun: Instant, ended: Instant) {
        if let State::Recorded(this) = &self.0 {
            let TraceContext { trace, span, .. } = this.context;
            this.recorder.record(Record {
                trace: trace.get(),
                span: random_span().get(),
                parent: Some(span.get()),
                name: name.into(),
                begun_ns: unix_ns(begun),
                ended_ns: unix_ns(ended),
                ..Record::default()
            });
        }
    }

    fn begin(
        recorder: &Recorder,
        trace: Option<NonZeroU128>,
        parent: Option<NonZeroU64>,
        name: Cow<'static, str>,
        kind: Kind,
    ) -> TraceSpan {
        let begun = Instant::now();
        let random = || NonZeroU128::new(fastrand::u128(1..)).expect("it is at least 1");
        let (trace, span) = (trace.unwrap_or_else(random), random_span());
        let record = Record {
            trace: trace.get(),
            span: span.get(),
            parent: parent.map(NonZeroU64::get),
            name,
            kind,
            begun_ns: unix_ns(begun),
            ..Record::default()
        };
        TraceSpan(State::Recorded(Arc::new(Recorded {
            context: TraceContext {
                trace,
                span,
                is_sampled: true,
            },
            recorder: recorder.clone(),
            begun,
            record: Mutex::new(Some(record)),
        })))
    }

    pub fn context(&self) -> Option<TraceContext> {
        match &self.0 {
            State::Empty => None,
            State::Known(context) => Some(*context),
            State::Recorded(this) => Some(this.context),
        }
    }

    /// Trace id, as in the log.
    pub fn trace_id(&self) -> Option<String> {
        self.context()
            .map(|context| format!("{:032x}", context.trace))
    }

    /// Returns whether attributes are worth computing.
    pub fn is_recorded(&self) -> bool {
        matches!(self.0, State::Recorded(_))
    }

    /// Sets an attribute. Never search terms, unless the operator allows it: readers of traces may
    /// not be allowed to know them.
    pub fn set(&self, key: &'static str, value: impl Into<Value>) {
        self.change(|record| {
            let attributes = &mut record.attributes;
            attributes.retain(|(known, _)| *known != key);
            if attributes.len() < ATTRIBUTES_MAX {
                attributes.push((key, value.into()));
            }
        });
    }

    pub fn fail(&self, reason: &'static str) {
        self.change(|record| record.failure = Some(reason));
    }

    pub fn link(&self, other: &TraceSpan) {
        let Some(context) = other.context().filter(|_| other.is_recorded()) else {
            return;
        };
        self.change(|record| {
            if record.links.len() < LINKS_MAX {
                record.links.push((context.trace.get(), context.span.get()));
            }
        });
    }

    pub fn end(&self) {
        if let State::Recorded(this) = &self.0 {
            this.end();
        }
    }

    fn change(&self, change: impl FnOnce(&mut Record)) {
        if let State::Recorded(this) = &self.0 {
            let mut record = this.record.lock().unwrap_or_else(PoisonError::into_inner);
            record.as_mut().map(change);
        }
    }
}

tokio::task_local! {
    static CURRENT: TraceSpan;
}

/// Span of the running request, or an empty one.
pub fn current() -> TraceSpan {
    CURRENT.try_with(Clone::clone).unwrap_or_default()
}

pub async fn scope<F: Future>(span: TraceSpan, future: F) -> F::Output {
    if span.context().is_none() {
        return future.await;
    }
    CURRENT.scope(span, future).await
}

pub fn within<T>(span: TraceSpan, work: impl FnOnce() -> T) -> T {
    if span.context().is_none() {
        return work();
    }
    CURRENT.sync_scope(span, work)
}

/// Keeps the current span for another task.
pub fn in_current<F: Future>(future: F) -> impl Future<Output = F::Output> {
    scope(current(), future)
}

impl Recorded {
    fn end(&self) {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut record) = record.take() {
            let elapsed_ns = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
            record.ended_ns = record.begun_ns.saturating_add(elapsed_ns);
            self.recorder.record(record);
        }
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Debug for Recorded {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.context.fmt(formatter)
    }
}

fn random_span() -> NonZeroU64 {
    NonZeroU64::new(fastrand::u64(1..)).expect("it is at least 1")
}

fn unix_ns(at: Instant) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let at = now.saturating_sub(at.elapsed());
    u64::try_from(at.as_nanos()).unwrap_or(u64::MAX)
}
