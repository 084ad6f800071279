//! Progress of the current backend's answer: tells slow backends from hanging or lying ones.
//!
//! An answer *grows* by matches, skipped documents, and PROGRESS with more blocks, documents or
//! steps, or with a queued search. Other frames only show a live connection. Claims are checked
//! against the matches sent.
//!
//! Pure: the [connection](super::Connection) measures the time without growth.

use super::account::AccountError;
use super::connection::PeerError;
use schema::frame::Kind;
use schema::message::Progress;
use schema::order::RankKey;

#[derive(Debug, Default)]
pub(crate) struct Answer {
    has_begun: bool,
    has_grown: bool,
    /// Maximum of all reports, and the lowest bound.
    reached: Progress,
    matches: u64,
}

impl Answer {
    /// Takes the kind of the next frame. Greetings sent before the request may precede the answer.
    pub(crate) fn frame(&mut self, kind: Kind) -> Result<(), PeerError> {
        if kind == Kind::Hello && self.has_begun {
            return Err(PeerError::Unexpected(kind));
        }
        self.has_begun |= kind != Kind::Hello;
        Ok(())
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

    /// Adds matches repeated from an earlier backend.
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
