//! Checks the frames of a stream, one by one and at its END.
//!
//! Keys (document, line) ascend strictly within a shard. At the END, their number and
//! hash must equal the backend's. This finds lost and repeated frames, undetected bit
//! flips and backend errors.
//!
//! After a broken connection, another backend continues from the [`ResumePoint`] of each shard, or
//! begins again if of an earlier version, with known keys dropped. Gaps are found only by the same
//! backend's END, so nothing resumes after misordered matches or a wrong END.

use schema::frame::Kind;
use schema::message::{End, Progress, ResumePoint, ShardEnd};
use schema::order::RankKey;

/// Error of a stream with well-formed frames. Follows "the backend".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccountError {
    #[error("sent matches of a shard that was not requested")]
    UnknownShard,
    #[error("sent matches out of order")]
    OutOfOrder,
    #[error("sent matches twice")]
    Repeated,
    #[error("began again, and sent new matches together with others that had arrived")]
    Overlap,
    #[error("reported {said} matches of a shard, but {received} arrived")]
    Count { said: u64, received: u64 },
    #[error("reported {said} skipped documents of a shard, but named {received}")]
    Skipped { said: u64, received: u64 },
    #[error("sent matches that differ from those it reported (hash mismatch)")]
    Hash,
    #[error("ended without a report on each of its shards")]
    Shards,
    #[error("reported progress of {said} matches, but {received} arrived")]
    Claimed { said: u64, received: u64 },
    #[error("sent a match with a higher rank than it announced")]
    Bound,
    #[error("found fewer matches or documents in a shard than it sent")]
    Found,
}

/// Keys hashed together: 4 KiB.
const KEYS_LEN_MAX: usize = 512;

