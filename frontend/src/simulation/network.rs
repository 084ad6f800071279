//! Who hears what when: bytes arrive in pieces, streams in any order, and the rim's own events
//! between them.

use super::corpus::CONTEXT_LINES;
use super::dice::Dice;
use super::judge::{self, Model};
use super::scene::Scene;
use super::script::Script;
use super::stream::{Ground, Stream};
use crate::execution::collector::Collector;
use crate::execution::ingest::Now;
use crate::execution::memory::Memory;
use crate::execution::receive::event;
use crate::execution::state::{Action, Event, State};
use crate::execution::stream_stats::{StreamStats, TopMatches};
use crate::peers::PeerError;
use crate::peers::account::StreamEnd;
use crate::query::BadQuery;
use crate::results;
use crate::results::Match;
use crate::results::Outcome;
use crate::spool::Spool;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// A run that takes more steps than this goes on for ever: the longest of 1,500 took 412.
const STEPS_MAX: usize = 5000;

/// How it went.
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    /// It was halted or shed before it had finished.
    pub(super) halted: bool,
    /// What was said to be the first page, when that was final.
    pub(super) first_page: Option<Vec<Match>>,
    endings: Vec<&'static str>,
    story: Vec<String>,
}

/// A seed, played to its end.
pub(super) struct Played {
    pub(super) is_complete: bool,
    /// How its streams ended, in a word each.
    pub(super) endings: Vec<&'static str>,
    /// All that happened.
    pub(super) story: Vec<String>,
}

/// Plays a seed to its end, and judges it.
pub(super) fn play(seed: u64, directory: &Path) -> Played {
    let mut dice = Dice::new(seed);
    let scene = Scene::new(&mut dice);
    let model = Model::new(&scene.scripts);
    let (spool, _) = Spool::open(directory, scene.disk.limits()).unwrap();
    let run = Arc::new(spool.create("0123456789abcdef", scene.scripts.len()));
    let memory = Memory::new(scene.memory);
    let share = |_: &Script| Collector::new(memory.share(scene.memory));
    let mut collectors: Vec<Collector> = scene.scripts.iter().map(share).collect();
    let stats: Vec<StreamStats> = collectors.iter().map(|_| StreamStats::default()).collect();
    let ground = Ground {
        scripts: &scene.scripts,
        stats: &stats,
        spool: &run,
        skipped: &RefCell::default(),
    };
    let ended = World::new(&scene, &model, ground, &mut collectors).play(&mut dice);
    let (endings, story) = (ended.endings.clone(), ended.story.clone());
    let is_complete = judge::check(&scene, &model, ended, collectors, run);
    assert_eq!(memory.left(), scene.memory, "memory is given back");
    let held = (spool.disk_bytes(), spool.memory_bytes());
    assert_eq!(held, (0, 0), "so are bytes on the disk and in memory");
    Played {
        is_complete,
        endings,
        story,
    }
}

struct World<'a> {
    scene: &'a Scene,
    model: &'a Model,
    ground: Ground<'a>,
    run: State,
    streams: Vec<Stream<'a>>,
    start: Instant,
    step: usize,
    /// When the run has its turn.
    turn: Option<usize>,
    outcome: Option<Box<Outcome>>,
    halted: bool,
    first_page: Option<Vec<Match>>,
    endings: Vec<&'static str>,
    story: Vec<String>,
}

impl<'a> World<'a> {
    fn new(
        scene: &'a Scene,
        model: &'a Model,
        ground: Ground<'a>,
        collectors: &'a mut [Collector],
    ) -> Self {
        let assignments = (0..scene.scripts.len()).map(|stream| scene.assignment(stream));
        let (mut run, finish) = State::new(assignments.collect(), Vec::new());
        assert_eq!(finish, None, "there is somebody to ask");
        if scene.admitted {
            run.on(0, Event::Admitted);
        }
        let streams = collectors.iter_mut().enumerate();
        World {
            scene,
            model,
            ground,
            run,
            streams: streams
                .map(|(number, collector)| Stream::new(number, ground, scene.admitted, collector))
                .collect(),
            start: Instant::now(),
            step: 0,
            turn: None,
            outcome: None,
            halted: false,
            first_page: None,
            endings: Vec::new(),
            story: Vec::new(),
        }
    }

