//! Output and faults of a stream's backend and its replicas.

use super::corpus::{Habits, Shard, Used};
use super::messages::{Message, count, encode, end, failure, hello, messages, progress, rest};
use super::random::Random;
use results::SkippedDocument;
use schema::frame::{self, Kind};
use schema::message::{End, FailureKind, PROTOCOL, ResumePoint, Search};
use schema::order::SEMANTICS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    Flip,
    /// A frame is lost, repeated, or swapped with the next one.
    Drop,
    Double,
    Swap,
    /// The bytes end, or garbage is inserted.
    Cut,
    Garbage,
    /// Nothing more arrives.
    Silence,
    /// By the backend: an END that disagrees with the messages.
    Count,
    Hash,
    SkipCount,
    ForgottenShard,
    /// Repeated or unordered matches, and an END that agrees with them.
    Repeats,
    Unordered,
    UnknownShard,
    OutOfPlace,
    Greeting,
    /// PROGRESS of too many matches, or a bound below later ranks.
    Claim,
    Bound,
    /// An ERROR in place of the rest.
    Failure(FailureKind),
    /// Refused as heavy even if allowed.
    HeavyAlways,
    Protocol,
    Semantics,
    /// Correct, but a shard is incomplete.
    ShardFailure,
}

const FAULTS: [Fault; 28] = [
    Fault::Flip,
    Fault::Flip,
    Fault::Drop,
    Fault::Drop,
    Fault::Double,
    Fault::Swap,
    Fault::Cut,
    Fault::Garbage,
    Fault::Silence,
    Fault::Count,
    Fault::Hash,
    Fault::SkipCount,
    Fault::ForgottenShard,
    Fault::Repeats,
    Fault::Unordered,
    Fault::UnknownShard,
    Fault::OutOfPlace,
    Fault::Greeting,
    Fault::Claim,
    Fault::Bound,
    Fault::Failure(FailureKind::BadQuery),
    Fault::Failure(FailureKind::Deadline),
    Fault::Failure(FailureKind::Heavy),
    Fault::Failure(FailureKind::Unavailable),
    Fault::HeavyAlways,
    Fault::Protocol,
    Fault::Semantics,
    Fault::ShardFailure,
];

pub(super) struct Script {
    pub(super) shards: Vec<Shard>,
    pub(super) fault: Fault,
    /// Requests without heavy search are refused.
    pub(super) is_heavy: bool,
    pub(super) skipped: Vec<SkippedDocument>,
    /// Requests without and with heavy search.
    pub(super) searches: [Search; 2],
    frames: Vec<Vec<u8>>,
    /// The answer without faults.
    good: Vec<Vec<u8>>,
    /// Replicas, and last the first backend, for a resumed request.
    pub(super) replicas: Vec<Replica>,
}

pub(super) struct Replica {
    pub(super) shards: Vec<u32>,
    /// False: it begins again.
    pub(super) resumes: bool,
    fault: Fault,
}

impl Replica {
    fn new(random: &mut Random, shards: usize) -> Replica {
        let resumes = !random.one_in(4);
        let has_all = !resumes || random.one_in(2);
        let first = random.below(shards);
        let is_served = |&shard: &usize| has_all || shard == first || shard % 2 == first % 2;
        Replica {
            shards: (0..shards).filter(is_served).map(|it| it as u32).collect(),
            resumes,
            fault: if random.one_in(3) {
                random.pick(&[Fault::Flip, Fault::Cut, Fault::Garbage, Fault::Silence])
            } else {
                Fault::None
            },
        }
    }
}

impl Fault {
    pub(super) fn is_survived(self) -> bool {
        match self {
            Fault::None
            | Fault::Flip
            | Fault::Double
            | Fault::Cut
            | Fault::Garbage
            | Fault::Silence
            | Fault::OutOfPlace
            | Fault::Greeting
            | Fault::Protocol
            | Fault::Semantics => true,
            Fault::Failure(kind) => kind == FailureKind::Unavailable,
            _ => false,
        }
    }
}

impl Script {
    pub(super) fn new(
        random: &mut Random,
        used: &mut Used,
        stream: usize,
        large: bool,
        habits: Habits,
    ) -> Script {
        let shards: Vec<Shard> = (0..1 + random.below(3))
            .map(|shard| {
                let large = large && shard == 0;
                Shard::new(random, used, (stream, shard), large, habits)
            })
            .collect();
        let fault = match random.below(5) {
            0 | 1 => random.pick(&FAULTS),
            _ => Fault::None,
        };
        let is_heavy = random.one_in(4) || fault == Fault::HeavyAlways;
        let search = |heavy| Search {
            shards: shards.iter().map(|shard| shard.id).collect(),
            heavy,
            ..Search::default()
        };
        let searches = [search(false), search(true)];
        let mut messages = messages(random, &shards);
        let skipped = messages.iter().filter_map(Message::skipped).collect();
        let mut end = end(&shards, &messages);
        let good = encode(&messages, &end);
        break_messages(random, fault, &mut messages, &mut end);
        let mut frames = encode(&messages, &end);
        break_frames(random, fault, &mut frames);
        let replicas = if random.one_in(2) {
            1 + random.below(2)
        } else {
            0
        };
        let replicas = (0..replicas).map(|_| Replica::new(random, shards.len()));
        let mut replicas: Vec<Replica> = replicas.collect();
        replicas.push(Replica {
            shards: (0..shards.len() as u32).collect(),
            resumes: true,
            fault: if fault == Fault::None {
                fault
            } else {
                Fault::Cut
            },
        });
        Script {
            good,
            replicas,
            shards,
            fault,
            is_heavy,
            skipped,
            searches,
            frames,
        }
    }

