//! Progress of a stream: counters and best matches so far. Its thread writes, all others read.
//!
//! **Invariant:** best matches and bound are published together. The bound is never visible before
//! the matches sent ahead of it.

use cache::lock;
use results::facets::FacetsSoFar;
use results::order::{BEST_MAX, Pointer, TopDocument, TopDocuments, keep_best};
use schema::message;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::watch;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Candidate blocks verified.
    pub blocks_done: u64,
    /// Candidate blocks known so far.
    pub blocks_total: u64,
    pub documents: u64,
    pub matches: u64,
    /// Time since the streams were opened, without queueing.
    pub elapsed: Duration,
    pub backends: Vec<BackendProgress>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct BackendProgress {
    pub name: String,
    /// Candidate blocks verified.
    pub blocks_done: u64,
    /// Candidate blocks known so far.
    pub blocks_total: u64,
    pub documents: u64,
    pub matches: u64,
    /// Bound of the ranks still to come: infinity if unknown, negative infinity at the end.
    pub bound: f32,
}

impl Progress {
    pub fn add(&mut self, backend: BackendProgress) {
        self.blocks_done += backend.blocks_done;
        self.blocks_total += backend.blocks_total;
        self.documents += backend.documents;
        self.matches += backend.matches;
        self.backends.push(backend);
    }

    /// Bound of the ranks still to come; `None` if unknown.
    pub fn bound(&self) -> Option<f32> {
        let bounds = self.backends.iter().map(|backend| backend.bound);
        bounds.reduce(f32::max).filter(|bound| bound.is_finite())
    }
}

/// Written only by its stream's thread.
#[derive(Debug, Default)]
pub(crate) struct StreamStats {
    pub(crate) matches: AtomicU64,
    pub(crate) received_bytes: AtomicU64,
    pub(crate) answered: AtomicBool,
    reported: Mutex<message::Progress>,
    bound_is_new: AtomicBool,
    published: Mutex<Published>,
    pub(crate) facets: Mutex<FacetsSoFar>,
    news: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Published {
    best: Vec<Pointer>,
    documents: TopDocuments,
    /// With the bound for these.
    progress: message::Progress,
}

impl StreamStats {
    pub(crate) fn new(news: watch::Sender<()>) -> StreamStats {
        StreamStats {
            news,
            ..StreamStats::default()
        }
    }

    /// Its bound is published with the matches before it.
    pub(crate) fn progress(&self, mut progress: message::Progress) {
        if progress.bound.is_nan() {
            progress.bound = f32::INFINITY;
        }
        let before = std::mem::replace(&mut *lock(&self.reported), progress);
        let is_new = before.bound.to_bits() != progress.bound.to_bits();
        self.bound_is_new.fetch_or(is_new, Relaxed);
    }

    pub(crate) fn has_news(&self) -> bool {
        self.bound_is_new.load(Relaxed)
    }

    /// All frames so far must be in the spool.
    pub(crate) fn publish(&self, best: &[Pointer], documents: &TopDocuments) {
        let mut published = lock(&self.published);
        best.clone_into(&mut published.best);
        published.documents.clone_from(documents);
        published.progress = *lock(&self.reported);
        drop(published);
        self.bound_is_new.store(false, Relaxed);
        self.news.send_replace(());
    }

    /// Publishes a complete stream: all blocks are done, even without a PROGRESS.
    pub(crate) fn end(&self, end: &message::End, best: &[Pointer], documents: &TopDocuments) {
        let sum = |count: fn(&message::ShardEnd) -> u64| end.shards.iter().map(count).sum();
        let blocks = sum(|shard| shard.candidates);
        *lock(&self.reported) = message::Progress {
            blocks_done: blocks,
            blocks_total: blocks,
            documents: sum(|shard| shard.documents),
            bound: f32::NEG_INFINITY,
            ..message::Progress::default()
        };
        self.publish(best, documents);
    }

    pub(crate) fn lose(&self) {
        lock(&self.reported).bound = f32::INFINITY;
        lock(&self.published).progress.bound = f32::INFINITY;
    }

