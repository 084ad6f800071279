//! The cache's lock under every thread order, by loom.
//!
//! `shared` is compiled again with loom's mutex. Entries (moka) and channels (tokio) change in one
//! step; everything around the lock is interleaved, with at most [`PREEMPTIONS_MAX`] preemptions.

use crate::{entry, outcome, state, store};
use loom::thread::Builder;
use outcome::{Built, CacheConfig, CacheError};
use shared::{Cache, CacheOutcome, Claim, Turn, Waiting};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

const PREEMPTIONS_MAX: usize = 3;

/// Stack bytes: an insertion into moka needs more than loom's default.
const STACK_BYTES: usize = 256 << 10;

const KEY: u8 = 7;

#[path = "../shared.rs"]
#[allow(clippy::duplicate_mod, dead_code, unreachable_pub)]
mod shared;

mod sync {
    pub(super) use loom::sync::Mutex;
    use loom::sync::MutexGuard;
    use std::sync::PoisonError;

    pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct World {
    cache: Arc<Cache<u8, u32, ()>>,
    source: AtomicU32,
    builders: AtomicUsize,
    is_alone: bool,
}

type Outcome = Result<u32, Waiting<u8, u32, ()>>;

#[derive(Clone, Copy)]
enum Builds {
    Puts,
    Cancels,
}

impl World {
    /// `is_alone`: nothing is invalidated, so there is at most one builder.
    fn new(is_alone: bool) -> Arc<World> {
        Arc::new(World {
            cache: Cache::new(CacheConfig::new("test"), |_, _| 1),
            source: AtomicU32::new(0),
            builders: AtomicUsize::new(0),
            is_alone,
        })
    }

    fn call(&self, builds: Builds) -> Outcome {
        match self.cache.look_up(KEY) {
            CacheOutcome::Fresh(value) => Ok(value),
            CacheOutcome::Wait(waiting) => Err(waiting),
            CacheOutcome::Build(claim, waiting) => {
                self.build(claim, builds);
                Err(waiting)
            }
            _ => panic!("nothing is stale, negative or busy"),
        }
    }

    fn build(&self, claim: Claim<u8, u32, ()>, builds: Builds) {
        let others = self.builders.fetch_add(1, SeqCst);
        assert!(others == 0 || !self.is_alone, "two builders at once");
        let value = self.source.load(SeqCst);
        self.builders.fetch_sub(1, SeqCst);
        match builds {
            Builds::Puts => drop(claim.put(Built::Value(value))),
            Builds::Cancels => drop(claim),
        }
    }

    fn told<const N: usize>(&self, callers: [Outcome; N]) -> [Result<u32, CacheError<()>>; N] {
        let mut callers = callers.map(Some);
        let mut told = [const { None }; N];
        while told.iter().any(Option::is_none) {
            let before = told.iter().flatten().count();
            let mut is_built = false;
            for (caller, told) in callers.iter_mut().zip(&mut told) {
                let mut waiting = match caller.take() {
                    None => continue,
                    Some(Ok(value)) => {
                        *told = Some(Ok(value));
                        continue;
                    }
                    Some(Err(waiting)) => waiting,
                };
                match waiting.told() {
                    Some(Turn::Answer(answer)) => *told = Some(answer),
                    Some(Turn::Build(claim)) => {
                        *caller = Some(Err(claim.wait().expect("the claim is current")));
                        self.build(claim, Builds::Puts);
                        is_built = true;
                    }
                    None => *caller = Some(Err(waiting)),
                }
            }
            let is_progress = is_built || told.iter().flatten().count() > before;
            assert!(is_progress, "a waiter is never woken");
        }
        told.map(|told| told.expect("all are told"))
    }

    fn end(&self) {
        assert_eq!((self.cache.waiting(), self.cache.flights()), (0, 0));
    }
}

fn model(test: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS_MAX);
    builder.check(test);
}

fn thread<T: Send + 'static>(
    world: &Arc<World>,
    part: impl FnOnce(&World) -> T + Send + 'static,
) -> loom::thread::JoinHandle<T> {
    let world = Arc::clone(world);
    let builder = Builder::new().stack_size(STACK_BYTES);
    builder
        .spawn(move || part(&world))
        .expect("loom has threads")
}

#[test]
fn callers_at_once_share_one_answer_in_every_order() {
    model(|| {
        let world = World::new(true);
        let others = [0, 1].map(|_| thread(&world, |world| world.call(Builds::Puts)));
        let callers = others.map(|other| other.join().unwrap());
        assert_eq!(world.told(callers), [Ok(0), Ok(0)]);
        world.end();
    });
}

#[test]
fn a_cancelled_build_goes_to_one_who_waits_in_every_order() {
    model(|| {
        let world = World::new(true);
        let others = [Builds::Cancels, Builds::Puts, Builds::Puts]
            .map(|builds| thread(&world, move |world| world.call(builds)));
        let callers = others.map(|other| other.join().unwrap());
        let told = world.told(callers);
        let mut lost = 0;
        for answer in told {
            match answer {
                Ok(value) => assert_eq!(value, 0),
                Err(error) => {
                    assert!(matches!(error, CacheError::Late { .. }), "{error:?}");
                    lost += 1;
                }
            }
        }
        assert!(
            lost <= 1,
            "only who cancelled may be left without an answer"
        );
        world.end();
    });
}

#[test]
fn a_claim_that_is_given_to_one_who_leaves_is_not_lost_in_any_order() {
    model(|| {
        let world = World::new(true);
        let cancels = thread(&world, |world| world.call(Builds::Cancels).is_ok());
        let leaves = thread(&world, |world| drop(world.call(Builds::Puts)));
        let stays = thread(&world, |world| world.call(Builds::Puts));
        cancels.join().unwrap();
        leaves.join().unwrap();
        let stays = stays.join().unwrap();
        assert_eq!(world.told([stays]), [Ok(0)]);
        world.end();
    });
}

#[test]
fn nothing_from_before_an_invalidation_is_shown_after_it_in_any_order() {
    model(|| {
        let world = World::new(false);
        let before = thread(&world, |world| world.call(Builds::Puts));
        let after = thread(&world, |world| {
            world.source.store(1, SeqCst);
            world.cache.invalidate(&KEY);
            world.call(Builds::Puts)
        });
        let (before, after) = (before.join().unwrap(), after.join().unwrap());
        let [_, after] = world.told([before, after]);
        assert_eq!(after, Ok(1));
        assert!(world.cache.peek(&KEY).is_none_or(|kept| kept == 1));
        world.end();
    });
}

#[test]
fn what_replaces_an_answer_is_not_overwritten_by_a_build_from_before_in_any_order() {
    model(|| {
        let world = World::new(false);
        let builds = thread(&world, |world| world.call(Builds::Puts));
        let replaces = thread(&world, |world| {
            world.source.store(1, SeqCst);
            world.cache.put(&KEY, Built::Value(1));
        });
        let builds = builds.join().unwrap();
        replaces.join().unwrap();
        let [answer] = world.told([builds]);
        assert!(answer.is_ok(), "{answer:?}");
        assert_eq!(world.cache.peek(&KEY), Some(1));
        world.end();
    });
}
