//! Callers of a cache, as tasks.

mod schedules;

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot};

type Numbers = Cache<&'static str, usize, &'static str>;

const HOUR: Duration = Duration::from_secs(3600);

fn config() -> CacheConfig {
    CacheConfig {
        life: HOUR,
        hard: 2 * HOUR,
        ..CacheConfig::new("test")
    }
}

fn cache(config: CacheConfig) -> Arc<Numbers> {
    Cache::new(config, |_, _| 8)
}

async fn until(mut holds: impl FnMut() -> bool) {
    let waited = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), waited);
    waited.await.expect("it holds in time");
}

fn ask<F>(
    cache: &Arc<Numbers>,
    build: impl FnOnce() -> F + Send + 'static,
) -> tokio::task::JoinHandle<Result<usize, CacheError<&'static str>>>
where
    F: Future<Output = Built<usize, &'static str>> + Send + 'static,
{
    let cache = Arc::clone(cache);
    tokio::spawn(async move { cache.get_or_build("a", None, build).await })
}

#[tokio::test]
async fn a_thousand_callers_build_once() {
    let cache = cache(config());
    let (builds, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let callers: Vec<_> = (0..1000)
        .map(|_| {
            let (builds, go) = (Arc::clone(&builds), Arc::clone(&go));
            ask(&cache, || async move {
                builds.fetch_add(1, SeqCst);
                go.notified().await;
                Built::Value(7)
            })
        })
        .collect();
    until(|| cache.waiting() == 1000).await;
    go.notify_one();
    for caller in callers {
        assert_eq!(caller.await.unwrap(), Ok(7));
    }
    assert_eq!(builds.load(SeqCst), 1);
    assert_eq!(cache.waiting(), 0);
}

#[tokio::test]
async fn a_client_that_leaves_does_not_stall_the_others() {
    let cache = cache(config());
    let (go, gone) = oneshot::channel();
    let first = ask(&cache, || async move {
        gone.await.unwrap();
        Built::Value(1)
    });
    until(|| cache.waiting() == 1).await;
    let second = ask(&cache, || async { Built::Value(2) });
    until(|| cache.waiting() == 2).await;
    first.abort();
    until(|| cache.waiting() == 1).await;
    go.send(()).unwrap();
    assert_eq!(second.await.unwrap(), Ok(1));
}

#[tokio::test]
async fn a_build_that_panics_hands_over_to_one_who_waits() {
    let cache = cache(config());
    let (go, gone) = oneshot::channel::<()>();
    let first = ask(&cache, || async move {
        gone.await.unwrap();
        panic!("a test of panics");
    });
    until(|| cache.waiting() == 1).await;
    let second = ask(&cache, || async { Built::Value(2) });
    until(|| cache.waiting() == 2).await;
    go.send(()).unwrap();
    assert_eq!(second.await.unwrap(), Ok(2));
    assert_eq!(
        first.await.unwrap(),
        Ok(2),
        "it got what the other one built"
    );
}

#[tokio::test]
async fn a_build_that_takes_too_long_hands_over() {
    let cache = cache(CacheConfig {
        build_max: Duration::from_millis(50),
        ..config()
    });
    let first = ask(&cache, std::future::pending);
    until(|| cache.waiting() == 1).await;
    let second = ask(&cache, || async { Built::Value(2) });
    assert_eq!(second.await.unwrap(), Ok(2));
    assert_eq!(first.await.unwrap(), Ok(2));
}

#[tokio::test]
async fn a_stuck_builder_is_fenced_when_its_claim_has_expired() {
    let cache = cache(CacheConfig {
        build_max: Duration::from_millis(50),
        ..config()
    });
    let CacheOutcome::Build(stuck, _waiting) = cache.look_up("a") else {
        panic!("no build is running");
    };
    let second = ask(&cache, || async { Built::Value(2) });
    assert_eq!(second.await.unwrap(), Ok(2));
    assert!(!stuck.put(Built::Value(1)), "its claim is not current");
    assert!(matches!(cache.look_up("a"), CacheOutcome::Fresh(2)));
}

#[tokio::test]
async fn failures_reach_those_who_wait_and_are_not_kept() {
    let cache = cache(config());
    let (go, gone) = oneshot::channel();
    let first = ask(&cache, || async move {
        gone.await.unwrap();
        Built::Transient("down")
    });
    until(|| cache.waiting() == 1).await;
    let second = ask(&cache, || async { Built::Value(2) });
    until(|| cache.waiting() == 2).await;
    go.send(()).unwrap();
    for caller in [first, second] {
        assert_eq!(caller.await.unwrap(), Err(CacheError::Failed("down")));
    }
    let again = ask(&cache, || async { Built::Value(3) });
    assert_eq!(again.await.unwrap(), Ok(3));
}

#[tokio::test]
async fn callers_beyond_the_bounds_are_turned_away_at_once() {
    let cache = cache(CacheConfig {
        waiters_per_key_max: 2,
        ..config()
    });
    let callers = [0, 1].map(|_| ask(&cache, std::future::pending));
    until(|| cache.waiting() == 2).await;
    let third = cache.get_or_build("a", None, || async { Built::Value(1) });
    let Err(CacheError::Busy { retry_after }) = third.await else {
        panic!("it was not turned away");
    };
    assert!((1..=3).contains(&retry_after.as_secs()));
    callers.iter().for_each(|caller| caller.abort());
}

#[tokio::test]
async fn a_caller_waits_until_its_deadline() {
    let cache = cache(config());
    let deadline = Instant::now() + Duration::from_millis(30);
    let answer = cache.get_or_build("a", Some(deadline), std::future::pending);
    assert!(matches!(answer.await, Err(CacheError::Late { .. })));
    assert!(Instant::now() >= deadline);
}

#[tokio::test]
async fn a_stale_answer_is_shown_at_once_and_built_again_once() {
    for _ in 0..5 {
        match use_until_built_again().await {
            Ok(builds) => return assert_eq!(builds, 2),
            // The machine stood still while the answer was stale.
            Err(error) => assert!(matches!(error, CacheError::Late { .. })),
        }
    }
    panic!("the answer was not rebuilt before it expired");
}

/// Uses an answer until its endless rebuild begins, and a while longer.
/// Returns the number of builds.
async fn use_until_built_again() -> Result<usize, CacheError<&'static str>> {
    let cache = cache(CacheConfig {
        life: Duration::from_secs(1),
        ..config()
    });
    let builds = Arc::new(AtomicUsize::new(0));
    let build = {
        let builds = Arc::clone(&builds);
        move || {
            let turn = builds.fetch_add(1, SeqCst);
            async move {
                if turn > 0 {
                    std::future::pending::<()>().await;
                }
                Built::Value(turn)
            }
        }
    };
    let get = async || {
        let deadline = Instant::now() + Duration::from_secs(1);
        let answer = cache.get_and_keep("a", Some(deadline), build.clone());
        assert_eq!(answer.await?, 0);
        Ok(())
    };
    get().await?;
    while builds.load(SeqCst) < 2 {
        get().await?;
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        get().await?;
    }
    Ok(builds.load(SeqCst))
}

