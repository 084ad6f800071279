use super::*;
use schema::message::End;
use std::collections::BTreeMap;

/// A small generator with a seed: the schedule of a test, and nothing else, comes from it.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % sides as u64) as usize
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.below(sides) == 0
    }
}

/// How a simulated backend behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nature {
    Honest,
    /// One of its shards fails.
    Failing,
    /// Breaks off without END.
    Breaking,
    /// Drops a match on the way.
    Dropping,
    /// Sends a match twice.
    Repeating,
    /// Swaps two matches.
    Swapping,
    /// Replaces a match by another one.
    Forging,
    Refusing,
}

const NATURES: [Nature; 8] = [
    Nature::Honest,
    Nature::Failing,
    Nature::Breaking,
    Nature::Dropping,
    Nature::Repeating,
    Nature::Swapping,
    Nature::Forging,
    Nature::Refusing,
];

/// What the network still holds of one stream.
struct Script {
    nature: Nature,
    keys: Vec<(u32, (u32, u32))>,
    end: End,
    next: usize,
    part: Part,
    closed: bool,
}

impl Script {
    fn new(dice: &mut Dice, nature: Nature, shards: usize) -> Self {
        let mut keys = Vec::new();
        let mut ends = vec![ShardEnd::default(); shards];
        for (index, end) in (0..).zip(&mut ends) {
            end.shard = index;
            let mut key = (0, 0);
            for _ in 0..2 + dice.below(6) {
                key = if dice.one_in(2) {
                    (key.0, key.1 + 1)
                } else {
                    (key.0 + 1, 1)
                };
                end.matches += 1;
                end.hash = ShardEnd::key_hash(end.hash, key.0, key.1);
                keys.push((index, key));
            }
        }
        if nature == Nature::Failing {
            ends[dice.below(shards)].failure = "a flipped bit".to_owned();
        }
        let at = 1 + dice.below(keys.len() - 1);
        match nature {
            Nature::Dropping => drop(keys.remove(at)),
            Nature::Repeating => keys.insert(at, keys[at]),
            Nature::Swapping => keys.swap(0, 1),
            Nature::Forging => keys[at].1.1 += 1000,
            _ => {}
        }
        let end = End {
            shards: ends,
            plan: "all".to_owned(),
            ..End::default()
        };
        Script {
            nature,
            keys,
            end,
            next: 0,
            part: Part::new(shards),
            closed: false,
        }
    }

    /// The event that the next frame makes, if it makes one.
    fn step(&mut self, stopped: bool) -> Option<Event> {
        let lost = |reason: &str| {
            let (reason, at) = (reason.to_owned(), SystemTime::UNIX_EPOCH);
            Some(Event::Lost { reason, at })
        };
        if stopped {
            return lost("stopped");
        }
        if let Some(&(shard, (document, line))) = self.keys.get(self.next) {
            self.next += 1;
            let tally = self.part.shard(shard).unwrap();
            return match tally.key(document, line) {
                Ok(()) => None,
                Err(fault) => lost(&fault.to_string()),
            };
        }
        match self.nature {
            Nature::Breaking => lost("closed"),
            Nature::Refusing => Some(Event::Refused(BadQuery {
                at: None,
                reason: "no".to_owned(),
                filter: None,
                hint: None,
            })),
            _ => match self.part.end(self.end.clone(), SystemTime::UNIX_EPOCH) {
                Ok(end) => Some(Event::End(end)),
                Err(fault) => lost(&fault.to_string()),
            },
        }
    }
}

fn halt(reason: &str) -> Event {
    Event::Halt {
        reason: reason.to_owned(),
        at: SystemTime::UNIX_EPOCH,
    }
}

fn assignment(stream: usize, shards: usize) -> Assignment {
    Assignment {
        backend: format!("backend {stream}"),
        shards: (0..shards)
            .map(|shard| [(stream * 16 + shard) as u8; 32])
            .collect(),
        documents: vec![10; shards],
    }
}

