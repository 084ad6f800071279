//! Cache of the service's decisions, and their revocation.
//!
//! A question is about one name, or about all names, of a principal. Decisions in use are refreshed
//! in the background. While the service fails, they are kept for a while, then they are unknown.
//! Other frontends' decisions are used only if none is cached here.
//!
//! **Invariants:** unknown is never allowed; once a denial is known, no answer here allows the
//! name, whichever question brought the denial.

use super::credentials::{Credentials, Principal};
use super::service::Service;
use super::shared::{DecisionLives, SharedDecisions};
use super::visible::{Last, NameSplit};
use frontend::cache::{Built, Cache, CacheConfig, CacheError};
use frontend::{Hints, Scope};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::timeout;

/// Age limit of a decision while the service fails.
const HARD: Duration = Duration::from_secs(60);

const DENIED: Duration = Duration::from_secs(5);

/// Room for 5,000 principals that see a part of 100,000 packages, or half a million names.
const BYTES_MAX: u64 = 64 << 20;

/// Timeout of all requests of one question.
const BUILD_MAX: Duration = Duration::from_secs(9);

/// Wait for a scope, before the caller gets the public packages.
const SCOPE_WAIT: Duration = Duration::from_secs(1);

/// The same, while the service has not answered since a timeout.
const LATE_WAIT: Duration = Duration::from_millis(20);

const LOG_EVERY: Duration = Duration::from_secs(1);

const ENTRY_BYTES: usize = 128;

pub(super) type Unknown = CacheError<Arc<str>>;

#[derive(Clone, PartialEq, Eq, Hash)]
enum Question {
    Name(Principal, Box<[u8]>),
    /// Hash of all names.
    All(Principal, [u8; 16]),
}

#[derive(Clone)]
enum Decision {
    Name(bool),
    All(Arc<Allowed>),
}

struct Allowed {
    /// Same order as `NameSplit::private_names`.
    places: Vec<bool>,
    scope: Last<Scope>,
}

pub(super) struct Decisions {
    service: Service,
    cache: Arc<Cache<Question, Decision, Arc<str>>>,
    /// Latest names: those of the request that started a refresh may be out of date.
    split: Arc<Last<Arc<NameSplit>>>,
    shared: Option<SharedDecisions>,
    denials: watch::Sender<u64>,
    logged: Mutex<Option<Instant>>,
    /// Set by a timeout, cleared by an answer.
    is_late: AtomicBool,
}

impl Decisions {
    /// Keeps and shares decisions for `ttl`; zero: neither.
    pub(super) fn new(
        service: Service,
        ttl: Duration,
        hints: Option<Arc<Hints>>,
        split: Arc<Last<Arc<NameSplit>>>,
    ) -> Arc<Decisions> {
        let lives = DecisionLives {
            allowed: ttl,
            denied: DENIED.min(ttl),
        };
        let hints = hints.filter(|_| !ttl.is_zero());
        let shared = hints.map(|hints| SharedDecisions::new(hints, &service.identity(), lives));
        let config = CacheConfig {
            life: ttl,
            hard: HARD,
            negative: lives.denied,
            bytes_max: BYTES_MAX,
            build_max: BUILD_MAX,
            off: ttl.is_zero(),
            ..CacheConfig::new("authorization")
        };
        Arc::new(Decisions {
            service,
            cache: Cache::new(config, weigh),
            split,
            shared,
            denials: watch::channel(0).0,
            logged: Mutex::default(),
            is_late: AtomicBool::new(false),
        })
    }

    pub(super) fn is_batch(&self) -> bool {
        self.service.is_batch
    }

    /// Life of a decision. `None` without a cache.
    pub(super) fn kept(&self) -> Option<Duration> {
        let config = self.cache.config();
        (!config.off).then_some(config.life)
    }

    /// Changes with each revocation.
    pub(super) fn denials(&self) -> watch::Receiver<u64> {
        self.denials.subscribe()
    }

