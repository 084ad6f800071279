//! Cache callers and builders simulated from a seed: failures, panics, late builds, callers that
//! leave, eviction, invalidation, and a clock that jumps.
//!
//! One thread, no clock. Callers look first without and later under the lock, with anything in
//! between. An independent account is compared after each step. `TRAWL_SEEDS` and `TRAWL_SEED` are
//! as in `frontend::simulation`.

use super::entry::{Brought, Entry, Freshness};
use super::outcome::CacheConfig;
use super::state::{Claims, Decision, Entries, HANDOVERS_MAX, Release};
use crate::random::Random;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

const SEEDS: u64 = 300;

const STEPS: usize = 600;
const KEYS: usize = 4;
const MS: Duration = Duration::from_millis(1);

const BOUNDS: CacheConfig = CacheConfig {
    life: Duration::from_millis(300),
    hard: Duration::from_millis(600),
    negative: Duration::from_millis(50),
    build_max: Duration::from_millis(100),
    waiters_max: 12,
    waiters_per_key_max: 6,
    builds_max: 3,
    ..CacheConfig::new("simulation")
};

type Answer = u64;

#[derive(Default)]
struct Kept(RefCell<HashMap<usize, Arc<Entry<Answer>>>>);

impl Entries<usize, Answer> for Kept {
    fn get(&self, key: &usize) -> Option<Arc<Entry<Answer>>> {
        self.0.borrow().get(key).cloned()
    }

    fn insert(&self, key: usize, entry: Entry<Answer>) {
        self.0.borrow_mut().insert(key, Arc::new(entry));
    }

    fn remove(&self, key: &usize) {
        self.0.borrow_mut().remove(key);
    }
}

fn built(value: Answer, is_negative: bool) -> Option<Brought<Answer>> {
    Some(Brought {
        value,
        is_negative,
        age: Duration::ZERO,
    })
}

struct Builder {
    key: usize,
    token: u64,
    version: u64,
    until: Duration,
}

struct World {
    random: Random,
    claims: Claims<usize, usize>,
    kept: Kept,
    now: Duration,
    seen_now: Duration,
    versions: [(u64, u64); KEYS],
    builders: Vec<Builder>,
    current: BTreeMap<usize, u64>,
    outdated: BTreeSet<usize>,
    looking: Vec<(usize, usize)>,
    /// Key and number of each waiter, and if it can build.
    waiting: BTreeMap<usize, (usize, u64, bool)>,
    callers: usize,
    seen: BTreeMap<&'static str, u64>,
}

impl World {
    fn new(seed: u64) -> World {
        World {
            random: Random::new(seed),
            claims: Claims::new(BOUNDS),
            kept: Kept::default(),
            now: Duration::ZERO,
            seen_now: Duration::ZERO,
            versions: [(0, 0); KEYS],
            builders: Vec::new(),
            current: BTreeMap::new(),
            outdated: BTreeSet::new(),
            looking: Vec::new(),
            waiting: BTreeMap::new(),
            callers: 0,
            seen: BTreeMap::new(),
        }
    }