    fn play(mut self, dice: &mut Dice) -> Ended {
        while self.outcome.is_none() {
            self.step += 1;
            assert!(self.step < STEPS_MAX, "it never ends");
            self.rim(dice);
            let ready = |stream: &Stream<'_>| stream.is_active() && stream.not_before <= self.step;
            let ready: Vec<usize> = (0..self.streams.len())
                .filter(|&number| ready(&self.streams[number]))
                .collect();
            if !ready.is_empty() {
                let stream = dice.pick(&ready);
                self.stream(dice, stream);
            }
            if dice.one_in(8) {
                self.look();
            }
        }
        self.too_late();
        Ended {
            outcome: *self.outcome.expect("that is what was waited for"),
            halted: self.halted,
            first_page: self.first_page,
            endings: self.endings,
            story: self.story,
        }
    }

    /// What happens to the run as a whole.
    fn rim(&mut self, dice: &mut Dice) {
        let at = self.time();
        if let Some((step, reason)) = self.scene.halt
            && (step == self.step || step + 9 == self.step)
        {
            let reason = reason.to_owned();
            self.halted = true;
            self.on(dice, 0, Event::Halt { reason, at });
        }
        if self.turn == Some(self.step) {
            self.halted |= self.scene.shed;
            let event = match self.scene.shed {
                true => Event::Shed { at },
                false => Event::Admitted,
            };
            self.on(dice, 0, event);
        }
    }

    /// Something happens on a stream.
    fn stream(&mut self, dice: &mut Dice, number: usize) {
        let now = Now {
            instant: self.start + Duration::from_millis(self.step as u64),
            time: self.time(),
        };
        let stream = &mut self.streams[number];
        if dice.one_in(3) {
            stream.not_before = self.step + dice.below(30);
        }
        let settled = stream.step(dice, now);
        for document in self.ground.skipped.take() {
            self.on(dice, number, Event::Skip(document));
        }
        let Some(result) = settled else {
            return;
        };
        self.endings
            .push(result.as_ref().map_or_else(PeerError::label, |_| "end"));
        let event = result.map_or_else(|lost| event(lost, now.time), Event::End);
        let is_last = !matches!(event, Event::Heavy);
        self.on(dice, number, event.clone());
        if is_last && dice.one_in(4) {
            // Closing twice is closing once.
            assert_eq!(self.run.on(number, event), []);
        }
    }

    fn on(&mut self, dice: &mut Dice, stream: usize, event: Event) {
        self.note(format!("stream {stream}: {event:?}"));
        for action in self.run.on(stream, event) {
            self.note(format!("{action:?}"));
            match action {
                Action::Stop(stream) => {
                    assert!(self.streams[stream].is_active(), "{stream} has ended");
                    self.streams[stream].is_stopped = true;
                }
                Action::Queue => {
                    assert_eq!(self.turn, None, "queued twice");
                    self.turn = Some(self.step + 1 + dice.below(20));
                }
                Action::Ask(stream) => self.streams[stream].ask(dice),
                Action::Finish(outcome) => {
                    assert!(self.outcome.is_none(), "finished twice");
                    assert!(
                        !self.streams.iter().any(Stream::is_active),
                        "finished early"
                    );
                    self.outcome = Some(outcome);
                }
            }
        }
    }

    /// The best so far, as somebody who watches sees them.
    fn look(&mut self) {
        let top_matches = TopMatches::new(self.ground.stats.iter(), self.scene.limit);
        let shown = results::read(self.ground.spool, &top_matches.pointers, CONTEXT_LINES);
        let shown = shown.expect("what is shown is written");
        self.model.check(&shown);
        if top_matches.is_final {
            self.first_page.get_or_insert(shown);
        }
    }

    /// Whatever comes after the end has no effect.
    fn too_late(&mut self) {
        let (at, reason) = (self.time(), "late".to_owned());
        for event in [
            Event::End(StreamEnd::default()),
            Event::Lost {
                reason: reason.clone(),
                at,
            },
            Event::Refused(BadQuery::new("late")),
            Event::Heavy,
            Event::Admitted,
            Event::Shed { at },
            Event::Halt { reason, at },
        ] {
            for stream in 0..self.streams.len() {
                assert_eq!(self.run.on(stream, event.clone()), [], "{event:?}");
            }
        }
    }

    fn time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.step as u64)
    }

    /// Remembers what happened; a seed that is played alone is told as it goes.
    fn note(&mut self, what: String) {
        let line = format!("{:>5} {what}", self.step);
        if super::variable("TRAWL_SEEDS") == Some(1) {
            eprintln!("{line}");
        }
        self.story.push(line);
    }
}
