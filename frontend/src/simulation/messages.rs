//! Messages of a correct backend, and their frames.

use super::corpus::{Document, Shard};
use super::random::Random;
use results::SkippedDocument;
use schema::message::{
    End, Failure, FailureKind, Hello, PROTOCOL, Progress, ResumePoint, ShardEnd, Skip,
};
use schema::order::SEMANTICS;

pub(super) enum Message<'a> {
    Batch(u32, &'a Document, &'a [(u32, f32)]),
    Skip(Skip),
    Progress,
}

impl Message<'_> {
    pub(super) fn skipped(&self) -> Option<SkippedDocument> {
        let Message::Skip(skip) = self else {
            return None;
        };
        Some(SkippedDocument {
            package: skip.package.clone(),
            path: skip.path.clone(),
            reason: skip.reason.clone(),
        })
    }

    fn rank(&self) -> f32 {
        match self {
            Message::Batch(_, _, matches) => {
                let ranks = matches.iter().map(|(_, rank)| *rank);
                ranks.fold(f32::NEG_INFINITY, f32::max)
            }
            _ => f32::NEG_INFINITY,
        }
    }
}

/// Shards are interleaved at random.
pub(super) fn messages<'a>(random: &mut Random, shards: &'a [Shard]) -> Vec<Message<'a>> {
    let mut left: Vec<Vec<Message<'a>>> = Vec::new();
    for (index, shard) in (0..).zip(shards) {
        let mut messages = Vec::new();
        for document in &shard.documents {
            let most = if document.matches.len() > 100 {
                4000
            } else {
                1 + random.below(6)
            };
            let batches = document.matches.chunks(most);
            messages.extend(batches.map(|matches| Message::Batch(index, document, matches)));
        }
        if random.one_in(3) {
            let at = random.below(messages.len() + 1);
            messages.insert(at, Message::Skip(skip(index, shard)));
        }
        messages.reverse();
        left.push(messages);
    }
    interleave(random, left)
}

/// Rest of an answer after these points, from a resuming backend. `skipped` marks shards
/// with a skipped document.
pub(super) fn rest<'a>(
    random: &mut Random,
    shards: &'a [Shard],
    skipped: &[bool],
    points: &[ResumePoint],
) -> (Vec<Message<'a>>, End) {
    let mut left: Vec<Vec<Message<'a>>> = Vec::new();
    let mut end = End {
        plan: "all".to_owned(),
        ..End::default()
    };
    for point in points {
        let (number, shard) = (point.shard, &shards[point.shard as usize]);
        let mut messages = Vec::new();
        for document in &shard.documents {
            let is_new = |it: &&(u32, f32)| Some((document.number, it.0)) > point.last;
            let first = document.matches.len() - document.matches.iter().filter(is_new).count();
            let batches = document.matches[first..].chunks(1 + random.below(4000));
            messages.extend(batches.map(|matches| Message::Batch(number, document, matches)));
        }
        if skipped[number as usize] && point.last_skipped.is_none() {
            let at = random.below(messages.len() + 1);
            messages.insert(at, Message::Skip(skip(number, shard)));
        }
        end.shards.push(ShardEnd {
            shard: number,
            matches: point.matches,
            found: point.matches,
            hash: point.hash,
            skipped: point.skipped,
            matched_documents: point.documents,
            ..ShardEnd::default()
        });
        let ended = end.shards.last_mut().expect("was pushed");
        let mut last = point.last.map(|(document, _)| document);
        for message in &messages {
            add(message, ended);
            if let Message::Batch(_, document, _) = message {
                let before = last.replace(document.number);
                ended.matched_documents += u64::from(before != last);
            }
        }
        messages.reverse();
        left.push(messages);
    }
    (interleave(random, left), end)
}

fn skip(index: u32, shard: &Shard) -> Skip {
    Skip {
        shard: index,
        document: 1000,
        package: b"skipped".to_vec(),
        path: format!("{}", shard.id[0]).into_bytes(),
        reason: "too slow".to_owned(),
    }
}

/// Interleaves shards, each with its last message first.
fn interleave<'a>(random: &mut Random, mut left: Vec<Vec<Message<'a>>>) -> Vec<Message<'a>> {
    let mut messages = Vec::new();
    while !left.is_empty() {
        let shard = random.below(left.len());
        match left[shard].pop() {
            Some(word) => messages.push(word),
            None => drop(left.remove(shard)),
        }
        if random.one_in(4) {
            messages.push(Message::Progress);
        }
    }
    messages
}

pub(super) fn end(shards: &[Shard], messages: &[Message<'_>]) -> End {
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
    count(messages, &mut end);
    end
}

pub(super) fn count(messages: &[Message<'_>], end: &mut End) {
    for shard in &mut end.shards {
        (shard.matches, shard.found, shard.hash, shard.skipped) = (0, 0, 0, 0);
    }
    for word in messages {
        match word {
            Message::Batch(shard, ..) => add(word, &mut end.shards[*shard as usize]),
            Message::Skip(skip) => add(word, &mut end.shards[skip.shard as usize]),
            Message::Progress => {}
        }
    }
}

fn add(message: &Message<'_>, end: &mut ShardEnd) {
    match message {
        Message::Batch(_, document, matches) => {
            end.matches += matches.len() as u64;
            end.found += matches.len() as u64;
            end.hash = matches.iter().fold(end.hash, |hash, (line, _)| {
                ShardEnd::key_hash(hash, document.number, *line)
            });
        }
        Message::Skip(_) => end.skipped += 1,
        Message::Progress => {}
    }
}

pub(super) fn encode(messages: &[Message<'_>], end: &End) -> Vec<Vec<u8>> {
    let mut frames = vec![hello(PROTOCOL, SEMANTICS)];
    for (at, word) in messages.iter().enumerate() {
        frames.push(match word {
            Message::Batch(shard, document, matches) => document.batch(*shard, matches),
            Message::Skip(skip) => framed(|out| skip.encode(out)),
            Message::Progress => {
                let bound = messages[at..].iter().map(Message::rank);
                progress(bound.fold(f32::NEG_INFINITY, f32::max), 0)
            }
        });
    }
    frames.push(framed(|out| end.encode(out)));
    frames
}

pub(super) fn progress(bound: f32, matches: u64) -> Vec<u8> {
    let progress = Progress {
        bound,
        matches,
        ..Progress::default()
    };
    framed(|out| progress.encode(out))
}

pub(super) fn hello(protocol: u32, semantics: u32) -> Vec<u8> {
    let hello = Hello {
        protocol,
        shards: Vec::new(),
        updated: 0,
        has_repositories: false,
        indexed_repositories: 0,
        semantics,
        has_views: true,
        resumes: false,
    };
    framed(|out| hello.encode(out))
}

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
