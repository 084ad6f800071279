//! What one backend says, and what is wrong with it.

use super::corpus::{Shard, Used};
use super::dice::Dice;
use super::words::{Word, count, encode, end, failure, hello, words};
use crate::execution::state::SkippedDocument;
use schema::frame::{self, Kind};
use schema::message::{End, FailureKind, PROTOCOL, Search};

/// What is wrong with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
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

const TROUBLES: [Trouble; 23] = [
    Trouble::Flip,
    Trouble::Flip,
    Trouble::Drop,
    Trouble::Drop,
    Trouble::Double,
    Trouble::Swap,
    Trouble::Cut,
    Trouble::Garbage,
    Trouble::Silence,
    Trouble::Count,
    Trouble::Hash,
    Trouble::SkipCount,
    Trouble::ForgottenShard,
    Trouble::Repeats,
    Trouble::Unordered,
    Trouble::UnknownShard,
    Trouble::OutOfPlace,
    Trouble::Failure(FailureKind::BadQuery),
    Trouble::Failure(FailureKind::Deadline),
    Trouble::Failure(FailureKind::Heavy),
    Trouble::HeavyAlways,
    Trouble::Protocol,
    Trouble::ShardFailure,
];

/// A backend's part in a query.
pub(super) struct Script {
    pub(super) shards: Vec<Shard>,
    pub(super) trouble: Trouble,
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
    pub(super) fn new(dice: &mut Dice, used: &mut Used, stream: usize, great: bool) -> Script {
        let shards: Vec<Shard> = (0..1 + dice.below(3))
            .map(|shard| Shard::new(dice, used, (stream, shard), great && shard == 0))
            .collect();
        let trouble = match dice.below(5) {
            0 | 1 => dice.pick(&TROUBLES),
            _ => Trouble::None,
        };
        let is_heavy = dice.one_in(4) || trouble == Trouble::HeavyAlways;
        let search = |heavy| Search {
            shards: shards.iter().map(|shard| shard.id).collect(),
            heavy,
            ..Search::default()
        };
        let searches = [search(false), search(true)];
        let mut words = words(dice, &shards);
        let skipped = words.iter().filter_map(Word::skipped).collect();
        let mut end = end(&shards, &words);
        tell_wrong(dice, trouble, &mut words, &mut end);
        let mut frames = encode(&words, &end);
        spoil(dice, trouble, &mut frames);
        Script {
            shards,
            trouble,
            is_heavy,
            skipped,
            searches,
            frames,
        }
    }

    /// The bytes that answer a request.
    pub(super) fn answer(&self, dice: &mut Dice, heavy: bool) -> Vec<u8> {
        if self.is_heavy && (!heavy || self.trouble == Trouble::HeavyAlways) {
            return [hello(PROTOCOL), failure(FailureKind::Heavy)].concat();
        }
        let mut bytes = self.frames.concat();
        let at = dice.below(bytes.len());
        match self.trouble {
            Trouble::Flip => bytes[at] ^= 1 << dice.below(8),
            Trouble::Cut | Trouble::Silence => bytes.truncate(at),
            Trouble::Garbage => {
                let garbage = (0..100).map(|_| dice.below(256) as u8);
                bytes.splice(at..at, garbage);
            }
            _ => {}
        }
        bytes
    }
}

/// What a backend does wrong itself.
fn tell_wrong(dice: &mut Dice, trouble: Trouble, words: &mut Vec<Word<'_>>, end: &mut End) {
    let shard = dice.below(end.shards.len());
    let batches: Vec<usize> = (0..words.len())
        .filter(|&at| matches!(words[at], Word::Batch(..)))
        .collect();
    match trouble {
        Trouble::Count => end.shards[shard].matches += 1,
        Trouble::Hash => end.shards[shard].hash ^= 1 << dice.below(32),
        Trouble::SkipCount => end.shards[shard].skipped += 1,
        Trouble::ForgottenShard => drop(end.shards.remove(shard)),
        Trouble::ShardFailure => end.shards[shard].failure = "a flipped bit".to_owned(),
        Trouble::Repeats | Trouble::Unordered if !batches.is_empty() => {
            let at = dice.pick(&batches);
            let Word::Batch(shard, document, matches) = words[at] else {
                unreachable!("only such places are in the list");
            };
            let to = dice.pick(&batches);
            if trouble == Trouble::Unordered {
                words.remove(at);
            }
            words.insert(to, Word::Batch(shard, document, matches));
            count(words, end);
        }
        Trouble::UnknownShard if !batches.is_empty() => {
            let at = dice.pick(&batches);
            if let Word::Batch(shard, ..) = &mut words[at] {
                *shard += 3;
            }
        }
        _ => {}
    }
}

/// What happens to whole frames.
fn spoil(dice: &mut Dice, trouble: Trouble, frames: &mut Vec<Vec<u8>>) {
    let at = dice.below(frames.len());
    match trouble {
        Trouble::Drop => drop(frames.remove(at)),
        Trouble::Double => frames.insert(at, frames[at].clone()),
        Trouble::Swap => {
            let other = (at + 1).min(frames.len() - 1);
            frames.swap(at, other);
        }
        Trouble::OutOfPlace => {
            let mut stranger = Vec::new();
            let kind = dice.pick(&[Kind::Search, Kind::Cancel, Kind::File, Kind::Manifest]);
            frame::encode(kind, &[0; 8], &mut stranger).unwrap();
            frames.insert(at, stranger);
        }
        Trouble::Failure(kind) => {
            frames.truncate(1 + at);
            frames.push(failure(kind));
        }
        Trouble::Protocol => frames[0] = hello(PROTOCOL + 1),
        _ => {}
    }
}
