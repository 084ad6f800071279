//! One stream of an execution: its request, and the answer on its way into the spool.
//!
//! A [`StreamHandle`] sends the request and reads the socket until the END or a stop; a backend in
//! this process may answer without a socket. If the connection breaks, other backends are asked for
//! the rest; a slow one is raced.
//!
//! An [`Ingest`] processes the bytes without knowing sockets. Other threads see counters and, at
//! most every 50 ms, the best pointers.

use crate::execution::collector::Collector;
use crate::execution::hedge::{Race, RaceState};
use crate::execution::ingest::{Ingest, Ingested, Target};
use crate::execution::replicas::{Next, Replica, Untried, rest_of};
use crate::execution::state::StreamEvent;
use crate::execution::stream_stats::StreamStats;
use crate::execution::stream_trace::StreamTrace;
use crate::peers::health::{HEDGE_AFTER_MAX, HedgeBudget};
use crate::peers::{AnswerHere, Connection, Peer, PeerError, Socket};
use cache::lock;
use results::SkippedDocument;
use results::spool::ResultFiles;
use schema::frame::{Decoder, OwnFrames};
use schema::message::{self, End};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use trace::TraceSpan;

const HEDGES_MAX: u32 = 2;

pub(crate) struct StreamHandle {
    pub(crate) peer: Arc<Peer>,
    pub(crate) number: u16,
    pub(crate) search: message::Search,
    pub(crate) stats: StreamStats,
    pub(super) replicas: Vec<Replica>,
    pub(super) hedges: Arc<Mutex<HedgeBudget>>,
    pub(super) trace: TraceSpan,
    pub(super) connection: Mutex<ConnectionState>,
    /// `None` while the answer is received.
    pub(super) collector: Mutex<Option<Collector>>,
}

#[derive(Default)]
pub(super) enum ConnectionState {
    #[default]
    Idle,
    Connected(Arc<Socket>),
    /// A backend in this process answers until the flag is set.
    Here(Arc<AtomicBool>),
    /// The stream must not begin.
    Stopped,
}

impl StreamHandle {
    pub(crate) fn stop(&self) {
        let mut connection = lock(&self.connection);
        match &*connection {
            ConnectionState::Connected(stream) => stream.shutdown(),
            ConnectionState::Here(stop) => stop.store(true, Relaxed),
            ConnectionState::Idle | ConnectionState::Stopped => {}
        }
        *connection = ConnectionState::Stopped;
    }

    pub(crate) fn is_stopped(&self) -> bool {
        matches!(*lock(&self.connection), ConnectionState::Stopped)
    }

    /// Receives the whole answer into `collector`. `on_skip` gets each skipped document.
    pub(crate) fn receive(
        &self,
        search: &message::Search,
        spool: &ResultFiles,
        collector: &mut Collector,
        on_skip: &dyn Fn(SkippedDocument),
    ) -> Result<End, PeerError> {
        self.stats.answered.store(false, Relaxed);
        let target = Target {
            stream: self.number,
            search,
            stats: &self.stats,
            spool,
            on_skip: Box::new(on_skip),
        };
        let mut ingest = Ingest::new(target, collector, Instant::now());
        let answer = self.peer.backend.answer_here.as_ref();
        let result = answer.and_then(|answer| self.answer_here(answer, search, &mut ingest));
        let result = result.unwrap_or_else(|| self.ask_peers(search, &mut ingest));
        ingest.close(&result);
        result
    }

