//! One simulated stream: what its backend sends arrives piece by piece, and is ingested as if it came
//! from a socket.

use super::random::Random;
use super::script::{Fault, Script};
use crate::execution::collector::Collector;
use crate::execution::stream::{Ingest, Ingested, Target};
use crate::execution::stream_stats::StreamStats;
use crate::peers::PeerError;
use crate::results::SkippedDocument;
use crate::spool::ResultFiles;
use schema::frame::Decoder;
use schema::message::End;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// What all streams share.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) scripts: &'a [Script],
    pub(super) stats: &'a [StreamStats],
    pub(super) spool: &'a ResultFiles,
    /// Skipped documents that the execution has not been told of yet.
    pub(super) skipped: &'a RefCell<Vec<SkippedDocument>>,
}

pub(super) struct Stream<'a> {
    number: usize,
    ground: Ground<'a>,
    decoder: Decoder,
    state: State<'a>,
    /// The execution has stopped it.
    pub(super) is_stopped: bool,
    /// The step before which nothing happens on it.
    pub(super) not_before: usize,
}

#[expect(clippy::large_enum_variant, reason = "a simulation has a few streams")]
enum State<'a> {
    Asked {
        heavy: bool,
        collector: &'a mut Collector,
    },
    Open {
        ingest: Ingest<'a>,
        wire: Vec<u8>,
        at: usize,
    },
    Waiting {
        collector: &'a mut Collector,
    },
    Closed,
}

/// How a request ended; `None` while it goes on.
pub(super) type Settled = Option<Result<End, PeerError>>;

impl<'a> Stream<'a> {
    pub(super) fn new(number: usize, ground: Ground<'a>, collector: &'a mut Collector) -> Self {
        Stream {
            number,
            ground,
            decoder: Decoder::new(),
            state: State::Waiting { collector },
            is_stopped: false,
            not_before: 0,
        }
    }

    /// Whether an event is still to come from it.
    pub(super) fn is_active(&self) -> bool {
        matches!(self.state, State::Asked { .. } | State::Open { .. })
    }

    /// Sends the request: on the same connection as the last one, or on another one.
    pub(super) fn open(&mut self, random: &mut Random, heavy: bool) {
        let State::Waiting { collector } = std::mem::replace(&mut self.state, State::Closed) else {
            panic!("stream {} is opened and does not wait", self.number);
        };
        if random.one_in(2) {
            self.decoder = Decoder::new();
        }
        self.state = State::Asked { heavy, collector };
    }

    /// Lets something happen.
    pub(super) fn step(&mut self, random: &mut Random, now: Instant) -> Settled {
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Asked { .. } if self.is_stopped => Some(Err(PeerError::Stopped)),
            State::Asked { heavy, collector } => {
                self.begin(random, heavy, collector, now);
                None
            }
            State::Open { ingest, wire, at } => self.hear(random, ingest, wire, at, now),
            other @ (State::Waiting { .. } | State::Closed) => {
                self.state = other;
                None
            }
        }
    }

    fn begin(
        &mut self,
        random: &mut Random,
        heavy: bool,
        collector: &'a mut Collector,
        now: Instant,
    ) {
        let Ground {
            scripts,
            stats,
            spool,
            skipped,
        } = self.ground;
        let script = &scripts[self.number];
        let target = Target {
            backend: self.number as u16,
            search: &script.searches[usize::from(heavy)],
            stats: &stats[self.number],
            spool,
            on_skip: Box::new(|document| skipped.borrow_mut().push(document)),
        };
        self.state = State::Open {
            ingest: Ingest::new(target, collector, now),
            wire: script.answer(random, heavy),
            at: 0,
        };
    }

    /// Receives the next piece, or the end.
    fn hear(
        &mut self,
        random: &mut Random,
        mut ingest: Ingest<'a>,
        wire: Vec<u8>,
        at: usize,
        now: Instant,
    ) -> Settled {
        let is_over = at == wire.len() || self.is_stopped && random.one_in(2);
        let result = if is_over {
            Some(Err(self.over(random)))
        } else {
            let most = random.pick(&[1, 40, 300, 2000, 400_000]);
            let space = self.decoder.space();
            let bytes = space.len().min(wire.len() - at).min(1 + random.below(most));
            let piece = &wire[at..at + bytes];
            space[..bytes].copy_from_slice(piece);
            self.decoder.filled(piece.len());
            match ingest.take(&mut self.decoder, now) {
                Ok(Ingested::End(end)) => Some(Ok(end)),
                Ok(Ingested::Written | Ingested::Nothing) => {
                    let at = at + piece.len();
                    self.state = State::Open { ingest, wire, at };
                    return None;
                }
                Err(lost) => Some(Err(lost)),
            }
        };
        let result = result.expect("a request that goes on has returned");
        let collector = ingest.close(&result);
        if let Err(PeerError::Heavy) = result {
            self.state = State::Waiting { collector };
        }
        Some(result)
    }

    /// Why nothing more arrives: silence, or the end of the connection.
    fn over(&self, random: &mut Random) -> PeerError {
        let is_silent = self.ground.scripts[self.number].fault == Fault::Silence;
        if !self.is_stopped && (is_silent || random.one_in(2)) {
            PeerError::Silent(Duration::from_secs(3))
        } else {
            PeerError::closed(&self.decoder)
        }
    }
}
