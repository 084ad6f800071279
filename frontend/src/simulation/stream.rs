//! A simulated stream: bytes arrive piece by piece, ingested as from a socket.

use super::random::Random;
use super::script::{Fault, Script};
use crate::execution::collector::Collector;
use crate::execution::ingest::{Ingest, Ingested, Target};
use crate::execution::stream_stats::StreamStats;
use crate::peers::PeerError;
use results::SkippedDocument;
use results::spool::ResultFiles;
use schema::frame::{Decoder, Kind};
use schema::message::End;
use std::cell::RefCell;
use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) scripts: &'a [Script],
    pub(super) stats: &'a [StreamStats],
    pub(super) spool: &'a ResultFiles,
    /// Skipped documents not reported to the execution yet.
    pub(super) skipped: &'a RefCell<Vec<SkippedDocument>>,
}

pub(super) struct Stream<'a> {
    number: usize,
    ground: Ground<'a>,
    decoder: Decoder,
    state: State<'a>,
    pub(super) is_stopped: bool,
    /// Idle until this step.
    pub(super) not_before: usize,
    pub(super) events: Vec<&'static str>,
}

#[expect(clippy::large_enum_variant, reason = "a simulation has a few streams")]
enum State<'a> {
    Asked {
        heavy: bool,
        collector: &'a mut Collector,
    },
    Open(Open<'a>),
    Waiting {
        collector: &'a mut Collector,
    },
    Closed,
}

struct Open<'a> {
    ingest: Ingest<'a>,
    wire: Wire,
    backend: usize,
    /// The decoder has the first frame of a race's winner.
    has_begun: bool,
    race: Option<(usize, Decoder, Wire)>,
    tried: Vec<usize>,
    first_fault: Option<PeerError>,
}

/// `at` bytes have arrived.
struct Wire {
    bytes: Vec<u8>,
    at: usize,
}

impl Wire {
    fn new(bytes: Vec<u8>) -> Wire {
        Wire { bytes, at: 0 }
    }

