//! What one stream has sent so far, checked frame by frame, and as a whole at its END.
//!
//! Inside a shard, keys (document, line) must ascend strictly; at the end their number and hash
//! must be what the backend says it sent. A stream that fails a check is lost: a flipped bit that
//! a checksum missed, a lost or repeated frame and a backend's own fault all show here.

use schema::message::{End, Estimate, Phases, ShardEnd};

/// Why a stream cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccountError {
    #[error("sent matches of a shard that it was not asked for")]
    UnknownShard,
    #[error("sent matches out of order")]
    OutOfOrder,
    #[error("says it sent {said} matches of a shard, of which {received} arrived")]
    Count { said: u64, received: u64 },
    #[error("says it gave up {said} documents of a shard, and named {received}")]
    Skipped { said: u64, received: u64 },
    #[error("sent matches that are not those it counted (their hash differs)")]
    Hash,
    #[error("ended without a word on each of its shards")]
    Shards,
}

/// An END frame, checked.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamEnd {
    pub(crate) plan: String,
    pub(crate) phases: Phases,
    pub(crate) shards: Vec<ShardEnd>,
    pub(crate) estimates: Vec<Estimate>,
}

/// One stream's account.
#[derive(Debug)]
pub(crate) struct StreamAccount {
    tallies: Vec<ShardAccount>,
}

/// One shard's account.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShardAccount {
    /// Document and line of the last match.
    last: Option<(u32, u32)>,
    matches: u64,
    documents: u64,
    hash: u32,
    /// Documents given up.
    skipped: u64,
}

impl ShardAccount {
    /// Takes the key of the next match.
    pub(crate) fn key(&mut self, document: u32, line: u32) -> Result<(), AccountError> {
        let key = Some((document, line));
        if self.last >= key {
            return Err(AccountError::OutOfOrder);
        }
        self.documents += u64::from(self.last.is_none_or(|(last, _)| last != document));
        self.matches += 1;
        self.hash = ShardEnd::key_hash(self.hash, document, line);
        self.last = key;
        Ok(())
    }

    /// Takes a document that was given up.
    pub(crate) fn skip(&mut self) {
        self.skipped += 1;
    }

    fn check(&self, end: &ShardEnd) -> Result<(), AccountError> {
        if self.matches != end.matches {
            return Err(AccountError::Count {
                said: end.matches,
                received: self.matches,
            });
        }
        if self.hash != end.hash {
            return Err(AccountError::Hash);
        }
        if self.skipped != end.skipped {
            return Err(AccountError::Skipped {
                said: end.skipped,
                received: self.skipped,
            });
        }
        Ok(())
    }
}

impl StreamAccount {
    /// The account of a stream that was asked for `shards` shards.
    pub(crate) fn new(shards: usize) -> Self {
        StreamAccount {
            tallies: vec![ShardAccount::default(); shards],
        }
    }

    /// The account of a shard, named by its index in the request.
    pub(crate) fn shard(&mut self, shard: u32) -> Result<&mut ShardAccount, AccountError> {
        let tally = self.tallies.get_mut(shard as usize);
        tally.ok_or(AccountError::UnknownShard)
    }

    /// Whether anything of an answer has arrived.
    pub(crate) fn has_begun(&self) -> bool {
        let has_begun = |tally: &ShardAccount| tally.matches > 0 || tally.skipped > 0;
        self.tallies.iter().any(has_begun)
    }

    /// Documents that have had a match.
    pub(crate) fn documents(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.documents).sum()
    }

    /// Compares what the backend says it sent with what has arrived.
    pub(crate) fn end(&self, end: End) -> Result<StreamEnd, AccountError> {
        let mut named = vec![false; self.tallies.len()];
        for shard in &end.shards {
            let index = shard.shard as usize;
            let tally = self.tallies.get(index).ok_or(AccountError::UnknownShard)?;
            if std::mem::replace(&mut named[index], true) {
                return Err(AccountError::Shards);
            }
            tally.check(shard)?;
        }
        if named.contains(&false) {
            return Err(AccountError::Shards);
        }
        Ok(StreamEnd {
            plan: end.plan,
            phases: end.phases,
            shards: end.shards,
            estimates: end.estimates,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `keys` to shard 0 and ends it as an honest backend would, changed by `change`.
    fn check(keys: &[(u32, u32)], change: impl FnOnce(&mut End)) -> Result<(), AccountError> {
        let mut part = StreamAccount::new(1);
        let mut shard = ShardEnd::default();
        for &(document, line) in keys {
            part.shard(0)?.key(document, line)?;
            shard.matches += 1;
            shard.hash = ShardEnd::key_hash(shard.hash, document, line);
        }
        let mut end = End {
            shards: vec![shard],
            ..End::default()
        };
        change(&mut end);
        part.end(end).map(|_| ())
    }

    #[test]
    fn an_honest_stream_passes() {
        check(&[], |_| ()).unwrap();
        check(&[(0, 1), (0, 2), (3, 1)], |_| ()).unwrap();
    }

    #[test]
    fn every_lie_is_found() {
        let keys = [(0, 1), (0, 2), (3, 1)];
        let count = AccountError::Count {
            said: 4,
            received: 3,
        };
        assert_eq!(check(&keys, |end| end.shards[0].matches = 4), Err(count));
        assert_eq!(
            check(&keys, |end| end.shards[0].hash ^= 1),
            Err(AccountError::Hash)
        );
        assert_eq!(
            check(&keys, |end| end.shards.clear()),
            Err(AccountError::Shards)
        );
        let skipped = AccountError::Skipped {
            said: 1,
            received: 0,
        };
        assert_eq!(check(&keys, |end| end.shards[0].skipped = 1), Err(skipped));
        let repeat = |end: &mut End| end.shards.push(end.shards[0].clone());
        assert_eq!(check(&keys, repeat), Err(AccountError::Shards));
        let unknown = |end: &mut End| end.shards[0].shard = 1;
        assert_eq!(check(&keys, unknown), Err(AccountError::UnknownShard));
        assert_eq!(
            StreamAccount::new(1).shard(1).err(),
            Some(AccountError::UnknownShard)
        );
    }

    #[test]
    fn keys_ascend() {
        for keys in [[(0, 2), (0, 2)], [(0, 2), (0, 1)], [(1, 1), (0, 9)]] {
            assert_eq!(check(&keys, |_| ()), Err(AccountError::OutOfOrder));
        }
    }

    #[test]
    fn documents_are_counted_once_each() {
        let mut part = StreamAccount::new(2);
        for (shard, document, line) in [(0, 1, 1), (1, 1, 1), (0, 1, 2), (0, 2, 1)] {
            part.shard(shard).unwrap().key(document, line).unwrap();
        }
        assert_eq!(part.documents(), 3);
    }
}
