//! Plays one execution: bytes arrive in pieces, streams advance in any order, and clients,
//! admission and time act in between.

use super::best_files::{BestFiles, First};
use super::corpus::CONTEXT_LINES;
use super::driver::{Driver, StreamAction};
use super::model::Model;
use super::random::Random;
use super::scenario::Scenario;
use super::stream::{Ground, Stream};
use super::verify;
use crate::execution::collector::Collector;
use crate::execution::memory::Memory;
use crate::execution::state::{Event, StreamEvent};
use crate::execution::stream;
use crate::execution::stream_stats::{StreamStats, TopMatches};
use crate::peers::PeerError;
use results::spool::Spool;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;

/// Steps after which an execution counts as endless: the longest of 10,000 took fewer than 1,000.
const STEPS_MAX: usize = 5000;

pub(super) struct Played {
    pub(super) is_complete: bool,
    pub(super) seen: Vec<&'static str>,
    pub(super) story: Vec<String>,
}

pub(super) fn play(seed: u64, directory: &Path) -> Played {
    let mut random = Random::new(seed);
    let scenario = Scenario::new(&mut random);
    let model = Model::new(&scenario.scripts);
    let (spool, _) = Spool::open(directory, scenario.disk.limits()).unwrap();
    let run = Arc::new(spool.create("0123456789abcdef", scenario.scripts.len()));
    let memory = Memory::new(scenario.memory);
    let collector = |(stream, _)| Collector::new(stream, memory.share(scenario.memory));
    let mut collectors: Vec<Collector> = (0..).zip(&scenario.scripts).map(collector).collect();
    let stats = |_: &Collector| StreamStats::new(watch::Sender::default());
    let stats: Vec<StreamStats> = collectors.iter().map(stats).collect();
    let ground = Ground {
        scripts: &scenario.scripts,
        stats: &stats,
        spool: &run,
        skipped: &RefCell::default(),
    };
    let world = World::new(&scenario, &model, ground, &mut collectors);
    let (driver, first) = world.play(&mut random);
    let ended = verify::Ended {
        driver,
        first,
        best_files: BestFiles::read(ground, &model, &scenario),
        collectors,
        run,
    };
    let (is_complete, driver) = verify::check(&mut random, &scenario, &model, ended);
    let Driver { seen, story, .. } = driver;
    assert_eq!(memory.left(), scenario.memory, "memory is given back");
    let held = (spool.disk_bytes(), spool.memory_bytes());
    assert_eq!(held, (0, 0), "so are bytes on the disk and in memory");
    Played {
        is_complete,
        seen,
        story,
    }
}

struct World<'a, 's> {
    scenario: &'s Scenario,
    model: &'s Model,
    ground: Ground<'a>,
    driver: Driver<'s>,
    streams: Vec<Stream<'a>>,
    first: First,
}

impl<'a, 's> World<'a, 's> {
    fn new(
        scenario: &'s Scenario,
        model: &'s Model,
        ground: Ground<'a>,
        collectors: &'a mut [Collector],
    ) -> Self {
        let streams = collectors.iter_mut().enumerate();
        World {
            scenario,
            model,
            ground,
            driver: Driver::new(scenario),
            streams: streams
                .map(|(number, collector)| Stream::new(number, ground, collector))
                .collect(),
            first: First::default(),
        }
    }

    fn play(mut self, random: &mut Random) -> (Driver<'s>, First) {
        self.on(random, Event::Join { deadline: None });
        self.on(random, Event::Start);
        while !self.driver.is_finalizing {
            let actions = self.driver.step(random);
            self.act(random, actions);
            let step = self.driver.step;
            assert!(step < STEPS_MAX, "it never ends");
            let ready = |stream: &Stream<'_>| stream.is_active() && stream.not_before <= step;
            let ready: Vec<usize> = (0..self.streams.len())
                .filter(|&number| ready(&self.streams[number]))
                .collect();
            if !ready.is_empty() {
                let stream = random.pick(&ready);
                self.stream(random, stream);
            }
            if random.one_in(8) {
                self.look();
            }
        }
        (self.driver, self.first)
    }

    fn stream(&mut self, random: &mut Random, number: usize) {
        let now = self.driver.now().instant;
        let stream = &mut self.streams[number];
        if random.one_in(3) {
            stream.not_before = self.driver.step + random.below(30);
        }
        let settled = stream.step(random, now);
        self.driver.seen.append(&mut stream.events);
        for document in self.ground.skipped.take() {
            let event = StreamEvent::Skip(document);
            self.on(random, Event::Stream(number, event));
        }
        let Some(result) = settled else {
            return;
        };
        let label = result.as_ref().map_or_else(PeerError::label, |_| "end");
        self.driver.seen.push(label);
        let event = Event::Stream(number, stream::event(result));
        self.on(random, event.clone());
        let closes = !matches!(event, Event::Stream(_, StreamEvent::Heavy));
        if closes && random.one_in(4) {
            let again = self.driver.on(random, event);
            assert!(again.is_empty(), "closing twice is closing once");
        }
    }

    fn on(&mut self, random: &mut Random, event: Event) {
        let actions = self.driver.on(random, event);
        self.act(random, actions);
    }

    fn act(&mut self, random: &mut Random, actions: Vec<StreamAction>) {
        for action in actions {
            match action {
                StreamAction::Open { stream, heavy } => self.streams[stream].open(random, heavy),
                StreamAction::Stop(stream) => {
                    assert!(self.streams[stream].is_active(), "{stream} has ended");
                    self.streams[stream].is_stopped = true;
                }
            }
        }
        let mut active = self.streams.iter().filter(|stream| stream.is_active());
        if self.driver.is_finalizing {
            assert_eq!(active.count(), 0, "finalized early");
        } else if self.driver.is_halted() {
            assert!(active.all(|stream| stream.is_stopped), "all streams stop");
        }
    }

    fn look(&mut self) {
        let top = TopMatches::new(self.ground.stats.iter(), self.scenario.limit);
        let shown = results::read(self.ground.spool, &top.pointers, CONTEXT_LINES);
        let shown = shown.expect("what is shown is written");
        self.model.check(&shown);
        if top.is_final {
            self.first.page.get_or_insert(shown);
        }
        let files = BestFiles::read(self.ground, self.model, self.scenario);
        if files.is_final {
            self.first.files.get_or_insert(files);
        }
    }
}
