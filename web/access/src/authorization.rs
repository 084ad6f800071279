//! Authorization of callers to see packages, by a service of the operator or by signed tokens.
//!
//! Listed names are public. For others the [`service`] is asked with the caller's credentials and
//! [`decisions`] caches the answers, or a token ([`tokens`]) lists the visible names.
//!
//! **Invariants:** everything is denied by default; public names never wait for the service, and a
//! request for all of them waits at most a second.

mod client;
mod credentials;
mod decisions;
mod key_set;
mod options;
mod service;
mod shared;
mod tokens;
mod visible;

pub use credentials::Refusal;
pub use options::{AuthorizationOptions, BadAuthorization};

use client::HttpClient;
use credentials::{Credentials, Principal, RETRY_AFTER_S};
use decisions::{Decisions, Unknown};
use frontend::cache::CacheError;
use frontend::{Hints, PackageNames, Scope};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use options::DeciderSettings;
use service::{SINGLE_NAMES_MAX, Service};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tls::ClientConfig;
use tokens::{Tokens, Verified};
use tokio::sync::watch;
use visible::{Last, NameGlobs, NameSplit};

pub fn describe() {
    let failures = "Times that the authorization service decided nothing";
    metrics::describe_counter!("trawl_frontend_authorization_failures_total", failures);
    let denials = "Decisions that took something away that was visible";
    metrics::describe_counter!("trawl_frontend_authorization_denials_total", denials);
}

/// Decides which packages callers may see.
pub struct Authorization {
    public: NameGlobs,
    identifying: Vec<HeaderName>,
    principal_key: [u8; 32],
    decider: Decider,
    /// Split once for all callers.
    split: Arc<Last<Arc<NameSplit>>>,
    /// Never changes: tokens have no cached decisions.
    no_denials: watch::Sender<u64>,
}

enum Decider {
    Service(Arc<Decisions>),
    Tokens(Arc<Tokens>),
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorization").finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
pub struct Caller {
    credentials: Credentials,
    principal: Principal,
    token: Option<Arc<[u8]>>,
}

impl Authorization {
    /// Checks the settings, and reads the token keys of a file. `tls` has the trusted certificates.
    /// If `hints` have a secret, decisions are shared. Returns `None` without authorization.
    pub fn new(
        options: &AuthorizationOptions,
        tls: ClientConfig,
        hints: Option<&Arc<Hints>>,
    ) -> Result<Option<Authorization>, BadAuthorization> {
        let Some((decider, public)) = options.checked()? else {
            return Ok(None);
        };
        let client = HttpClient::new(tls);
        let shared = hints.and_then(|hints| Some((Arc::clone(hints), hints.hash_key()?)));
        let (hints, hash_key) = shared.unzip();
        let split = Arc::default();
        let (identifying, decider) = match decider {
            DeciderSettings::Service { url, headers } => {
                let service = Service::new(client, url, options.batch);
                let decisions = Decisions::new(service, options.ttl, hints, Arc::clone(&split));
                (headers, Decider::Service(decisions))
            }
            DeciderSettings::Tokens { keys, rules } => {
                let tokens = Arc::new(Tokens::new(keys, rules, client)?);
                (vec![header::AUTHORIZATION], Decider::Tokens(tokens))
            }
        };
        let principal_key = match hash_key {
            Some(key) => key,
            None => random_key()?,
        };
        Ok(Some(Authorization {
            public,
            identifying,
            principal_key,
            decider,
            split,
            no_denials: watch::channel(0).0,
        }))
    }

    /// Checks that the service can decide about all private packages.
    pub fn check_names(&self, names: &PackageNames) -> Result<(), BadAuthorization> {
        let private = names
            .iter()
            .filter(|name| !self.public.matches(name))
            .count();
        let is_single =
            matches!(&self.decider, Decider::Service(decisions) if !decisions.is_batch());
        if private <= SINGLE_NAMES_MAX || !is_single {
            return Ok(());
        }
        Err(BadAuthorization(format!(
            "{private} packages are not public, and --auth-url decides about at most {SINGLE_NAMES_MAX} one by one; \
             add --auth-batch if the service can decide about many at once, or list public ones with --public"
        )))
    }

    /// Fetches public keys again before they expire. Needs a tokio runtime.
    pub fn follow_keys(&self) {
        if let Decider::Tokens(tokens) = &self.decider {
            Tokens::follow(Arc::downgrade(tokens));
        }
    }

    pub fn varies_by(&self) -> HeaderValue {
        let names: Vec<&str> = self.identifying.iter().map(HeaderName::as_str).collect();
        HeaderValue::from_str(&names.join(", ")).expect("names of headers are ASCII")
    }

    /// Life of a cached decision. `None` without a cache.
    pub fn decisions_kept(&self) -> Option<Duration> {
        match &self.decider {
            Decider::Service(decisions) => decisions.kept(),
            Decider::Tokens(_) => None,
        }
    }

