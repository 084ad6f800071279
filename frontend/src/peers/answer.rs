//! How far the backend that answers now has come: what tells a slow backend from one that hangs or lies.
//!
//! An answer *grows* by matches, by skipped documents, and by PROGRESS that reports more blocks, documents or steps than
//! before, or that the search is queued. Any other frame shows that the connection is there, not that somebody works. What
//! a backend claims is compared with what it sent: counts, and the ranks after each bound.
//!
//! Pure: the time without growth is measured by the [connection](super::Connection).

use super::account::AccountError;
use super::connection::PeerError;
use schema::frame::Kind;
use schema::message::Progress;
use schema::order::RankKey;

/// What the current backend of a stream has sent. Another one begins with a new one.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Whether a frame other than HELLO has arrived.
    has_begun: bool,
    has_grown: bool,
    /// The most of everything that was reported, and the lowest bound.
    reached: Progress,
    /// Matches that have arrived.
    matches: u64,
}

impl Answer {
    /// Takes the kind of the next frame. Greetings may have been on their way when the request was sent, and come before the
    /// answer.
    pub(crate) fn frame(&mut self, kind: Kind) -> Result<(), PeerError> {
        if kind == Kind::Hello && self.has_begun {
            return Err(PeerError::Unexpected(kind));
        }
        self.has_begun |= kind != Kind::Hello;
        Ok(())
    }

    /// Takes a PROGRESS.
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

    /// Checks the highest rank of a frame before its matches are taken.
    pub(crate) fn rank(&self, best: f32) -> Result<(), AccountError> {
        if RankKey::of(best).score < RankKey::of(self.reached.bound).score {
            return Err(AccountError::Bound);
        }
        Ok(())
    }

    /// Takes new matches or skipped documents.
    pub(crate) fn found(&mut self, matches: u64) {
        self.matches += matches;
        self.has_grown = true;
    }

    /// Takes matches that an earlier backend has sent.
    pub(crate) fn repeated(&mut self, matches: u64) {
        self.matches += matches;
    }

    /// Whether it has grown since the last call.
    pub(crate) fn take_growth(&mut self) -> bool {
        std::mem::take(&mut self.has_grown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            answer.frame(kind).unwrap();
        }
        let late = answer.frame(Kind::Hello);
        assert!(matches!(late, Err(PeerError::Unexpected(Kind::Hello))));
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
