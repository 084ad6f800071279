//! Checks what one stream sends: each frame, and everything together at its END.
//!
//! Within a shard, keys (document, line) ascend strictly. At the END, their number and hash must be those
//! that the backend reports. This finds lost and repeated frames, flipped bits that a checksum missed,
//! and errors of the backend. A stream that fails a check is lost.

use schema::message::{End, ShardEnd};

/// Why a stream is lost although its frames are well formed. Follows the word "it".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccountError {
    #[error("sent matches of a shard that was not requested")]
    UnknownShard,
    #[error("sent matches out of order")]
    OutOfOrder,
    #[error("reported {said} matches of a shard, but {received} arrived")]
    Count { said: u64, received: u64 },
    #[error("reported {said} skipped documents of a shard, but named {received}")]
    Skipped { said: u64, received: u64 },
    #[error("sent matches that differ from those it reported (hash mismatch)")]
    Hash,
    #[error("ended without a report on each of its shards")]
    Shards,
}

/// Keys of a shard that are hashed together: 4 KiB.
const KEYS_LEN_MAX: usize = 512;

/// What one stream has sent so far.
#[derive(Debug)]
pub(crate) struct StreamAccount {
    shards: Vec<ShardAccount>,
}

/// What one stream has sent of one shard.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShardAccount {
    /// Document and line of the last match.
    last: Option<(u32, u32)>,
    matches: u64,
    documents: u64,
    /// The hash of the keys before those in `keys`.
    hash: u32,
    /// Keys that are not hashed yet, at most [`KEYS_LEN_MAX`].
    keys: Vec<(u32, u32)>,
    /// Skipped documents.
    skipped: u64,
}

impl ShardAccount {
    /// Counts the next match.
    pub(crate) fn key(&mut self, document: u32, line: u32) -> Result<(), AccountError> {
        let key = Some((document, line));
        if self.last >= key {
            return Err(AccountError::OutOfOrder);
        }
        self.documents += u64::from(self.last.is_none_or(|(last, _)| last != document));
        self.matches += 1;
        if self.keys.len() == KEYS_LEN_MAX {
            self.hash = self.hash();
            self.keys.clear();
        }
        self.keys.push((document, line));
        self.last = key;
        Ok(())
    }

    fn hash(&self) -> u32 {
        ShardEnd::keys_hash(self.hash, self.keys.iter().copied())
    }

    /// Counts a skipped document.
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
        if self.hash() != end.hash {
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
    /// The account of a request for so many shards.
    pub(crate) fn new(shards: usize) -> Self {
        StreamAccount {
            shards: vec![ShardAccount::default(); shards],
        }
    }

    /// The account of a shard, by its index in the request.
    pub(crate) fn shard(&mut self, shard: u32) -> Result<&mut ShardAccount, AccountError> {
        let account = self.shards.get_mut(shard as usize);
        account.ok_or(AccountError::UnknownShard)
    }

    /// Whether a match or a skipped document has arrived.
    pub(crate) fn has_begun(&self) -> bool {
        let has_begun = |account: &ShardAccount| account.matches > 0 || account.skipped > 0;
        self.shards.iter().any(has_begun)
    }

    /// Documents with a match.
    pub(crate) fn documents(&self) -> u64 {
        self.shards.iter().map(|account| account.documents).sum()
    }

    /// Compares what the backend reports with what has arrived.
    pub(crate) fn end(&self, end: &End) -> Result<(), AccountError> {
        let mut named = vec![false; self.shards.len()];
        for shard in &end.shards {
            let index = shard.shard as usize;
            let account = self.shards.get(index).ok_or(AccountError::UnknownShard)?;
            if std::mem::replace(&mut named[index], true) {
                return Err(AccountError::Shards);
            }
            account.check(shard)?;
        }
        if named.contains(&false) {
            return Err(AccountError::Shards);
        }
        Ok(())
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
        part.end(&end)
    }

    #[test]
    fn accepts_a_correct_stream() {
        check(&[], |_| ()).unwrap();
        check(&[(0, 1), (0, 2), (3, 1)], |_| ()).unwrap();
    }

    #[test]
    fn rejects_an_end_that_disagrees() {
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
    fn rejects_keys_that_do_not_ascend() {
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