    /// Asks the service also about unknown names, and if all names are decided: timing must not
    /// reveal that a package exists.
    pub(super) async fn sees(
        self: &Arc<Self>,
        who: Principal,
        caller: &Credentials,
        name: &[u8],
    ) -> Result<bool, Unknown> {
        let (question, name) = (Question::Name(who, name.into()), Arc::<[u8]>::from(name));
        let (decisions, caller) = (Arc::downgrade(self), caller.clone());
        let build = move || {
            let (decisions, caller) = (decisions.clone(), caller.clone());
            let name = Arc::clone(&name);
            async move {
                match decisions.upgrade() {
                    Some(decisions) => decisions.ask_for(who, &caller, &name).await,
                    None => Built::Transient("the server ends".into()),
                }
            }
        };
        match self.cache.get_and_keep(question, None, build).await? {
            Decision::Name(is_visible) => Ok(is_visible),
            Decision::All(_) => Ok(false),
        }
    }

    /// Fails on a timeout; the request continues, and the next caller gets its answer.
    pub(super) async fn scope(
        self: &Arc<Self>,
        who: Principal,
        caller: &Credentials,
        split: &Arc<NameSplit>,
    ) -> Result<Scope, Unknown> {
        let question = Question::All(who, split.hash);
        let (decisions, caller, asked) = (Arc::downgrade(self), caller.clone(), Arc::clone(split));
        let build = move || {
            let (decisions, caller, split) =
                (decisions.clone(), caller.clone(), Arc::clone(&asked));
            async move {
                match decisions.upgrade() {
                    Some(decisions) => decisions.ask_for_all(who, &caller, &split).await,
                    None => Built::Transient("the server ends".into()),
                }
            }
        };
        // Requests continue only with a cache.
        let is_late = self.is_late.load(Relaxed) && !self.cache.config().off;
        let wait = if is_late { LATE_WAIT } else { SCOPE_WAIT };
        let asked = timeout(wait, self.cache.get_and_keep(question, None, build)).await;
        let answer = asked.unwrap_or_else(|_| {
            self.is_late.store(true, Relaxed);
            Err(CacheError::Late {
                retry_after: SCOPE_WAIT,
            })
        });
        match answer? {
            Decision::All(allowed) => {
                Ok(split.scope(&allowed.scope, |place, _| allowed.places[place]))
            }
            Decision::Name(_) => Ok(split.public_scope.clone()),
        }
    }

    async fn ask_for(
        &self,
        who: Principal,
        caller: &Credentials,
        name: &[u8],
    ) -> Built<Decision, Arc<str>> {
        let question = Question::Name(who, name.into());
        if let Some(shared) = self.shared_for(&question)
            && let Some((answer, age)) = shared.name(who, name).await
        {
            return Built::Hint {
                value: self.learn_name(who, name, answer),
                is_negative: !answer,
                age,
            };
        }
        let asked = Instant::now();
        let answer = self.service.sees(caller, name).await;
        self.note_answer(&answer);
        let is_visible = match answer {
            Ok(is_visible) => is_visible,
            Err(reason) => return self.unknown(&reason),
        };
        if let Some(shared) = &self.shared {
            shared.tell_name(who, name, is_visible, asked);
        }
        let decision = self.learn_name(who, name, is_visible);
        if is_visible {
            Built::Value(decision)
        } else {
            Built::Negative(decision)
        }
    }

    /// Other frontends' decisions, if this question has none here.
    fn shared_for(&self, question: &Question) -> Option<&SharedDecisions> {
        let shared = self.shared.as_ref()?;
        self.cache.peek(question).is_none().then_some(shared)
    }

    fn learn_name(&self, who: Principal, name: &[u8], is_visible: bool) -> Decision {
        if !is_visible {
            let known = self.cache.peek(&Question::Name(who, name.into()));
            let mut was_allowed = matches!(known, Some(Decision::Name(true)));
            if let Some(split) = self.split.get() {
                was_allowed |= self.forget_all_with(who, name, &split);
            }
            self.note_denials(usize::from(was_allowed));
        }
        Decision::Name(is_visible)
    }

