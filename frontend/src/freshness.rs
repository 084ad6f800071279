//! Known changes of the corpus that are not searched yet. The watcher is elsewhere.

use std::time::Duration;
use tokio::sync::watch;

/// Watcher of the corpus.
pub trait CorpusWatch: Send + Sync {
    /// Changed files that are not searched yet.
    fn pending(&self) -> u64;

    /// Asks if all changes so far are searched. Returns a question number.
    fn ask(&self) -> u64;

    /// Greatest question number with a positive answer.
    fn answered(&self) -> watch::Receiver<u64>;
}

/// Waits until all earlier changes are searched. Returns false on a timeout.
pub async fn wait_until_fresh(freshness: &dyn CorpusWatch, max: Duration) -> bool {
    let mut answered = freshness.answered();
    let question = freshness.ask();
    let is_answered = answered.wait_for(|answered| *answered >= question);
    let answer = tokio::time::timeout(max, is_answered).await;
    answer.is_ok_and(|answer| answer.is_ok())
}