    pub(crate) fn read(&self, name: &str) -> BackendProgress {
        let reported = *lock(&self.reported);
        BackendProgress {
            name: name.to_owned(),
            blocks_done: reported.blocks_done,
            blocks_total: reported.blocks_total,
            documents: reported.documents,
            matches: self.matches.load(Relaxed),
            bound: lock(&self.published).progress.bound,
        }
    }
}

/// Best matches so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopMatches {
    /// Best first, at most [`BEST_MAX`].
    pub pointers: Vec<Pointer>,
    /// No match still to come can change them.
    pub is_final: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct BestDocuments {
    /// Best lines of each, best document first, at most [`BEST_MAX`].
    pub documents: Vec<Vec<Pointer>>,
    /// No match still to come can change them or their order.
    pub is_final: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TopCopies {
    All,
    /// Left out.
    Folded,
    /// Left out. Nothing is final if there are any: matches of copies depend on more than the text.
    Unsure,
}

impl BestDocuments {
    /// Best documents of all streams. With a limit (0: none), those of the best
    /// matches, with copies unknown.
    pub(crate) fn new<'a>(
        stats: impl Iterator<Item = &'a StreamStats>,
        limit: u64,
        copies: TopCopies,
    ) -> BestDocuments {
        if limit > 0 {
            return BestDocuments::of_matches(TopMatches::new(stats, limit), limit);
        }
        let (mut best, mut bound) = (TopDocuments::default(), f32::NEG_INFINITY);
        for stats in stats {
            let published = lock(&stats.published);
            let documents = published.documents.documents().iter();
            documents.for_each(|document| best.offer(document));
            bound = bound.max(published.progress.bound);
        }
        let all = best.documents();
        let shown: Vec<&TopDocument> = match copies {
            TopCopies::All => all.iter().take(BEST_MAX).collect(),
            TopCopies::Folded | TopCopies::Unsure => best.unfolded().take(BEST_MAX).collect(),
        };
        let last = shown.get(BEST_MAX - 1);
        let is_above = last.is_some_and(|last| last.lines[0].is_above(bound));
        let is_sure = copies != TopCopies::Unsure || best.unfolded().count() == all.len();
        BestDocuments {
            is_final: is_above && is_sure && !best.has_ties(),
            documents: shown.into_iter().map(|it| it.lines.clone()).collect(),
        }
    }

    /// Documents of the best matches. Other matches within the limit may be in other documents.
    fn of_matches(TopMatches { pointers, is_final }: TopMatches, limit: u64) -> BestDocuments {
        let mut best = TopDocuments::default();
        for pointer in pointers {
            let mut document = TopDocument::default();
            document.offer(pointer);
            best.offer(&document);
        }
        let documents: Vec<_> = best.documents().iter().map(|it| it.lines.clone()).collect();
        let has_all = limit <= BEST_MAX as u64 || documents.len() == BEST_MAX;
        BestDocuments {
            is_final: is_final && has_all,
            documents,
        }
    }
}

impl TopMatches {
    /// Best matches of all streams of a query with this limit (0: none).
    pub(crate) fn new<'a>(stats: impl Iterator<Item = &'a StreamStats>, limit: u64) -> TopMatches {
        let (mut best, mut bound) = (Vec::new(), f32::NEG_INFINITY);
        for stats in stats {
            let published = lock(&stats.published);
            let pointers = published.best.iter();
            pointers.for_each(|&pointer| keep_best(&mut best, BEST_MAX, pointer));
            bound = bound.max(published.progress.bound);
        }
        let full = match limit {
            0 => BEST_MAX,
            limit => BEST_MAX.min(limit as usize),
        };
        // Names order matches of different documents with equal score and hash.
        let is_tie = |pair: &[Pointer]| {
            pair[0].tie_key() == pair[1].tie_key() && pair[0].document() != pair[1].document()
        };
        let has_ties = best.windows(2).any(is_tie);
        best.truncate(full);
        let is_final = best.len() == full && best[full - 1].is_above(bound) && !has_ties;
        TopMatches {
            pointers: best,
            is_final,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::order::Origin;

    fn best(ranks: &[f32]) -> Vec<Pointer> {
        let origin = Origin {
            hash: 1,
            package: 0,
            stream: 0,
            offset: 0,
        };
        let mut best = Vec::new();
        for (line, &rank) in (1..).zip(ranks) {
            keep_best(&mut best, BEST_MAX, origin.pointer(rank, line, 0));
        }
        best
    }

    fn best_documents(ranks: &[f32]) -> TopDocuments {
        let mut best = TopDocuments::default();
        for (hash, &rank) in (1..).zip(ranks) {
            let origin = Origin {
                hash,
                package: 0,
                stream: 0,
                offset: 0,
            };
            let mut document = TopDocument::default();
            document.offer(origin.pointer(rank, 1, 0));
            best.offer(&document);
        }
        best
    }

    #[test]
    fn ten_documents_above_every_bound_are_final() {
        let check = |stats: &[StreamStats], limit| {
            let best = BestDocuments::new(stats.iter(), limit, TopCopies::Folded);
            (best.documents.len(), best.is_final)
        };
        let ten = [3.0, 2.9, 2.8, 2.7, 2.6, 2.5, 2.4, 2.3, 2.2, 2.1];
        assert_eq!(check(&[stats(2.0, &ten)], 0), (10, true));
        assert_eq!(check(&[stats(2.1, &ten)], 0), (10, false), "a tie");
        assert_eq!(check(&[stats(1.0, &ten[..9])], 0), (9, false));
        let both = [stats(2.0, &ten), stats(2.5, &[])];
        assert_eq!(check(&both, 0), (10, false));
        assert_eq!(
            check(&[stats(1.0, &ten)], 3),
            (1, true),
            "one of the best three"
        );
        assert_eq!(
            check(&[stats(1.0, &ten)], 50),
            (1, false),
            "the rest of the fifty may be in other files"
        );
    }

    #[test]
    fn copies_do_not_count_as_documents() {
        // The third and the last of twelve are copies of the first.
        let mut best = TopDocuments::default();
        for hash in 1..=12 {
            let origin = Origin {
                hash,
                package: 0,
                stream: 0,
                offset: 0,
            };
            let text = if [3, 12].contains(&hash) {
                1
            } else {
                hash as u8
            };
            let mut document = TopDocument {
                text: Some([text; 12]),
                ..TopDocument::default()
            };
            document.offer(origin.pointer(2.0, 1, 0));
            best.offer(&document);
        }
        let stats = stats(1.0, &[]);
        stats.publish(&[], &best);
        let check = |copies| {
            let best = BestDocuments::new([&stats].into_iter(), 0, copies);
            let hashes = best.documents.iter().map(|lines| lines[0].hash());
            (hashes.collect::<Vec<_>>(), best.is_final)
        };
        assert_eq!(check(TopCopies::All), ((1..=10).collect(), true));
        let without = vec![1, 2, 4, 5, 6, 7, 8, 9, 10, 11];
        assert_eq!(check(TopCopies::Folded), (without.clone(), true));
        assert_eq!(check(TopCopies::Unsure), (without, false));
    }

    fn stats(bound: f32, ranks: &[f32]) -> StreamStats {
        let stats = StreamStats::new(watch::Sender::default());
        stats.progress(message::Progress {
            bound,
            ..message::Progress::default()
        });
        stats.publish(&best(ranks), &best_documents(ranks));
        stats
    }

    fn check(stats: &[StreamStats], limit: u64) -> (usize, bool) {
        let top_matches = TopMatches::new(stats.iter(), limit);
        (top_matches.pointers.len(), top_matches.is_final)
    }

    #[test]
    fn top_ten_above_every_bound_are_final() {
        let (ten, nine) = ([2.0; 10], [2.0; 9]);
        assert_eq!(check(&[stats(1.9, &ten)], 0), (10, true));
        assert_eq!(check(&[stats(2.0, &ten)], 0), (10, false), "a tie");
        assert_eq!(check(&[stats(1.0, &nine)], 0), (9, false));
        assert_eq!(
            check(&[stats(1.0, &nine), stats(1.5, &[3.0])], 0),
            (10, true)
        );
        assert_eq!(check(&[stats(1.0, &ten), stats(2.5, &[])], 0), (10, false));
        assert_eq!(
            check(
                &[stats(1.0, &ten), StreamStats::new(watch::Sender::default())],
                0
            ),
            (10, false)
        );
        assert_eq!(check(&[stats(f32::NAN, &ten)], 0), (10, false));
        assert_eq!(check(&[stats(1.0, &nine)], 3), (3, true), "the limit");
        assert_eq!(check(&[], 0), (0, false));
    }

    #[test]
    fn a_bound_is_published_with_the_matches_before_it() {
        let stats = stats(9.0, &[2.0; 10]);
        stats.progress(message::Progress {
            bound: 0.0,
            ..message::Progress::default()
        });
        assert!(stats.has_news());
        assert!(!TopMatches::new([&stats].into_iter(), 0).is_final);
        stats.publish(&best(&[3.0; 10]), &TopDocuments::default());
        assert!(!stats.has_news());
        assert!(TopMatches::new([&stats].into_iter(), 0).is_final);
        stats.lose();
        assert!(!TopMatches::new([&stats].into_iter(), 0).is_final);
        let none = TopDocuments::default();
        stats.end(&message::End::default(), &best(&[3.0; 10]), &none);
        assert!(TopMatches::new([&stats].into_iter(), 0).is_final);
    }
}