#[derive(Debug)]
pub(crate) struct StreamAccount {
    shards: Vec<ShardAccount>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ShardAccount {
    last: Option<(u32, u32)>,
    matches: u64,
    documents: u64,
    /// Hash of the keys before `keys`.
    hash: u32,
    /// Keys not hashed yet, at most [`KEYS_LEN_MAX`].
    keys: Vec<(u32, u32)>,
    skipped: u64,
    last_skipped: Option<u32>,
    /// First match of the last batch.
    batch: Option<(u32, u32)>,
    /// Last match and last skipped document before the current backend.
    before: (Option<(u32, u32)>, Option<u32>),
    state: ShardState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ShardState {
    #[default]
    Asked,
    Left,
    Ended,
}

impl ShardAccount {
    /// Returns false if an earlier backend has sent it.
    pub(crate) fn begin(
        &mut self,
        first: (u32, u32),
        last: impl FnOnce() -> (u32, u32),
    ) -> Result<bool, AccountError> {
        let first = Some(first);
        if self.last < first {
            self.batch = first;
            return Ok(true);
        }
        let last = Some(last());
        if last <= self.before.0 {
            Ok(false)
        } else if first <= self.before.0 {
            Err(AccountError::Overlap)
        } else if (first, last) == (self.batch, self.last) {
            Err(AccountError::Repeated)
        } else {
            Err(AccountError::OutOfOrder)
        }
    }

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

    /// Returns false if an earlier backend named it.
    pub(crate) fn skip(&mut self, document: u32) -> Result<bool, AccountError> {
        let document = Some(document);
        if document <= self.before.1 {
            return Ok(false);
        }
        if document == self.last_skipped {
            return Err(AccountError::Repeated);
        }
        self.skipped += 1;
        self.last_skipped = document;
        Ok(true)
    }

    fn resume_point(&self, shard: u32) -> ResumePoint {
        ResumePoint {
            shard,
            matches: self.matches,
            documents: self.documents,
            hash: self.hash(),
            last: self.last,
            skipped: self.skipped,
            last_skipped: self.last_skipped,
        }
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
        if end.found < end.matches || end.matched_documents < self.documents {
            return Err(AccountError::Found);
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
    pub(crate) fn new(shards: usize) -> Self {
        StreamAccount {
            shards: vec![ShardAccount::default(); shards],
        }
    }

    pub(crate) fn shard(&mut self, shard: u32) -> Result<&mut ShardAccount, AccountError> {
        let account = self.shards.get_mut(shard as usize);
        let asked = account.filter(|account| account.state == ShardState::Asked);
        asked.ok_or(AccountError::UnknownShard)
    }

    pub(crate) fn ask(&mut self, shards: &[u32]) {
        for (number, account) in (0..).zip(&mut self.shards) {
            if account.state == ShardState::Ended {
                continue;
            }
            account.before = (account.last, account.last_skipped);
            account.batch = None;
            account.state = if shards.contains(&number) {
                ShardState::Asked
            } else {
                ShardState::Left
            };
        }
    }

    pub(crate) fn left(&self) -> Vec<u32> {
        let numbered = (0..).zip(&self.shards);
        let left = numbered.filter(|(_, account)| account.state != ShardState::Ended);
        left.map(|(number, _)| number).collect()
    }

    pub(crate) fn is_done(&self) -> bool {
        let mut shards = self.shards.iter();
        shards.all(|account| account.state == ShardState::Ended)
    }

    pub(crate) fn resume_point(&self, shard: u32) -> ResumePoint {
        self.shards[shard as usize].resume_point(shard)
    }

    pub(crate) fn failed(&self, shard: u32, failure: &str) -> ShardEnd {
        let account = &self.shards[shard as usize];
        ShardEnd {
            shard,
            matches: account.matches,
            found: account.matches,
            matched_documents: account.documents,
            hash: account.hash(),
            skipped: account.skipped,
            failure: failure.to_owned(),
            ..ShardEnd::default()
        }
    }

    pub(crate) fn has_skipped(&self) -> bool {
        self.shards.iter().any(|account| account.skipped > 0)
    }

    /// True after a match or a skipped document.
    pub(crate) fn has_begun(&self) -> bool {
        let has_begun = |account: &ShardAccount| account.matches > 0 || account.skipped > 0;
        self.shards.iter().any(has_begun)
    }

    pub(crate) fn documents(&self) -> u64 {
        self.shards.iter().map(|account| account.documents).sum()
    }

    pub(crate) fn end(&mut self, end: &End) -> Result<(), AccountError> {
        for shard in &end.shards {
            let account = self.shards.get_mut(shard.shard as usize);
            let account = account.ok_or(AccountError::UnknownShard)?;
            if account.state != ShardState::Asked {
                return Err(AccountError::Shards);
            }
            account.check(shard)?;
            account.state = ShardState::Ended;
        }
        let is_asked = |account: &ShardAccount| account.state == ShardState::Asked;
        if self.shards.iter().any(is_asked) {
            return Err(AccountError::Shards);
        }
        Ok(())
    }
}

/// Progress of the current backend's answer: tells slow backends from hanging or lying ones.
///
/// It *grows* by matches, skipped documents, and PROGRESS with more blocks, documents or steps, or
/// with a queued search. Other frames only show a live connection. Claims are checked against the
/// matches sent. The [connection](super::Connection) measures the time without growth.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    has_begun: bool,
    has_grown: bool,
    /// Maximum of all reports, and the lowest bound.
    reached: Progress,
    matches: u64,
}

impl Answer {
    /// Returns true for a frame in its place. Greetings sent before the request may precede the
    /// answer.
    pub(crate) fn accepts(&mut self, kind: Kind) -> bool {
        let is_late = kind == Kind::Hello && self.has_begun;
        self.has_begun |= kind != Kind::Hello;
        !is_late
    }

    pub(crate) fn progress(&mut self, said: &Progress) -> Result<(), AccountError> {
        if said.matches > self.matches {
            return Err(AccountError::Claimed {
                said: said.matches,
                received: self.matches,
            });
        }
        let reached = &mut self.reached;
        for (most, said) in [
            (&mut reached.blocks_done, said.blocks_done),
            (&mut reached.documents, said.documents),
            (&mut reached.steps, said.steps),
        ] {
            self.has_grown |= said > *most;
            *most = said.max(*most);
        }
        self.has_grown |= said.is_queued;
        reached.bound = reached.bound.min(said.bound);
        Ok(())
    }

    pub(crate) fn rank(&self, best: f32) -> Result<(), AccountError> {
        if RankKey::of(best).score < RankKey::of(self.reached.bound).score {
            return Err(AccountError::Bound);
        }
        Ok(())
    }

    pub(crate) fn found(&mut self, matches: u64) {
        self.matches += matches;
        self.has_grown = true;
    }

    pub(crate) fn repeated(&mut self, matches: u64) {
        self.matches += matches;
    }

    pub(crate) fn take_growth(&mut self) -> bool {
        std::mem::take(&mut self.has_grown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `keys` to shard 0 and ends it honestly, except for `change`.
    fn check(keys: &[(u32, u32)], change: impl FnOnce(&mut End)) -> Result<(), AccountError> {
        let mut part = StreamAccount::new(1);
        let mut shard = ShardEnd::default();
        for &(document, line) in keys {
            part.shard(0)?.key(document, line)?;
            shard.matches += 1;
            shard.found += 1;
            shard.matched_documents = part.documents();
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
        let found = Err(AccountError::Found);
        assert_eq!(check(&keys, |end| end.shards[0].found = 2), found);
        let fewer = |end: &mut End| end.shards[0].matched_documents = 1;
        assert_eq!(check(&keys, fewer), found);
        check(&keys, |end| end.shards[0].found = 4).unwrap();
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

    fn batch(account: &mut StreamAccount, lines: &[u32]) -> Result<bool, AccountError> {
        let (first, last) = (lines[0], *lines.last().unwrap());
        let shard = account.shard(0)?;
        let is_new = shard.begin((1, first), || (1, last))?;
        for &line in lines.iter().filter(|_| is_new) {
            shard.key(1, line)?;
        }
        Ok(is_new)
    }

    #[test]
    fn what_an_earlier_backend_has_sent_is_dropped() {
        let mut account = StreamAccount::new(1);
        assert_eq!(batch(&mut account, &[1, 2]), Ok(true));
        assert_eq!(batch(&mut account, &[3, 4]), Ok(true));
        assert_eq!(batch(&mut account, &[3, 4]), Err(AccountError::Repeated));
        assert_eq!(batch(&mut account, &[1, 2]), Err(AccountError::OutOfOrder));
        assert_eq!(account.shard(0).unwrap().skip(7), Ok(true));
        let again = account.shard(0).unwrap().skip(7);
        assert_eq!(again, Err(AccountError::Repeated));
        account.ask(&[0]);
        assert_eq!(batch(&mut account, &[1, 2]), Ok(false));
        assert_eq!(batch(&mut account, &[3]), Ok(false));
        assert_eq!(batch(&mut account, &[4, 5]), Err(AccountError::Overlap));
        assert_eq!(batch(&mut account, &[5]), Ok(true));
        assert_eq!(account.shard(0).unwrap().skip(7), Ok(false));
        assert_eq!(account.shard(0).unwrap().skip(8), Ok(true));
    }

    #[test]
    fn count_and_hash_go_on_with_another_backend() {
        let mut account = StreamAccount::new(3);
        batch(&mut account, &[1, 2]).unwrap();
        let point = account.resume_point(0);
        let expected = ResumePoint {
            shard: 0,
            matches: 2,
            documents: 1,
            hash: ShardEnd::keys_hash(0, [(1, 1), (1, 2)]),
            last: Some((1, 2)),
            ..ResumePoint::default()
        };
        assert_eq!(point, expected);
        account.ask(&[0, 2]);
        assert_eq!(account.shard(1).err(), Some(AccountError::UnknownShard));
        batch(&mut account, &[3]).unwrap();
        let end = |shard| ShardEnd {
            shard,
            ..ShardEnd::default()
        };
        let first = ShardEnd {
            matches: 3,
            found: 3,
            matched_documents: 1,
            hash: ShardEnd::key_hash(point.hash, 1, 3),
            ..end(0)
        };
        let part = End {
            shards: vec![first.clone(), end(2)],
            ..End::default()
        };
        account.end(&part).unwrap();
        assert_eq!(account.left(), [1]);
        account.ask(&[1]);
        assert_eq!(account.shard(0).err(), Some(AccountError::UnknownShard));
        let other = End {
            shards: vec![first],
            ..End::default()
        };
        assert_eq!(account.end(&other), Err(AccountError::Shards));
        let last = End {
            shards: vec![end(1)],
            ..End::default()
        };
        account.end(&last).unwrap();
        assert!(account.is_done() && account.left().is_empty());
    }

    #[test]
    fn documents_are_counted_once_each() {
        let mut part = StreamAccount::new(2);
        for (shard, document, line) in [(0, 1, 1), (1, 1, 1), (0, 1, 2), (0, 2, 1)] {
            part.shard(shard).unwrap().key(document, line).unwrap();
        }
        assert_eq!(part.documents(), 3);
    }

    fn progress(blocks_done: u64, documents: u64, steps: u64) -> Progress {
        Progress {
            blocks_done,
            blocks_total: 9,
            documents,
            steps,
            ..Progress::default()
        }
    }

    #[test]
    fn only_what_exceeds_all_before_is_growth() {
        let mut answer = Answer::default();
        let mut grows = |said: Progress| {
            answer.progress(&said).unwrap();
            answer.take_growth()
        };
        assert!(!grows(progress(0, 0, 0)));
        assert!(grows(progress(1, 0, 0)));
        assert!(!grows(progress(1, 0, 0)));
        assert!(grows(progress(0, 1, 0)));
        assert!(!grows(progress(1, 1, 0)), "up and down again");
        assert!(grows(progress(1, 1, 1)), "within a block");
        let bound = Progress {
            bound: 1.0,
            ..progress(1, 1, 1)
        };
        assert!(!grows(bound));
        let queued = Progress {
            is_queued: true,
            ..progress(0, 0, 0)
        };
        assert!(grows(queued));
        answer.found(1);
        assert!(answer.take_growth() && !answer.take_growth());
    }

    #[test]
    fn greetings_end_where_the_answer_begins() {
        let mut answer = Answer::default();
        for kind in [Kind::Hello, Kind::Hello, Kind::Progress] {
            assert!(answer.accepts(kind), "{kind:?}");
        }
        assert!(!answer.accepts(Kind::Hello));
    }

    #[test]
    fn claims_are_compared_with_what_was_sent() {
        let mut answer = Answer::default();
        let said = |matches, bound| Progress {
            matches,
            bound,
            ..Progress::default()
        };
        answer.rank(9.0).unwrap();
        answer.found(2);
        answer.progress(&said(2, 1.5)).unwrap();
        answer.progress(&said(1, 7.0)).unwrap();
        let claimed = AccountError::Claimed {
            said: 3,
            received: 2,
        };
        assert_eq!(answer.progress(&said(3, 1.5)), Err(claimed));
        answer.rank(1.5).unwrap();
        assert_eq!(
            answer.rank(1.51),
            Err(AccountError::Bound),
            "the lowest bound stands"
        );
    }
}
