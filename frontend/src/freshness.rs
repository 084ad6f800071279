//! Changes of the corpus that are known and not searched yet, in a process that watches its sources.
//!
//! The watcher is elsewhere; this is what searches see of it.

use std::time::Duration;
use tokio::sync::watch;

/// What watches the corpus.
pub trait CorpusWatch: Send + Sync {
    /// Files that are known to have changed and are not searched yet.
    fn pending(&self) -> u64;

    /// Asks whether all that has changed until now is searched, and returns the number of the question.
    fn ask(&self) -> u64;

    /// The greatest number of a question of which the answer is yes.
    fn answered(&self) -> watch::Receiver<u64>;
}

/// Waits until all that has changed before the call is searched. Returns whether it is.
pub async fn wait_until_fresh(freshness: &dyn CorpusWatch, max: Duration) -> bool {
    let mut answered = freshness.answered();
    let question = freshness.ask();
    let is_answered = answered.wait_for(|answered| *answered >= question);
    let answer = tokio::time::timeout(max, is_answered).await;
    answer.is_ok_and(|answer| answer.is_ok())
}