    fn ask_peers(
        &self,
        search: &message::Search,
        ingest: &mut Ingest<'_>,
    ) -> Result<End, PeerError> {
        let mut rest = Rest {
            search,
            asked: Instant::now(),
            untried: Untried::new(&self.peer, &self.replicas, search.shards.len()),
            late: Vec::new(),
            is_patient: false,
        };
        let mut trace = self.trace_stream(&self.peer, search.shards.len(), "first");
        let mut request = Vec::new();
        trace.search(search).encode(&mut request)?;
        if !self.replicas.is_empty() {
            lock(&self.hedges).add();
        }
        let (mut peer, mut first_fault) = ((&self.peer, self.replicas.len()), None);
        loop {
            match self.ask(peer, (&request[..], trace), ingest, &mut rest) {
                Ok(end) if ingest.account.is_done() => return Ok(end),
                Ok(end) => ingest.earlier = Some(end),
                Err(error) if self.is_stopped() || !ingest.can_resume_after(&error) => {
                    return Err(error);
                }
                Err(fault) => drop(first_fault.get_or_insert(fault)),
            }
            let Some(next) = rest.next(&ingest.account.left()) else {
                break;
            };
            rest.untried.tried[next.number] = true;
            let reason = first_fault.as_ref().map_or("", PeerError::label);
            metrics::counter!("trawl_frontend_streams_resumed_total", "reason" => reason)
                .increment(1);
            trace = self.trace_stream(next.peer, next.shards.len(), "resumed");
            request = rest.request(&next, ingest, &trace)?;
            ingest.ask(&next.shards);
            peer = (next.peer, next.number);
        }
        let fault = first_fault.unwrap_or(PeerError::Closed);
        match ingest.end_without_rest(&fault.to_string()) {
            Some(end) => {
                fault.count();
                let backend = self.peer.log_name();
                tracing::warn!(%backend, %fault, "no other backend serves all shards of a stream");
                Ok(end)
            }
            None => Err(fault),
        }
    }

    fn ask<'a>(
        &'a self,
        (peer, number): (&'a Arc<Peer>, usize),
        (request, trace): (&[u8], StreamTrace),
        ingest: &mut Ingest<'_>,
        rest: &mut Rest<'a>,
    ) -> Result<End, PeerError> {
        let mut idle = peer.take_idle();
        loop {
            peer.health().begin();
            self.stats.answered.store(false, Relaxed);
            let was_idle = idle.is_some();
            let connection = match idle.take() {
                Some(connection) => Ok(connection),
                None => rest.dial(peer, number, &ingest.account.left()),
            };
            let connection = connection.and_then(|connection| {
                self.connect(ConnectionState::Connected(Arc::clone(&connection.stream)))?;
                Ok(connection)
            });
            let mut source = match connection {
                Ok(connection) => Source {
                    peer: Arc::clone(peer),
                    number,
                    connection,
                    sent: Instant::now(),
                    is_heard: false,
                    trace: trace.clone(),
                    race: None,
                    hedges_left: HEDGES_MAX * u32::from(!self.replicas.is_empty()),
                },
                Err(error) => {
                    peer.settle(Some(&error));
                    trace.end(error.label(), &self.stats);
                    return Err(error);
                }
            };
            // Discards the rest of a file request.
            source.connection.decoder.consumed();
            let sent = source.connection.send(request);
            let result = sent.and_then(|()| self.read(&mut source, ingest, rest));
            self.disconnect();
            match result {
                // The connection broke while idle. Only greetings can be left on it.
                Err(PeerError::Broken(_) | PeerError::Closed)
                    if was_idle && !self.stats.answered.load(Relaxed) && !self.is_stopped() =>
                {
                    source.peer.health().end();
                }
                result => {
                    source.peer.settle(result.as_ref().err());
                    let outcome = result.as_ref().map_or_else(PeerError::label, |_| "end");
                    source.trace.end(outcome, &self.stats);
                    source.keep_idle(&result);
                    return result;
                }
            }
        }
    }

    fn read(
        &self,
        source: &mut Source,
        ingest: &mut Ingest<'_>,
        rest: &mut Rest<'_>,
    ) -> Result<End, PeerError> {
        loop {
            let taken = ingest.take(&mut source.connection.decoder, Instant::now());
            if !source.is_heard && self.stats.answered.load(Relaxed) {
                source.is_heard = true;
                let now = Instant::now();
                let (wait, is_light) = (now - source.sent, !rest.search.heavy);
                source.peer.health().hear(wait, is_light, now);
            }
            match taken? {
                Ingested::End(end) => return Ok(end),
                // After the write: disk time is not the backend's.
                Ingested::Grown => source.connection.touch(),
                Ingested::Nothing => {}
            }
            self.fill(source, ingest, rest)?;
        }
    }