    fn saw(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    fn time(&mut self) -> Duration {
        self.seen_now = self.seen_now.max(self.now);
        self.now
    }

    fn step(&mut self) {
        let key = self.random.below(KEYS);
        match self.random.below(24) {
            0..=5 => self.arrive(key),
            6..=10 => self.look_under_lock(),
            11..=14 => self.end_build(),
            15 => self.leave(),
            16..=17 => self.take_over(),
            18 => self.keep_alive(key),
            19 => self.change(key),
            20 => self.kept.remove(&key),
            _ => self.pass_time(),
        }
        self.check();
    }

    fn pass_time(&mut self) {
        let ms = match self.random.below(40) {
            0 => 2_000,
            1..=3 => 150,
            _ => 1 + self.random.below(20) as u32,
        };
        if self.random.one_in(30) {
            self.saw("clock_back");
            self.now = self.now.saturating_sub(ms * MS);
        } else {
            self.now += ms * MS;
        }
    }

    fn arrive(&mut self, key: usize) {
        self.callers += 1;
        let caller = self.callers;
        if let Some(entry) = self.kept.get(&key) {
            let freshness = entry.freshness(self.now);
            if matches!(freshness, Freshness::Fresh | Freshness::Negative) {
                return self.show(key, &entry);
            }
        }
        self.looking.push((caller, key));
    }

    fn show(&mut self, key: usize, entry: &Entry<Answer>) {
        entry.mark_used();
        assert!(entry.value >= self.versions[key].1, "shown out of date");
        let what = match entry.freshness(self.now) {
            Freshness::Fresh => "fresh",
            Freshness::Negative => "negative",
            Freshness::Stale => "stale",
            Freshness::Expired => panic!("an expired entry is shown"),
        };
        self.saw(what);
        assert!(
            self.now.saturating_sub(entry.built) <= BOUNDS.hard,
            "too old"
        );
    }

    fn look_under_lock(&mut self) {
        if self.looking.is_empty() {
            return;
        }
        let index = self.random.below(self.looking.len());
        let (caller, key) = self.looking.swap_remove(index);
        let now = self.time();
        let fresh = self.fresh(key);
        let had_builder = self.has_valid_builder(key);
        match self.claims.look_up(&key, &self.kept, now) {
            Decision::Show(entry) => {
                self.now = self.seen_now;
                self.show(key, &entry);
                self.saw("second_look_up");
            }
            Decision::ShowStale(entry, token) => {
                self.now = self.seen_now;
                self.show(key, &entry);
                if let Some(token) = token {
                    self.saw("refresh");
                    self.begin(key, token, had_builder);
                }
            }
            Decision::Build(token) => {
                assert!(!fresh, "claimed while a fresh answer was there");
                self.begin(key, token, had_builder);
                self.wait(caller, key, false);
            }
            Decision::Wait => {
                assert!(!fresh, "waits while a fresh answer was there");
                self.wait(caller, key, true);
            }
            Decision::Busy => {
                self.saw("busy");
                let of_key = self.waiting.values().filter(|it| it.0 == key).count();
                assert!(
                    self.waiting.len() == BOUNDS.waiters_max
                        || of_key == BOUNDS.waiters_per_key_max
                        || self.claims.flights() == BOUNDS.builds_max,
                    "turned away below the bounds"
                );
            }
        }
    }

    fn fresh(&self, key: usize) -> bool {
        let entry = self.kept.get(&key);
        entry.is_some_and(|entry| {
            let freshness = entry.freshness(self.seen_now);
            matches!(freshness, Freshness::Fresh | Freshness::Negative)
        })
    }

    fn has_valid_builder(&self, key: usize) -> bool {
        let current = self.current.get(&key);
        let mut builders = self.builders.iter();
        !self.outdated.contains(&key)
            && builders.any(|it| Some(&it.token) == current && self.seen_now < it.until)
    }

    fn begin(&mut self, key: usize, token: u64, had_builder: bool) {
        assert!(!had_builder, "two current builders of one key");
        let last = self.current.insert(key, token);
        assert!(last < Some(token), "tokens do not grow");
        self.outdated.remove(&key);
        self.builders.push(Builder {
            key,
            token,
            version: self.versions[key].0,
            until: self.seen_now + BOUNDS.build_max,
        });
        self.saw("build");
    }

    fn wait(&mut self, caller: usize, key: usize, can_build: bool) {
        let joined = self.claims.join(&key, caller, can_build);
        let (number, _) = joined.expect("a build is running");
        let before = self.waiting.insert(caller, (key, number, can_build));
        assert!(before.is_none());
        self.saw("wait");
    }

    fn told(&mut self, key: usize, callers: Vec<usize>) {
        for caller in callers {
            let (of, ..) = self.waiting.remove(&caller).expect("told once");
            assert_eq!(of, key);
        }
        let forgotten = self.waiting.values().filter(|it| it.0 == key).count();
        assert_eq!(forgotten, 0, "waiters were forgotten");
    }

    fn end_build(&mut self) {
        if self.builders.is_empty() {
            return;
        }
        let index = self.random.below(self.builders.len());
        if self.random.one_in(3) {
            return;
        }
        let builder = self.builders.swap_remove(index);
        if self.random.one_in(4) {
            self.lose(&builder);
        } else {
            self.put(&builder);
        }
    }

    fn put(&mut self, builder: &Builder) {
        let brought = match self.random.below(5) {
            0 => None,
            part => built(builder.version, part == 1),
        };
        let is_failure = brought.is_none();
        let Builder { key, token, .. } = *builder;
        let is_current = self.current.get(&key) == Some(&token);
        let before = self.kept.get(&key).map(|entry| entry.token);
        let (now, random) = (self.time(), self.random.below(1 << 32) as u32);
        let ended = self
            .claims
            .finish(&key, token, brought, &self.kept, now, random);
        let after = self.kept.get(&key).map(|entry| entry.token);
        assert_eq!(ended.is_some(), is_current, "only the current claim puts");
        if !is_current || is_failure || self.outdated.contains(&key) {
            assert_eq!(after, before, "kept what must not be kept");
        } else {
            assert_eq!(after, Some(token), "not kept");
        }
        self.saw(if is_current { "put" } else { "fenced" });
        if let Some(callers) = ended {
            self.current.remove(&key);
            self.outdated.remove(&key);
            self.told(key, callers);
        }
    }

    fn lose(&mut self, builder: &Builder) {
        let Builder { key, token, .. } = *builder;
        let is_current = self.current.get(&key) == Some(&token);
        let before = self.kept.get(&key).map(|entry| entry.token);
        let (now, random) = (self.time(), self.random.below(1 << 32) as u32);
        match self.claims.release(&key, token, &self.kept, now, random) {
            Release::Refused => assert!(!is_current),
            Release::HandedOver(caller, token) => {
                assert!(is_current);
                self.saw("handed_over");
                let (_, _, can_build) = self.waiting.remove(&caller).expect("it waited");
                assert!(can_build);
                let has_left = self.random.one_in(4);
                self.begin(key, token, false);
                if has_left {
                    let builder = self.builders.pop().expect("it has begun");
                    return self.lose(&builder);
                }
                self.wait(caller, key, false);
            }
            Release::Lost(callers) => {
                assert!(is_current);
                self.saw("lost");
                self.current.remove(&key);
                self.outdated.remove(&key);
                self.told(key, callers);
            }
        }
        let after = self.kept.get(&key).map(|entry| entry.token);
        assert_eq!(after, before, "a lost build was kept");
    }

    fn leave(&mut self) {
        let Some((&caller, &(key, number, _))) = self.waiting.first_key_value() else {
            return;
        };
        self.waiting.remove(&caller);
        self.claims.leave(&key, number);
        self.saw("left");
    }

    fn take_over(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let index = self.random.below(self.waiting.len());
        let (&caller, &(key, number, _)) = self.waiting.iter().nth(index).expect("it is there");
        let now = self.time();
        let had_builder = self.has_valid_builder(key);
        let taken = self.claims.take_over(&key, number, now);
        if let Ok(token) = taken.expect("it waits") {
            self.saw("taken_over");
            self.begin(key, token, had_builder);
            let waiting = self.waiting.get_mut(&caller).expect("it waits");
            assert!(std::mem::replace(&mut waiting.2, false));
        }
    }

    fn keep_alive(&mut self, key: usize) {
        let Some(entry) = self.kept.get(&key) else {
            return;
        };
        let now = self.time();
        let had_builder = self.has_valid_builder(key);
        let claimed = self.claims.keep_alive(&key, entry.token, &self.kept, now);
        match claimed {
            Some(token) => {
                self.saw("kept_alive");
                self.begin(key, token, had_builder);
            }
            None if !entry.is_used() => {
                self.saw("unused");
                assert!(self.kept.get(&key).is_none(), "kept without being used");
            }
            None => {}
        }
    }

    fn change(&mut self, key: usize) {
        let (version, valid_from) = &mut self.versions[key];
        *version += 1;
        *valid_from = *version;
        let answer = *version;
        if self.random.one_in(2) {
            self.saw("invalidated");
            self.claims.invalidate(&key, &self.kept);
            if self.current.contains_key(&key) {
                self.outdated.insert(key);
            }
            return;
        }
        self.saw("replaced");
        let (now, random) = (self.time(), self.random.below(1 << 32) as u32);
        let brought = built(answer, false);
        let callers = self.claims.replace(&key, brought, &self.kept, now, random);
        self.current.remove(&key);
        self.outdated.remove(&key);
        self.told(key, callers);
    }

    fn check(&self) {
        assert_eq!(self.claims.waiting(), self.waiting.len());
        assert!(self.waiting.len() <= BOUNDS.waiters_max);
        assert_eq!(self.claims.flights(), self.current.len());
        assert!(self.current.len() <= BOUNDS.builds_max);
        for key in 0..KEYS {
            let of_key = self.waiting.values().filter(|it| it.0 == key).count();
            assert!(of_key <= BOUNDS.waiters_per_key_max);
            let current = self.current.get(&key);
            assert!(
                of_key == 0 || current.is_some(),
                "no build is running for the waiters"
            );
            let mut builders = self.builders.iter();
            assert!(current.is_none() || builders.any(|it| Some(&it.token) == current));
        }
        for builder in &self.builders {
            let is_current = self.current.get(&builder.key) == Some(&builder.token);
            assert_eq!(
                self.claims.is_current(&builder.key, builder.token),
                is_current
            );
        }
    }

    fn settle(&mut self) {
        while !self.looking.is_empty() {
            self.look_under_lock();
        }
        while !self.builders.is_empty() {
            self.end_build();
            self.check();
        }
        assert_eq!(self.waiting.len(), 0, "a waiter waits forever");
        assert_eq!((self.claims.flights(), self.claims.waiting()), (0, 0));
    }
}

fn play(seed: u64) -> BTreeMap<&'static str, u64> {
    let mut world = World::new(seed);
    (0..STEPS).for_each(|_| world.step());
    world.settle();
    world.seen
}