    fn is_over(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn arrive(&mut self, random: &mut Random, decoder: &mut Decoder) {
        let most = random.pick(&[1, 40, 300, 2000, 400_000]);
        let space = decoder.space();
        let left = self.bytes.len() - self.at;
        let bytes = space.len().min(left).min(1 + random.below(most));
        space[..bytes].copy_from_slice(&self.bytes[self.at..self.at + bytes]);
        decoder.filled(bytes);
        self.at += bytes;
    }
}

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
            events: Vec::new(),
        }
    }

    pub(super) fn is_active(&self) -> bool {
        matches!(self.state, State::Asked { .. } | State::Open(_))
    }

    pub(super) fn open(&mut self, random: &mut Random, heavy: bool) {
        let State::Waiting { collector } = std::mem::replace(&mut self.state, State::Closed) else {
            panic!("stream {} is opened and does not wait", self.number);
        };
        if random.one_in(2) {
            self.decoder = Decoder::new();
        }
        self.state = State::Asked { heavy, collector };
    }

    pub(super) fn step(&mut self, random: &mut Random, now: Instant) -> Settled {
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Asked { .. } if self.is_stopped => Some(Err(PeerError::Stopped)),
            State::Asked { heavy, collector } => {
                self.begin(random, heavy, collector, now);
                None
            }
            State::Open(open) => self.hear(random, open, now),
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
            stream: self.number as u16,
            search: &script.searches[usize::from(heavy)],
            stats: &stats[self.number],
            spool,
            on_skip: Box::new(|document| skipped.borrow_mut().push(document)),
        };
        self.state = State::Open(Open {
            ingest: Ingest::new(target, collector, now),
            wire: Wire::new(script.answer(random, heavy)),
            backend: script.first(),
            has_begun: false,
            race: None,
            tried: vec![script.first()],
            first_fault: None,
        });
    }

    fn hear(&mut self, random: &mut Random, mut open: Open<'a>, now: Instant) -> Settled {
        let has_begun = std::mem::take(&mut open.has_begun);
        let is_over = open.wire.is_over() && !has_begun || self.is_stopped && random.one_in(2);
        let races = open.race.is_some() && (is_over || random.one_in(2)) && !self.is_stopped;
        if races && self.race(random, &mut open) {
            self.state = State::Open(open);
            return None;
        }
        let result = if is_over {
            Err(self.over(random, &open))
        } else if !has_begun && self.hedges(random, &mut open) {
            self.state = State::Open(open);
            return None;
        } else {
            // The backend that answers first delivers.
            if let Some((number, ..)) = open.race.take() {
                open.tried.retain(|&it| it != number);
            }
            if !has_begun {
                open.wire.arrive(random, &mut self.decoder);
            }
            match open.ingest.take(&mut self.decoder, now) {
                Ok(Ingested::Grown | Ingested::Nothing) => {
                    self.state = State::Open(open);
                    return None;
                }
                Ok(Ingested::End(end)) => Ok(end),
                Err(lost) => Err(lost),
            }
        };
        let result = match result {
            Ok(end) if !open.ingest.account.is_done() => {
                open.ingest.earlier = Some(end);
                None
            }
            Err(fault) if !self.is_stopped && open.ingest.can_resume_after(&fault) => {
                open.first_fault.get_or_insert(fault);
                None
            }
            result => Some(result),
        };
        let result = match result {
            Some(result) => result,
            None if self.resume(random, &mut open) => {
                self.state = State::Open(open);
                return None;
            }
            None => {
                let fault = open.first_fault.expect("only a fault leaves shards");
                let end = open.ingest.end_without_rest(&fault.to_string());
                self.events.extend(end.is_some().then_some("in_part"));
                end.ok_or(fault)
            }
        };
        let collector = open.ingest.close(&result);
        if let Err(PeerError::Heavy) = result {
            self.state = State::Waiting { collector };
        }
        Some(result)
    }

    fn next(&self, open: &Open<'_>) -> Option<(usize, Vec<u32>)> {
        let script = &self.ground.scripts[self.number];
        let left = open.ingest.account.left();
        let mut best: Option<(usize, Vec<u32>)> = None;
        for (number, replica) in script.replicas.iter().enumerate() {
            let mut shards = replica.shards.clone();
            shards.retain(|shard| left.contains(shard));
            let can_answer = replica.resumes || shards.len() == script.shards.len();
            let value = (replica.resumes, shards.len());
            let is_best = best.as_ref().is_none_or(|(number, best)| {
                value > (script.replicas[*number].resumes, best.len())
            });
            if !open.tried.contains(&number) && !shards.is_empty() && can_answer && is_best {
                best = Some((number, shards));
            }
        }
        best
    }

    fn resume(&mut self, random: &mut Random, open: &mut Open<'a>) -> bool {
        let Some((number, shards)) = self.next(open) else {
            return false;
        };
        let script = &self.ground.scripts[self.number];
        let points = open.ingest.resume_points(&shards);
        let bytes = script.answer_of(random, &script.replicas[number], &points);
        open.tried.push(number);
        open.ingest.ask(&shards);
        (open.wire, open.backend, open.race) = (Wire::new(bytes), number, None);
        self.decoder = Decoder::new();
        self.events.push("resumed");
        true
    }

    /// Maybe hedges. Everything received must be true, since gaps would stay undetected.
    fn hedges(&mut self, random: &mut Random, open: &mut Open<'a>) -> bool {
        let script = &self.ground.scripts[self.number];
        if open.race.is_some() || !script.fault.is_survived() || !random.one_in(12) {
            return false;
        }
        let left = open.ingest.account.left().len();
        let Some((number, shards)) = self.next(open).filter(|(_, shards)| shards.len() == left)
        else {
            return false;
        };
        if !script.replicas[number].resumes {
            return false;
        }
        let points = open.ingest.resume_points(&shards);
        let bytes = script.answer_of(random, &script.replicas[number], &points);
        open.tried.push(number);
        open.race = Some((number, Decoder::new(), Wire::new(bytes)));
        true
    }

    /// Returns true if the race continues or is won.
    fn race(&mut self, random: &mut Random, open: &mut Open<'a>) -> bool {
        let Some((number, mut decoder, mut wire)) = open.race.take() else {
            return false;
        };
        if wire.is_over() {
            return false;
        }
        wire.arrive(random, &mut decoder);
        loop {
            match decoder.peek() {
                Err(_) => return false,
                Ok(None) => {
                    open.race = Some((number, decoder, wire));
                    return true;
                }
                Ok(Some(Kind::Hello)) => drop(decoder.decode()),
                Ok(Some(_)) => break,
            }
        }
        decoder.consumed();
        self.decoder = decoder;
        let left = open.ingest.account.left();
        open.ingest.ask(&left);
        // The slow one may be asked again.
        open.tried.retain(|&it| it != open.backend);
        (open.wire, open.backend, open.has_begun) = (wire, number, true);
        self.events.push("hedged");
        true
    }

    fn over(&self, random: &mut Random, open: &Open<'_>) -> PeerError {
        let script = &self.ground.scripts[self.number];
        let is_silent = open.backend == script.first() && script.fault == Fault::Silence;
        if !self.is_stopped && (is_silent || random.one_in(2)) {
            PeerError::Silent(Duration::from_secs(3))
        } else {
            PeerError::closed(&self.decoder)
        }
    }
}
