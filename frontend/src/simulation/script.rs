//! What one backend says, and what is wrong with it.

use super::corpus::{Shard, Used};
use super::messages::{Message, count, encode, end, failure, hello, messages};
use super::random::Random;
use crate::results::SkippedDocument;
use schema::frame::{self, Kind};
use schema::message::{End, FailureKind, PROTOCOL, Search};

/// What is wrong with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// On the way: a bit is another one.
    Flip,
    /// A frame is not there, or twice, or behind the next one.
    Drop,
    Double,
    Swap,
    /// The bytes end, or go on with others.
    Cut,
    Garbage,
    /// Nothing more is heard from somewhere on.
    Silence,
    /// By the backend: an END that does not agree with what was sent.
    Count,
    Hash,
    SkipCount,
    ForgottenShard,
    /// Matches twice, or not in order, and an END that agrees with them.
    Repeats,
    Unordered,
    UnknownShard,
    OutOfPlace,
    /// An ERROR instead of the rest.
    Failure(FailureKind),
    /// It costs too much, even when it may.
    HeavyAlways,
    Protocol,
    /// Honest: one of the shards was not searched to its end.
    ShardFailure,
}

const FAULTS: [Fault; 23] = [
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
    Fault::Failure(FailureKind::BadQuery),
    Fault::Failure(FailureKind::Deadline),
    Fault::Failure(FailureKind::Heavy),
    Fault::HeavyAlways,
    Fault::Protocol,
    Fault::ShardFailure,
];

/// A backend's part in a query.
pub(super) struct Script {
    pub(super) shards: Vec<Shard>,
    pub(super) fault: Fault,
    /// The search is refused for its cost, until it may cost that.
    pub(super) is_heavy: bool,
    /// All that it gives up.
    pub(super) skipped: Vec<SkippedDocument>,
    /// The requests that it is sent: one that may not cost much, and one that may.
    pub(super) searches: [Search; 2],
    /// What it says to the one that is answered, frame by frame.
    frames: Vec<Vec<u8>>,
}

impl Script {
    pub(super) fn new(random: &mut Random, used: &mut Used, stream: usize, great: bool) -> Script {
        let shards: Vec<Shard> = (0..1 + random.below(3))
            .map(|shard| Shard::new(random, used, (stream, shard), great && shard == 0))
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
        tell_wrong(random, fault, &mut messages, &mut end);
        let mut frames = encode(&messages, &end);
        spoil(random, fault, &mut frames);
        Script {
            shards,
            fault,
            is_heavy,
            skipped,
            searches,
            frames,
        }
    }

    /// The bytes that answer a request.
    pub(super) fn answer(&self, random: &mut Random, heavy: bool) -> Vec<u8> {
        if self.is_heavy && (!heavy || self.fault == Fault::HeavyAlways) {
            return [hello(PROTOCOL), failure(FailureKind::Heavy)].concat();
        }
        let mut bytes = self.frames.concat();
        let at = random.below(bytes.len());
        match self.fault {
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
}

/// What a backend does wrong itself.
fn tell_wrong(random: &mut Random, fault: Fault, messages: &mut Vec<Message<'_>>, end: &mut End) {
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

/// What happens to whole frames.
fn spoil(random: &mut Random, fault: Fault, frames: &mut Vec<Vec<u8>>) {
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
        Fault::Failure(kind) => {
            frames.truncate(1 + at);
            frames.push(failure(kind));
        }
        Fault::Protocol => frames[0] = hello(PROTOCOL + 1),
        _ => {}
    }
}