    fn fill(
        &self,
        source: &mut Source,
        ingest: &mut Ingest<'_>,
        rest: &mut Rest<'_>,
    ) -> Result<(), PeerError> {
        loop {
            let filled = if source.race.is_none() && source.hedges_left > 0 {
                let wait = source.peer.health().hedge_after(!rest.search.heavy);
                source.connection.fill_within(wait)
            } else {
                source.connection.fill().map(|()| true)
            };
            let race = match filled {
                Ok(false) => {
                    self.hedge(source, ingest, rest)?;
                    continue;
                }
                Ok(true) | Err(_) => source.race.take(),
            };
            let Some(race) = race else {
                return filled.map(drop);
            };
            let outcome = match &filled {
                Ok(_) => race.end(),
                Err(_) => race.wait(|| self.is_stopped()),
            };
            if let RaceState::Won(connection) = outcome {
                // The slow one may be asked again if this one breaks.
                rest.untried.tried[source.number] = false;
                return self.change(source, *connection, &race, ingest);
            }
            race.peer.health().end();
            if let RaceState::Failed = outcome {
                race.trace.end("failed", &self.stats);
            } else {
                rest.untried.tried[race.number] = false;
                race.trace.end("slower", &self.stats);
            }
            return filled.map(drop);
        }
    }

    /// Only if another backend has all of the rest, and the budget allows.
    fn hedge(
        &self,
        source: &mut Source,
        ingest: &Ingest<'_>,
        rest: &mut Rest<'_>,
    ) -> Result<(), PeerError> {
        source.hedges_left -= 1;
        let next = rest.untried.next_for_all(&ingest.account.left());
        let Some(next) = next.filter(|_| lock(&self.hedges).take()) else {
            source.hedges_left = 0;
            return Ok(());
        };
        let trace = self.trace_stream(next.peer, next.shards.len(), "hedged");
        let request = rest.request(&next, ingest, &trace)?;
        let slow = Arc::clone(&source.connection.stream);
        next.peer.health().begin();
        match Race::start((next.peer, next.number), next.shards, request, slow, trace) {
            Ok(race) => {
                rest.untried.tried[race.number] = true;
                source.race = Some(race);
                metrics::counter!("trawl_frontend_streams_hedged_total", "result" => "asked")
                    .increment(1);
            }
            Err(_) => next.peer.health().end(),
        }
        Ok(())
    }

    /// Counts as a failure of the slow one, or a hanging backend would be asked again and again.
    fn change(
        &self,
        source: &mut Source,
        connection: Connection,
        race: &Race,
        ingest: &mut Ingest<'_>,
    ) -> Result<(), PeerError> {
        metrics::counter!("trawl_frontend_streams_hedged_total", "result" => "won").increment(1);
        source.peer.failed(None);
        source.trace.end("slower", &self.stats);
        source.trace = race.trace.clone();
        source.trace.goes_on(&self.stats);
        source.peer = Arc::clone(&race.peer);
        source.number = race.number;
        source.connection = connection;
        source.connection.touch();
        source.sent = Instant::now();
        source.is_heard = true;
        // Discards greetings.
        source.connection.decoder.consumed();
        ingest.ask(&race.shards);
        self.connect(ConnectionState::Connected(Arc::clone(
            &source.connection.stream,
        )))
    }

    /// `None` if it needs a connection.
    fn answer_here(
        &self,
        answer: &AnswerHere,
        search: &message::Search,
        ingest: &mut Ingest<'_>,
    ) -> Option<Result<End, PeerError>> {
        let trace = self.trace_stream(&self.peer, search.shards.len(), "first");
        let search = &*trace.search(search);
        let stop = Arc::default();
        if let Err(stopped) = self.connect(ConnectionState::Here(Arc::clone(&stop))) {
            return Some(Err(stopped));
        }
        let (mut result, mut decoder) = (None, None);
        let end = |taken| match taken {
            Ok(Ingested::End(end)) => Some(Ok(end)),
            Ok(Ingested::Grown | Ingested::Nothing) => None,
            Err(error) => Some(Err(error)),
        };
        let mut take = |mut frames: &[u8]| {
            if let Some(mut frames) = OwnFrames::new(frames) {
                while result.is_none() && !frames.is_done() {
                    result = end(ingest.take(&mut frames, Instant::now()));
                }
                return result.is_none();
            }
            let decoder = decoder.get_or_insert_with(Decoder::new);
            while result.is_none() && !frames.is_empty() {
                frames = decoder.take_from(frames);
                result = end(ingest.take(decoder, Instant::now()));
            }
            result.is_none()
        };
        let is_answered = answer(search, &stop, &mut take);
        self.disconnect();
        let result = match result {
            // A stopped search looks like a failure.
            Some(Err(_)) if self.is_stopped() => Err(PeerError::Stopped),
            Some(result) => result,
            None => Err(PeerError::Closed),
        };
        let outcome = match &result {
            _ if !is_answered => "handed_over",
            Ok(_) => "end",
            Err(error) => error.label(),
        };
        trace.end(outcome, &self.stats);
        is_answered.then_some(result)
    }