/// Runs one schedule to its end and checks what must hold whatever happened.
fn simulate(seed: u64) {
    let mut dice = Dice(seed);
    let streams = 1 + dice.below(4);
    let shards: Vec<usize> = (0..streams).map(|_| 1 + dice.below(3)).collect();
    let mut scripts: Vec<_> = (0..streams)
        .map(|stream| {
            let nature = if dice.one_in(2) {
                Nature::Honest
            } else {
                NATURES[dice.below(8)]
            };
            Script::new(&mut dice, nature, shards[stream])
        })
        .collect();
    let assignments = (0..)
        .zip(&shards)
        .map(|(stream, &shards)| assignment(stream, shards));
    let (mut run, at_once) = Run::new(assignments.collect(), Vec::new());
    assert_eq!(at_once, None, "seed {seed}");
    let halts_at = dice.below(120);
    let mut stopped = vec![false; streams];
    let (mut finished, mut halted) = (None, false);
    let mut seen = BTreeMap::new();
    for step in 0.. {
        let open: Vec<_> = (0..streams)
            .filter(|&stream| !scripts[stream].closed)
            .collect();
        if open.is_empty() {
            break;
        }
        let stream = open[dice.below(open.len())];
        let mut actions = Vec::new();
        if step == halts_at && finished.is_none() {
            halted = true;
            actions.extend(run.on(0, halt("cancelled")));
        }
        if let Some(event) = scripts[stream].step(stopped[stream]) {
            scripts[stream].closed = true;
            seen.insert(stream, event.clone());
            actions.extend(run.on(stream, event.clone()));
            if dice.one_in(4) {
                // Closing twice is closing once.
                actions.extend(run.on(stream, event));
            }
        }
        for action in actions {
            match action {
                Action::Stop(stream) => stopped[stream] = true,
                Action::Queue | Action::Ask(_) => panic!("seed {seed}: nobody said it costs much"),
                Action::Finish(outcome) => {
                    assert!(finished.is_none(), "seed {seed}: finished twice");
                    finished = Some(outcome);
                }
            }
        }
    }
    let outcome = finished.unwrap_or_else(|| panic!("seed {seed}: never finished"));
    check_outcome(seed, &outcome, &scripts, &seen, halted);
    let late = run.on(0, halt("late"));
    assert!(late.is_empty(), "seed {seed}: acted after the end");
}

fn check_outcome(
    seed: u64,
    outcome: &Outcome,
    scripts: &[Script],
    seen: &BTreeMap<usize, Event>,
    halted: bool,
) {
    for (stream, script) in scripts.iter().enumerate() {
        let missing = outcome.missing.iter();
        let name = format!("backend {stream}");
        let missing: usize = missing
            .filter(|each| each.backend == name)
            .map(|each| each.shards.len())
            .sum();
        let expected = match &seen[&stream] {
            Event::End(_) if script.nature == Nature::Failing => 1,
            Event::End(_) => 0,
            Event::Refused(_) => continue,
            _ => script.part.shards(),
        };
        assert_eq!(
            missing, expected,
            "seed {seed}, {name}, {:?}",
            script.nature
        );
        let ended = matches!(seen[&stream], Event::End(_));
        let honest = matches!(script.nature, Nature::Honest | Nature::Failing);
        assert!(
            honest || !ended,
            "seed {seed}: {:?} was believed",
            script.nature
        );
    }
    let refused = seen
        .values()
        .any(|event| matches!(event, Event::Refused(_)));
    assert_eq!(outcome.refused.is_some(), refused, "seed {seed}");
    let all_ended = seen.values().all(|event| matches!(event, Event::End(_)));
    if !halted && !refused && all_ended && scripts.iter().all(|s| s.nature == Nature::Honest) {
        assert!(
            outcome.missing.is_empty(),
            "seed {seed}: complete, and says it is not"
        );
    }
}

#[test]
fn every_schedule_ends_once_with_what_happened() {
    (0..2000).for_each(simulate);
}

#[test]
fn a_run_without_streams_is_finished_at_once() {
    let missing = Missing {
        backend: "b".to_owned(),
        reason: "connection refused".to_owned(),
        shards: Vec::new(),
        since: SystemTime::UNIX_EPOCH,
    };
    let (mut run, action) = Run::new(Vec::new(), vec![missing.clone()]);
    let Some(Action::Finish(outcome)) = action else {
        panic!("{action:?}");
    };
    assert_eq!(outcome.missing, [missing]);
    assert!(run.on(0, halt("late")).is_empty());
}

#[test]
fn the_reason_of_a_halt_stands_for_the_streams_it_stopped() {
    let (mut run, _) = Run::new(vec![assignment(0, 1), assignment(1, 2)], Vec::new());
    assert_eq!(
        run.on(1, halt("the disk is full")),
        [Action::Stop(0), Action::Stop(1)]
    );
    let lost = Event::Lost {
        reason: "the query was stopped".to_owned(),
        at: SystemTime::UNIX_EPOCH,
    };
    assert!(run.on(1, lost).is_empty());
    let end = Event::End(StreamEnd::default());
    let actions = run.on(0, end);
    let [Action::Finish(outcome)] = &actions[..] else {
        panic!("{actions:?}");
    };
    assert_eq!(
        outcome.missing.len(),
        1,
        "the other stream had ended by itself"
    );
    assert_eq!(outcome.missing[0].reason, "the disk is full");
    assert_eq!(outcome.missing[0].shards.len(), 2);
}

#[test]
fn the_listed_skips_do_not_depend_on_their_arrival() {
    let skip = |number: usize| SkippedDocument {
        package: b"p".to_vec(),
        path: format!("{number:05}").into_bytes(),
        reason: String::new(),
    };
    let (mut up, mut down) = (Skipped::default(), Skipped::default());
    (0..3000).for_each(|number| up.add(skip(number)));
    (0..3000).rev().for_each(|number| down.add(skip(number)));
    assert_eq!(up, down);
    assert_eq!((up.count, up.documents.len()), (3000, SKIPPED_LISTED_MAX));
}
