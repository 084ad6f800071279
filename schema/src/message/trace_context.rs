//! Trace context, sent with SEARCH to backends.

use crate::trawl_capnp::trace_context;
use std::num::{NonZeroU64, NonZeroU128};

/// Span of a trace, perhaps of another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// Trace id.
    pub trace: NonZeroU128,
    /// Span id.
    pub span: NonZeroU64,
    /// True if spans are recorded.
    pub is_sampled: bool,
}

impl TraceContext {
    pub(super) fn encode_to(self, mut to: trace_context::Builder<'_>) {
        to.set_trace_high((self.trace.get() >> 64) as u64);
        to.set_trace_low(self.trace.get() as u64);
        to.set_span(self.span.get());
        to.set_sampled(self.is_sampled);
    }

    /// `None` if an id is 0, as without a context.
    pub(super) fn decode_from(from: trace_context::Reader<'_>) -> Option<TraceContext> {
        let (high, low) = (from.get_trace_high(), from.get_trace_low());
        Some(TraceContext {
            trace: NonZeroU128::new(u128::from(high) << 64 | u128::from(low))?,
            span: NonZeroU64::new(from.get_span())?,
            is_sampled: from.get_sampled(),
        })
    }
}