    fn trace_stream(&self, peer: &Peer, shards: usize, why: &'static str) -> StreamTrace {
        StreamTrace::begin(&self.trace, (peer, shards, why), &self.stats)
    }

    /// An error after a stop.
    fn connect(&self, way: ConnectionState) -> Result<(), PeerError> {
        let mut connection = lock(&self.connection);
        if let ConnectionState::Stopped = *connection {
            return Err(PeerError::Stopped);
        }
        *connection = way;
        Ok(())
    }

    fn disconnect(&self) {
        let mut connection = lock(&self.connection);
        if let ConnectionState::Connected(_) | ConnectionState::Here(_) = *connection {
            *connection = ConnectionState::Idle;
        }
    }
}

struct Source {
    peer: Arc<Peer>,
    number: usize,
    connection: Connection,
    sent: Instant,
    is_heard: bool,
    trace: StreamTrace,
    race: Option<Race>,
    hedges_left: u32,
}

impl Source {
    /// Only if its answer was read to the end.
    fn keep_idle(mut self, result: &Result<End, PeerError>) {
        if self.connection.is_at_rest()
            && let Ok(_) | Err(PeerError::Refused(_) | PeerError::Stale(_) | PeerError::Heavy) =
                result
        {
            self.peer.put_idle(self.connection);
        }
    }
}

struct Rest<'a> {
    search: &'a message::Search,
    asked: Instant,
    untried: Untried<'a>,
    /// Backends that connected too slowly while others were available.
    late: Vec<usize>,
    /// All others were tried, so connecting may take long.
    is_patient: bool,
}

impl<'a> Rest<'a> {
    /// Next backend: an untried one, else one that connected too slowly.
    fn next(&mut self, left: &[u32]) -> Option<Next<'a>> {
        if let Some(next) = self.untried.next(left) {
            return Some(next);
        }
        self.is_patient = true;
        // The control connection says nothing: it may be lost for the same
        // reason, and return as soon.
        while !self.late.is_empty() {
            let next = self.untried.again(self.late.remove(0), left);
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// Connects, but only briefly if another backend has all that is left: lost packets look like a
    /// slow connection.
    fn dial(&mut self, peer: &Peer, number: usize, left: &[u32]) -> Result<Connection, PeerError> {
        if self.is_patient || self.untried.next_for_all(left).is_none() {
            return peer.dial(Duration::MAX);
        }
        let dialled = peer.dial(HEDGE_AFTER_MAX);
        if dialled.as_ref().is_err_and(PeerError::is_late) {
            self.late.push(number);
        }
        dialled
    }

    fn request(
        &self,
        next: &Next<'_>,
        ingest: &Ingest<'_>,
        trace: &StreamTrace,
    ) -> Result<Vec<u8>, PeerError> {
        let mut search = if next.resumes {
            rest_of(self.search, ingest.resume_points(&next.shards))
        } else {
            self.search.clone()
        };
        search.deadline_ms = left_ms(search.deadline_ms, self.asked).ok_or(PeerError::Stopped)?;
        let mut request = Vec::new();
        trace.search(&search).encode(&mut request)?;
        Ok(request)
    }
}

/// Rest of `deadline_ms` (0: unlimited); `None` if it has passed.
fn left_ms(deadline_ms: u32, since: Instant) -> Option<u32> {
    let elapsed = u32::try_from(since.elapsed().as_millis()).unwrap_or(u32::MAX);
    match deadline_ms {
        0 => Some(0),
        _ => deadline_ms.checked_sub(elapsed).filter(|&left| left > 0),
    }
}

pub(crate) fn event(result: Result<End, PeerError>) -> StreamEvent {
    match result {
        Ok(end) => StreamEvent::End(end),
        Err(PeerError::Refused(bad)) => StreamEvent::Refused(bad),
        Err(PeerError::Heavy) => StreamEvent::Heavy,
        Err(PeerError::Spool(error)) => StreamEvent::Unspooled(error.in_words()),
        Err(lost) => StreamEvent::Lost(lost.to_string()),
    }
}