#[tokio::test]
async fn an_answer_that_nobody_uses_is_dropped() {
    let cache = cache(CacheConfig {
        life: Duration::from_millis(20),
        ..config()
    });
    let builds = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&builds);
    let build = move || {
        let builds = Arc::clone(&counted);
        async move { Built::Value(builds.fetch_add(1, SeqCst)) }
    };
    assert_eq!(cache.get_and_keep("a", None, build).await, Ok(0));
    until(|| cache.settled_bytes() == 0).await;
    assert_eq!(builds.load(SeqCst), 1);
}

#[tokio::test]
async fn a_failed_refresh_keeps_what_was_there_and_a_denial_replaces_it() {
    // Repeated, since a refresh that is late on a busy machine lets the answer expire.
    for _ in 0..100 {
        if is_shown_until_it_is_denied().await {
            return;
        }
    }
    panic!("a request has to wait each time");
}

/// Keeps an answer with a failed refresh, then a denial. Returns `false` if it expired before.
async fn is_shown_until_it_is_denied() -> bool {
    let cache = cache(CacheConfig {
        life: Duration::from_secs(1),
        ..config()
    });
    let turn = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&turn);
    let build = move || {
        let turn = counted.fetch_add(1, SeqCst);
        async move {
            match turn {
                0 => Built::Value(1),
                1 => Built::Transient("down"),
                _ => Built::Negative(0),
            }
        }
    };
    assert_eq!(cache.get_and_keep("a", None, build).await, Ok(1));
    let (mut is_denied, mut has_expired) = (false, false);
    until(|| {
        match cache.look_up("a") {
            // Drops a claim, which belongs to the keeper task.
            CacheOutcome::Fresh(value) | CacheOutcome::Stale(value, _) => assert_eq!(value, 1),
            CacheOutcome::Negative(value) => {
                assert_eq!(value, 0);
                is_denied = true;
            }
            _ => has_expired = true,
        }
        is_denied || has_expired
    })
    .await;
    assert!(has_expired || turn.load(SeqCst) >= 2);
    is_denied
}

