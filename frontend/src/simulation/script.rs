//! What one backend sends, and what is wrong with it.

use super::corpus::{Shard, Used};
use super::messages::{Message, count, encode, end, failure, hello, messages};
use super::random::Random;
use crate::results::SkippedDocument;
use schema::frame::{self, Kind};
use schema::message::{End, FailureKind, PROTOCOL, Search};
use schema::order::SEMANTICS;

/// What is wrong with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// On the way: a bit is flipped.
    Flip,
    /// A frame is lost, repeated, or swapped with the next one.
    Drop,
    Double,
    Swap,
    /// The bytes end, or garbage is inserted.
    Cut,
    Garbage,
    /// Nothing more arrives after some point.
    Silence,
    /// By the backend: an END that does not agree with the messages.
    Count,
    Hash,
    SkipCount,
    ForgottenShard,
    /// Repeated or unordered matches, and an END that agrees with them.
    Repeats,
    Unordered,
    UnknownShard,
    OutOfPlace,
    /// An ERROR in place of the rest.
    Failure(FailureKind),
    /// The query is refused as heavy even when that is allowed.
    HeavyAlways,
    Protocol,
    Semantics,
    /// Correct, but one of the shards was not searched to its end.
    ShardFailure,
}

const FAULTS: [Fault; 24] = [
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
    Fault::Semantics,
    Fault::ShardFailure,
];

/// What one backend does in an execution.
pub(super) struct Script {
    pub(super) shards: Vec<Shard>,
    pub(super) fault: Fault,
    /// The query is heavy: a request that does not allow that is refused.
    pub(super) is_heavy: bool,
    /// The documents that it skips.
    pub(super) skipped: Vec<SkippedDocument>,
    /// The requests: one that does not allow a heavy search, and one that does.
    pub(super) searches: [Search; 2],
    /// The answer, frame by frame.
    frames: Vec<Vec<u8>>,
}

impl Script {
    pub(super) fn new(random: &mut Random, used: &mut Used, stream: usize, large: bool) -> Script {
        let shards: Vec<Shard> = (0..1 + random.below(3))
            .map(|shard| Shard::new(random, used, (stream, shard), large && shard == 0))
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
        break_messages(random, fault, &mut messages, &mut end);
        let mut frames = encode(&messages, &end);
        break_frames(random, fault, &mut frames);
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
            return [hello(PROTOCOL, SEMANTICS), failure(FailureKind::Heavy)].concat();
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

/// Applies the faults of the backend itself.
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

/// Applies the faults that concern whole frames.
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
        Fault::Failure(kind) => {
            frames.truncate(1 + at);
            frames.push(failure(kind));
        }
        Fault::Protocol => frames[0] = hello(PROTOCOL + 1, SEMANTICS),
        Fault::Semantics => frames[0] = hello(PROTOCOL, SEMANTICS + 1),
        _ => {}
    }
}
