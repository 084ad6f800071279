//! What an honest backend says: the words of an answer, and the frames they travel in.

use super::corpus::{Document, Shard};
use super::dice::Dice;
use crate::execution::state::SkippedDocument;
use schema::message::{End, Failure, FailureKind, Hello, PROTOCOL, Progress, ShardEnd, Skip};

/// What is said between the greeting and the END.
pub(super) enum Word<'a> {
    Batch(u32, &'a Document, &'a [(u32, f32)]),
    Skip(Skip),
    Progress,
}

impl Word<'_> {
    pub(super) fn skipped(&self) -> Option<SkippedDocument> {
        let Word::Skip(skip) = self else {
            return None;
        };
        Some(SkippedDocument {
            package: skip.package.clone(),
            path: skip.path.clone(),
            reason: skip.reason.clone(),
        })
    }

    /// The rank of its best match.
    fn rank(&self) -> f32 {
        match self {
            Word::Batch(_, _, matches) => {
                let ranks = matches.iter().map(|(_, rank)| *rank);
                ranks.fold(f32::NEG_INFINITY, f32::max)
            }
            _ => f32::NEG_INFINITY,
        }
    }
}

/// Everything there is to say: shards in any order, each in its own.
pub(super) fn words<'a>(dice: &mut Dice, shards: &'a [Shard]) -> Vec<Word<'a>> {
    let mut left: Vec<Vec<Word<'a>>> = Vec::new();
    for (index, shard) in (0..).zip(shards) {
        let mut words = Vec::new();
        for document in &shard.documents {
            let most = if document.matches.len() > 100 {
                4000
            } else {
                1 + dice.below(6)
            };
            let batches = document.matches.chunks(most);
            words.extend(batches.map(|matches| Word::Batch(index, document, matches)));
        }
        if dice.one_in(3) {
            let skip = Skip {
                shard: index,
                document: 1000,
                package: b"given up".to_vec(),
                path: format!("{}", shard.id[0]).into_bytes(),
                reason: "too slow".to_owned(),
            };
            words.insert(dice.below(words.len() + 1), Word::Skip(skip));
        }
        words.reverse();
        left.push(words);
    }
    let mut words = Vec::new();
    while !left.is_empty() {
        let shard = dice.below(left.len());
        match left[shard].pop() {
            Some(word) => words.push(word),
            None => drop(left.remove(shard)),
        }
        if dice.one_in(4) {
            words.push(Word::Progress);
        }
    }
    words
}

/// The END that agrees with what is said.
pub(super) fn end(shards: &[Shard], words: &[Word<'_>]) -> End {
    let mut ends: Vec<ShardEnd> = (0..shards.len() as u32)
        .map(|shard| ShardEnd {
            shard,
            ..ShardEnd::default()
        })
        .collect();
    for (end, shard) in ends.iter_mut().zip(shards) {
        end.matched_documents = shard.documents.len() as u64;
    }
    let mut end = End {
        shards: ends,
        plan: "all".to_owned(),
        ..End::default()
    };
    count(words, &mut end);
    end
}

/// Counts what is said, whatever it is.
pub(super) fn count(words: &[Word<'_>], end: &mut End) {
    for shard in &mut end.shards {
        (shard.matches, shard.found, shard.hash, shard.skipped) = (0, 0, 0, 0);
    }
    for word in words {
        match word {
            Word::Batch(shard, document, matches) => {
                let end = &mut end.shards[*shard as usize];
                end.matches += matches.len() as u64;
                end.found += matches.len() as u64;
                end.hash = matches.iter().fold(end.hash, |hash, (line, _)| {
                    ShardEnd::key_hash(hash, document.number, *line)
                });
            }
            Word::Skip(skip) => end.shards[skip.shard as usize].skipped += 1,
            Word::Progress => {}
        }
    }
}

/// The frames, from the greeting to the END.
pub(super) fn encode(words: &[Word<'_>], end: &End) -> Vec<Vec<u8>> {
    let mut frames = vec![hello(PROTOCOL)];
    for (at, word) in words.iter().enumerate() {
        frames.push(match word {
            Word::Batch(shard, document, matches) => document.batch(*shard, matches),
            Word::Skip(skip) => framed(|out| skip.encode(out)),
            Word::Progress => {
                let bound = words[at..].iter().map(Word::rank);
                let progress = Progress {
                    bound: bound.fold(f32::NEG_INFINITY, f32::max),
                    ..Progress::default()
                };
                framed(|out| progress.encode(out))
            }
        });
    }
    frames.push(framed(|out| end.encode(out)));
    frames
}

/// A greeting.
pub(super) fn hello(protocol: u32) -> Vec<u8> {
    let hello = Hello {
        protocol,
        shards: Vec::new(),
        updated: 0,
    };
    framed(|out| hello.encode(out))
}

/// An ERROR.
pub(super) fn failure(kind: FailureKind) -> Vec<u8> {
    framed(|out| Failure::new(kind, "no").encode(out))
}

fn framed(
    encode: impl FnOnce(&mut Vec<u8>) -> Result<(), schema::message::MessageError>,
) -> Vec<u8> {
    let mut frame = Vec::new();
    encode(&mut frame).unwrap();
    frame
}