#[tokio::test]
async fn put_and_invalidate_take_effect_at_once() {
    let cache = cache(config());
    let CacheOutcome::Build(early, waiting) = cache.look_up("a") else {
        panic!("no build is running");
    };
    cache.put(&"a", Built::Value(5));
    let deadline = Instant::now() + HOUR;
    assert!(matches!(waiting.turn(deadline).await, Turn::Answer(Ok(5))));
    assert!(!early.put(Built::Value(1)), "something newer was put");
    cache.invalidate(&"a");
    let CacheOutcome::Build(outdated, waiting) = cache.look_up("a") else {
        panic!("it is still there");
    };
    cache.invalidate_all();
    assert!(outdated.put(Built::Value(6)), "those who wait get it");
    assert!(matches!(waiting.turn(deadline).await, Turn::Answer(Ok(6))));
    assert!(
        matches!(cache.look_up("a"), CacheOutcome::Build(..)),
        "it is not kept"
    );
}

#[tokio::test]
async fn who_asks_for_a_forgotten_answer_waits_for_the_one_that_is_built() {
    let cache = cache(config());
    let CacheOutcome::Build(claim, _) = cache.look_up("a") else {
        panic!("no build is running");
    };
    cache.forget(&"a");
    let CacheOutcome::Wait(waiting) = cache.look_up("a") else {
        panic!("it is being built");
    };
    assert!(claim.put(Built::Value(2)));
    let deadline = Instant::now() + HOUR;
    assert!(matches!(waiting.turn(deadline).await, Turn::Answer(Ok(2))));
    assert!(matches!(cache.look_up("a"), CacheOutcome::Fresh(2)));
    cache.forget(&"a");
    assert!(matches!(cache.look_up("a"), CacheOutcome::Build(..)));
}

#[tokio::test]
async fn a_cache_that_is_off_builds_for_each_caller() {
    let cache = cache(CacheConfig {
        off: true,
        ..config()
    });
    for number in 0..3 {
        let built = cache.get_or_build("a", None, move || async move { Built::Value(number) });
        assert_eq!(built.await, Ok(number));
    }
    assert_eq!(cache.settled_bytes(), 0);
}

#[tokio::test]
async fn answers_stay_within_their_bytes() {
    let cache: Arc<Cache<usize, usize, ()>> = Cache::new(
        CacheConfig {
            bytes_max: 10_000,
            ..config()
        },
        |_, _| 1000,
    );
    for key in 0..200 {
        let built = cache.get_or_build(key, None, move || async move { Built::Value(key) });
        assert_eq!(built.await, Ok(key));
    }
    let bytes = cache.settled_bytes();
    assert!((1..=10_000).contains(&bytes), "{bytes}");
}