    /// Changes with each revocation.
    pub fn denials(&self) -> watch::Receiver<u64> {
        match &self.decider {
            Decider::Service(decisions) => decisions.denials(),
            Decider::Tokens(_) => self.no_denials.subscribe(),
        }
    }

    pub(crate) fn caller(&self, headers: &HeaderMap) -> Result<Caller, Refusal> {
        let credentials =
            Credentials::new(headers, &self.identifying).map_err(Refusal::BadHeader)?;
        let token = match &self.decider {
            Decider::Service(_) => None,
            Decider::Tokens(_) => bearer(headers)?,
        };
        Ok(Caller {
            principal: credentials.principal(&self.principal_key),
            credentials,
            token,
        })
    }

    /// Returns all packages that a caller may see. If the decision is late, returns the public
    /// ones, marked as undecided, unless there are none.
    pub(crate) async fn scope(
        &self,
        caller: &Caller,
        names: &Arc<PackageNames>,
    ) -> Result<Scope, Refusal> {
        let split = self.split(names);
        match &self.decider {
            Decider::Tokens(tokens) => match verified(tokens, caller).await? {
                Some(token) => Ok(token.scope(&split)),
                None => Ok(split.public_scope.clone()),
            },
            Decider::Service(decisions) => {
                if !decisions.is_batch() && split.private_len() > SINGLE_NAMES_MAX {
                    return Err(Refusal::TooManyNames);
                }
                let scope = decisions
                    .scope(caller.principal, &caller.credentials, &split)
                    .await;
                match scope {
                    Err(unknown) if split.public_scope.is_empty() => Err(refusal(&unknown)),
                    scope => Ok(scope.unwrap_or_else(|_| split.undecided_scope.clone())),
                }
            }
        }
    }

    pub(crate) async fn sees(&self, caller: &Caller, name: &[u8]) -> Result<bool, Refusal> {
        let is_public = self.public.matches(name);
        match &self.decider {
            Decider::Tokens(tokens) => {
                let token = verified(tokens, caller).await?;
                Ok(is_public || token.is_some_and(|token| token.sees(name)))
            }
            Decider::Service(_) if is_public => Ok(true),
            Decider::Service(decisions) => {
                let sees = decisions.sees(caller.principal, &caller.credentials, name);
                sees.await.map_err(|unknown| refusal(&unknown))
            }
        }
    }

    fn split(&self, names: &Arc<PackageNames>) -> Arc<NameSplit> {
        self.split.get_or_make(names, || {
            if let Err(error) = self.check_names(names) {
                tracing::error!(%error, "searches are refused");
            }
            Arc::new(NameSplit::new(Arc::clone(names), &self.public))
        })
    }
}

fn random_key() -> Result<[u8; 32], BadAuthorization> {
    let mut key = [0; 32];
    getrandom::fill(&mut key)
        .map_err(|error| BadAuthorization(format!("the system has no random numbers: {error}")))?;
    Ok(key)
}

async fn verified(tokens: &Tokens, caller: &Caller) -> Result<Option<Arc<Verified>>, Refusal> {
    match &caller.token {
        Some(token) => tokens.verify(token).await.map(Some),
        None => Ok(None),
    }
}

/// Key or token of a header `authorization`: `Bearer X`, or `token X` as GitHub's and Sourcegraph's
/// clients send it. Other schemes may be meant for a proxy.
pub fn credential(value: &HeaderValue) -> Option<&[u8]> {
    let value = value.as_bytes();
    let space = value.iter().position(|&byte| byte == b' ')?;
    let (scheme, credential) = value.split_at(space);
    let schemes: [&[u8]; 2] = [b"bearer", b"token"];
    let is_ours = schemes.iter().any(|ours| scheme.eq_ignore_ascii_case(ours));
    is_ours.then_some(credential.trim_ascii())
}

fn bearer(headers: &HeaderMap) -> Result<Option<Arc<[u8]>>, Refusal> {
    let token = |value| credential(value).map(Arc::from);
    let values = headers.get_all(header::AUTHORIZATION).iter();
    let mut tokens = values.filter_map(token);
    let token = tokens.next();
    if tokens.next().is_some() {
        return Err(Refusal::BadToken("more than one token was sent".to_owned()));
    }
    Ok(token)
}

/// The service's reasons are only logged.
fn refusal(unknown: &Unknown) -> Refusal {
    let retry_after_s = match unknown {
        CacheError::Failed(_) => RETRY_AFTER_S,
        CacheError::Busy { retry_after } | CacheError::Late { retry_after } => {
            retry_after.as_secs()
        }
    };
    Refusal::Unknown { retry_after_s }
}

#[cfg(test)]
mod tests;
