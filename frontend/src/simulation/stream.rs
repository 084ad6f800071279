//! One stream on its way: what its backend says arrives piece by piece, and is walked as if it came
//! from a socket.

use super::random::Random;
use super::script::{Fault, Script};
use crate::execution::collector::Collector;
use crate::execution::ingest::{Ingest, Ingested, Target};
use crate::execution::stream_stats::StreamStats;
use crate::peers::PeerError;
use crate::peers::account::StreamEnd;
use crate::results::SkippedDocument;
use crate::spool::ResultFiles;
use schema::frame::Decoder;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// What all streams of a run share.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) scripts: &'a [Script],
    pub(super) stats: &'a [StreamStats],
    pub(super) spool: &'a ResultFiles,
    /// Said by walks, not yet heard by the run.
    pub(super) skipped: &'a RefCell<Vec<SkippedDocument>>,
}

pub(super) struct Stream<'a> {
    number: usize,
    ground: Ground<'a>,
    decoder: Decoder,
    state: State<'a>,
    /// Nobody wants it any more.
    pub(super) is_stopped: bool,
    /// Nothing happens on it before this step.
    pub(super) not_before: usize,
}

enum State<'a> {
    Asked {
        heavy: bool,
        collector: &'a mut Collector,
    },
    Open {
        walk: Ingest<'a>,
        wire: Vec<u8>,
        at: usize,
    },
    Waiting {
        collector: &'a mut Collector,
    },
    Closed,
}

/// How it ended, once it has.
pub(super) type Settled = Option<Result<StreamEnd, PeerError>>;

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

    /// Whether something is still to be heard from it.
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
            State::Open { walk, wire, at } => self.hear(random, walk, wire, at, now),
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
        let place = Target {
            backend: self.number as u16,
            search: &script.searches[usize::from(heavy)],
            meter: &stats[self.number],
            spool,
            skipped: Box::new(|document| skipped.borrow_mut().push(document)),
        };
        self.state = State::Open {
            walk: Ingest::new(place, collector, now),
            wire: script.answer(random, heavy),
            at: 0,
        };
    }

    /// The next piece, or the end of them.
    fn hear(
        &mut self,
        random: &mut Random,
        mut walk: Ingest<'a>,
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
            match walk.take(&mut self.decoder, now) {
                Ok(Ingested::End(end)) => Some(Ok(end)),
                Ok(Ingested::Written | Ingested::Nothing) => {
                    let at = at + piece.len();
                    self.state = State::Open { walk, wire, at };
                    return None;
                }
                Err(lost) => Some(Err(lost)),
            }
        };
        let result = result.expect("whatever goes on has returned");
        let collector = walk.close(&result);
        if let Err(PeerError::Heavy) = result {
            self.state = State::Waiting { collector };
        }
        Some(result)
    }

    /// Nothing more is heard: the connection was closed, or nobody knows why.
    fn over(&self, random: &mut Random) -> PeerError {
        let is_silent = self.ground.scripts[self.number].fault == Fault::Silence;
        match !self.is_stopped && (is_silent || random.one_in(2)) {
            true => PeerError::Silent(Duration::from_secs(3)),
            false => PeerError::closed(&self.decoder),
        }
    }
}