    pub(super) fn answer(&self, random: &mut Random, heavy: bool) -> Vec<u8> {
        if self.is_heavy && (!heavy || self.fault == Fault::HeavyAlways) {
            return [hello(PROTOCOL, SEMANTICS), failure(FailureKind::Heavy)].concat();
        }
        break_bytes(random, self.fault, self.frames.concat())
    }

    pub(super) fn answer_of(
        &self,
        random: &mut Random,
        replica: &Replica,
        points: &[ResumePoint],
    ) -> Vec<u8> {
        if !replica.resumes {
            return break_bytes(random, replica.fault, self.good.concat());
        }
        let has_skipped = |shard: &Shard| {
            let name = format!("{}", shard.id[0]).into_bytes();
            self.skipped.iter().any(|skipped| skipped.path == name)
        };
        let skipped: Vec<bool> = self.shards.iter().map(has_skipped).collect();
        let (messages, end) = rest(random, &self.shards, &skipped, points);
        break_bytes(random, replica.fault, encode(&messages, &end).concat())
    }

    pub(super) fn first(&self) -> usize {
        self.replicas.len() - 1
    }

    /// True if all matches arrive, barring other faults.
    pub(super) fn survives(&self) -> bool {
        let has_all = |it: &Replica| it.shards.len() == self.shards.len();
        let lives = |it: &Replica| it.fault == Fault::None && it.resumes && has_all(it);
        let replicas = &self.replicas[..self.first()];
        // A restart has the same frames as the first backend.
        let begins_again = |it: &Replica| it.fault == Fault::None && !it.resumes;
        let are_older = replicas.iter().all(|it| !it.resumes);
        self.fault == Fault::None
            || self.fault.is_survived()
                && (replicas.iter().any(lives) || are_older && replicas.iter().any(begins_again))
    }
}

fn break_bytes(random: &mut Random, fault: Fault, mut bytes: Vec<u8>) -> Vec<u8> {
    let at = random.below(bytes.len());
    match fault {
        Fault::Flip => bytes[at] ^= 1 << random.below(8),
        Fault::Cut | Fault::Silence => bytes.truncate(at),
        Fault::Garbage => {
            let garbage = (0..100).map(|_| random.below(256) as u8);
            bytes.splice(at..at, garbage);
        }
        _ => {}
    }
    bytes
}

fn break_messages(
    random: &mut Random,
    fault: Fault,
    messages: &mut Vec<Message<'_>>,
    end: &mut End,
) {
    let shard = random.below(end.shards.len());
    let batches: Vec<usize> = (0..messages.len())
        .filter(|&at| matches!(messages[at], Message::Batch(..)))
        .collect();
    match fault {
        Fault::Count => end.shards[shard].matches += 1,
        Fault::Hash => end.shards[shard].hash ^= 1 << random.below(32),
        Fault::SkipCount => end.shards[shard].skipped += 1,
        Fault::ForgottenShard => drop(end.shards.remove(shard)),
        Fault::ShardFailure => end.shards[shard].failure = "a flipped bit".to_owned(),
        Fault::Repeats | Fault::Unordered if !batches.is_empty() => {
            let at = random.pick(&batches);
            let Message::Batch(shard, document, matches) = messages[at] else {
                unreachable!("only such places are in the list");
            };
            let to = random.pick(&batches);
            if fault == Fault::Unordered {
                messages.remove(at);
            }
            messages.insert(to, Message::Batch(shard, document, matches));
            count(messages, end);
        }
        Fault::UnknownShard if !batches.is_empty() => {
            let at = random.pick(&batches);
            if let Message::Batch(shard, ..) = &mut messages[at] {
                *shard += 3;
            }
        }
        _ => {}
    }
}

fn break_frames(random: &mut Random, fault: Fault, frames: &mut Vec<Vec<u8>>) {
    let at = random.below(frames.len());
    match fault {
        Fault::Drop => drop(frames.remove(at)),
        Fault::Double => frames.insert(at, frames[at].clone()),
        Fault::Swap => {
            let other = (at + 1).min(frames.len() - 1);
            frames.swap(at, other);
        }
        Fault::OutOfPlace => {
            let mut stranger = Vec::new();
            let kind = random.pick(&[Kind::Search, Kind::Cancel, Kind::File, Kind::Manifest]);
            frame::encode(kind, &[0; 8], &mut stranger).unwrap();
            frames.insert(at, stranger);
        }
        Fault::Greeting => frames.insert(at, hello(PROTOCOL, SEMANTICS)),
        Fault::Claim => {
            let matches = 1_000_000;
            frames.insert(at, progress(f32::INFINITY, matches));
        }
        Fault::Bound => frames.insert(at, progress(0.0, 0)),
        Fault::Failure(kind) => {
            frames.truncate(1 + at);
            frames.push(failure(kind));
        }
        Fault::Protocol => frames[0] = hello(PROTOCOL + 1, SEMANTICS),
        Fault::Semantics => frames[0] = hello(PROTOCOL, SEMANTICS + 1),
        _ => {}
    }
}