/// Events that every test run sees.
const SEEN: [&str; 19] = [
    "build",
    "busy",
    "clock_back",
    "fenced",
    "fresh",
    "handed_over",
    "invalidated",
    "kept_alive",
    "left",
    "lost",
    "negative",
    "put",
    "refresh",
    "replaced",
    "second_look_up",
    "stale",
    "taken_over",
    "unused",
    "wait",
];

#[test]
fn every_schedule_has_one_builder_a_key_and_forgets_no_waiter() {
    let variable = |name: &str| -> Option<u64> { std::env::var(name).ok()?.parse().ok() };
    let first = variable("TRAWL_SEED").unwrap_or(0);
    let seeds = variable("TRAWL_SEEDS").unwrap_or(SEEDS);
    let mut seen = BTreeMap::<&str, u64>::new();
    for seed in first..first + seeds {
        let played = catch_unwind(AssertUnwindSafe(|| play(seed))).unwrap_or_else(|panic| {
            eprintln!("seed {seed} of the cache failed");
            resume_unwind(panic)
        });
        for (what, count) in played {
            *seen.entry(what).or_default() += count;
        }
    }
    println!("{seeds} seeds of the cache from {first} on, seen: {seen:?}");
    if seeds >= SEEDS {
        for what in SEEN {
            assert!(seen.contains_key(what), "{what}");
        }
    }
}

#[test]
fn a_build_that_is_lost_again_and_again_fails_those_who_wait() {
    let mut claims = Claims::new(BOUNDS);
    let kept = Kept::default();
    let look = |claims: &mut Claims<usize, usize>| claims.look_up(&0, &kept, MS);
    let Decision::Build(mut token) = look(&mut claims) else {
        panic!("no build is running");
    };
    for waiter in 0..6 {
        claims.join(&0, waiter, true);
    }
    for handover in 0..HANDOVERS_MAX {
        let released = claims.release(&0, token, &kept, MS, 0);
        let Release::HandedOver(waiter, next) = released else {
            panic!("{released:?}");
        };
        assert_eq!(waiter, handover as usize, "in the order of arrival");
        token = next;
    }
    let lost = claims.release(&0, token, &kept, MS, 0);
    assert_eq!(lost, Release::Lost(vec![3, 4, 5]));
    assert!(matches!(look(&mut claims), Decision::Build(_)));
}