    /// Evicts the decision about all names if it allows this one.
    fn forget_all_with(&self, who: Principal, name: &[u8], split: &NameSplit) -> bool {
        let question = Question::All(who, split.hash);
        let Some(Decision::All(allowed)) = self.cache.peek(&question) else {
            // An answer from before the denial is not cached.
            self.cache.invalidate(&question);
            return false;
        };
        let place = split.private_position(name);
        let was_allowed = place.is_some_and(|place| allowed.places[place]);
        if was_allowed {
            self.cache.invalidate(&question);
        }
        was_allowed
    }

    async fn ask_for_all(
        &self,
        who: Principal,
        caller: &Credentials,
        split: &NameSplit,
    ) -> Built<Decision, Arc<str>> {
        if let Some(shared) = self.shared_for(&Question::All(who, split.hash))
            && let Some((answer, age)) = shared.all(who, split).await
        {
            let (value, _) = self.learn_all(who, answer, split);
            return Built::Hint {
                value,
                is_negative: false,
                age,
            };
        }
        let asked = Instant::now();
        let names = split.private_names();
        let answer = self.service.visible(caller, &names).await;
        self.note_answer(&answer);
        let places = match answer {
            Ok(places) => places,
            Err(reason) => return self.unknown(&reason),
        };
        if let Some(shared) = &self.shared {
            shared.tell_all(who, split, &places, asked);
        }
        let (decision, denials) = self.learn_all(who, places, split);
        if let Some(shared) = self.shared.as_ref().filter(|_| denials > 0) {
            shared.revoke(who);
        }
        Built::Value(decision)
    }

    /// Applies a decision about all names. Returns it, and the number of revoked names.
    fn learn_all(&self, who: Principal, places: Vec<bool>, split: &NameSplit) -> (Decision, usize) {
        let all = Question::All(who, split.hash);
        let known = self.cache.peek(&all);
        let is_denied = |(was_allowed, is_allowed): (&bool, &bool)| *was_allowed && !is_allowed;
        if let Some(Decision::All(known)) = &known
            && known.places.iter().zip(&places).any(is_denied)
        {
            // First, since a search after a denial waits for this decision.
            self.cache.forget(&all);
        }
        let mut denials = 0;
        let names = split.private_names().into_iter().enumerate();
        for (place, name) in names.filter(|(place, _)| !places[*place]) {
            let mut was_allowed =
                matches!(&known, Some(Decision::All(allowed)) if allowed.places[place]);
            let question = Question::Name(who, name.into());
            if let Some(Decision::Name(true)) = self.cache.peek(&question) {
                self.cache
                    .put(&question, Built::Negative(Decision::Name(false)));
                was_allowed = true;
            }
            denials += usize::from(was_allowed);
        }
        self.note_denials(denials);
        let scope = Last::default();
        let decision = Decision::All(Arc::new(Allowed { places, scope }));
        (decision, denials)
    }

    fn note_answer<T>(&self, answer: &Result<T, String>) {
        if answer.is_ok() {
            self.is_late.store(false, Relaxed);
        }
    }

    /// Counts a failure of the service, and logs some of them.
    fn unknown(&self, reason: &str) -> Built<Decision, Arc<str>> {
        metrics::counter!("trawl_frontend_authorization_failures_total").increment(1);
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.is_none_or(|at| at.elapsed() >= LOG_EVERY) {
            *logged = Some(Instant::now());
            tracing::warn!(reason, "the authorization service did not decide");
        }
        Built::Transient(reason.into())
    }

    /// Makes open streams recheck their scope.
    fn note_denials(&self, count: usize) {
        if count > 0 {
            metrics::counter!("trawl_frontend_authorization_denials_total").increment(count as u64);
            self.denials.send_modify(|denials| *denials += 1);
        }
    }
}

fn weigh(question: &Question, decision: &Decision) -> usize {
    let name = match question {
        Question::Name(_, name) => name.len(),
        Question::All(..) => 0,
    };
    let places = match decision {
        Decision::Name(_) => 0,
        Decision::All(allowed) => 2 * allowed.places.len(),
    };
    ENTRY_BYTES + name + places
}
