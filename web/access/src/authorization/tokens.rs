//! Signed tokens (JWT) with a claim that lists globs of visible names.
//!
//! The public keys come from a file, which is reread when it changes, or from an address. That is
//! fetched every minute, and for unknown keys at most that often.
//!
//! **Invariant:** a token that is not signed by a current key is refused.

use super::client::{HttpClient, get};
use super::credentials::{RETRY_AFTER_S, Refusal};
use super::key_set::{KeySet, SET_BYTES_MAX, install};
use super::options::{BadAuthorization, KeyPlace, TokenRules};
use super::visible::{Last, NameGlobs, NameSplit};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use frontend::Scope;
use http::Uri;
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{Validation, decode};
use moka::sync::Cache;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, UNIX_EPOCH};
use tokio::time::Instant;
use watched_file::WatchedFile;

/// Longer ones do not fit in the headers of most servers.
const TOKEN_BYTES_MAX: usize = 16 << 10;

/// Interval of fetches of a key address, also for unknown keys.
const FETCH_EVERY: Duration = Duration::from_secs(60);

/// Interval of fetches until the first success.
const FIRST_FETCH_EVERY: Duration = Duration::from_secs(2);

const FETCH_MAX: Duration = Duration::from_secs(4);

/// Tolerated clock difference to the signer.
const LEEWAY_S: u64 = 60;

/// Cached, so that a signature is checked once.
const VERIFIED_MAX: u64 = 10_000;

fn refused(reason: impl Into<String>) -> Refusal {
    Refusal::BadToken(reason.into())
}

pub(super) struct Verified {
    globs: NameGlobs,
    /// Seconds since 1970.
    expires: u64,
    /// Keys that verified it.
    epoch: u64,
    scope: Last<Scope>,
}

impl Verified {
    fn has_expired(&self) -> bool {
        let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
        now > self.expires.saturating_add(LEEWAY_S)
    }

    pub(super) fn sees(&self, name: &[u8]) -> bool {
        self.globs.matches(name)
    }

    pub(super) fn scope(&self, split: &NameSplit) -> Scope {
        split.scope(&self.scope, |_, name| self.globs.matches(name))
    }
}

pub(super) struct Tokens {
    source: KeySource,
    client: HttpClient,
    rules: TokenRules,
    keys: Arc<Mutex<Keys>>,
    /// Last fetch, successful or not. The lock makes fetches single flight.
    fetched: tokio::sync::Mutex<Option<Instant>>,
    verified: Cache<[u8; 32], Arc<Verified>>,
}

/// Replaces [`Keys`].
enum KeySource {
    File(WatchedFile<()>),
    Address(Uri),
}

#[derive(Default)]
struct Keys {
    set: Option<KeySet>,
    /// Changes with the keys.
    epoch: u64,
    bytes: Vec<u8>,
}

#[derive(Deserialize)]
struct TokenHead {
    alg: String,
    kid: Option<String>,
}

impl Tokens {
    pub(super) fn new(
        place: KeyPlace,
        rules: TokenRules,
        client: HttpClient,
    ) -> Result<Tokens, BadAuthorization> {
        install();
        let keys = Arc::<Mutex<Keys>>::default();
        let source = match place {
            KeyPlace::Address(url) => KeySource::Address(url),
            KeyPlace::File(path) => {
                let keys = Arc::clone(&keys);
                let read = move |path: &Path| {
                    let bytes = read_file(path).map_err(|error| error.to_string());
                    let read = bytes.and_then(|bytes| replace(&keys, &bytes));
                    let path = path.display();
                    read.map_err(|reason| BadAuthorization(format!("--auth-jwks {path}: {reason}")))
                };
                KeySource::File(WatchedFile::open(&path, "public keys", read)?)
            }
        };
        Ok(Tokens {
            source,
            client,
            rules,
            keys,
            fetched: tokio::sync::Mutex::default(),
            verified: Cache::new(VERIFIED_MAX),
        })
    }

    /// Fetches the keys again while `tokens` is alive. Needs a tokio runtime.
    pub(super) fn follow(tokens: Weak<Tokens>) {
        tokio::spawn(async move {
            while let Some(tokens) = tokens.upgrade() {
                let KeySource::Address(url) = &tokens.source else {
                    return;
                };
                tokens.fetch(url, &mut *tokens.fetched.lock().await).await;
                let wait = if lock(&tokens.keys).set.is_some() {
                    FETCH_EVERY
                } else {
                    FIRST_FETCH_EVERY
                };
                drop(tokens);
                tokio::time::sleep(wait).await;
            }
        });
    }

    pub(super) async fn verify(&self, token: &[u8]) -> Result<Arc<Verified>, Refusal> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(refused(format!(
                "the token has more than {TOKEN_BYTES_MAX} bytes"
            )));
        }
        let hash = *blake3::hash(token).as_bytes();
        let epoch = lock(&self.keys).epoch;
        let known = self.verified.get(&hash);
        match known.filter(|known| known.epoch == epoch) {
            Some(known) if known.has_expired() => return Err(refused("the token has expired")),
            Some(known) => return Ok(known),
            None => {}
        }
        let verified = match self.verify_now(token) {
            Err(None) => {
                self.refresh().await;
                self.verify_now(token)
            }
            verified => verified,
        };
        let verified = verified.map_err(|fault| {
            fault.unwrap_or_else(|| {
                let has_keys = lock(&self.keys).set.is_some();
                if has_keys {
                    return refused("the token is signed by an unknown key");
                }
                let reason = "the public keys are not there yet";
                tracing::warn!(reason, "a token cannot be checked");
                let retry_after_s = RETRY_AFTER_S;
                Refusal::Unknown { retry_after_s }
            })
        })?;
        let verified = Arc::new(verified);
        self.verified.insert(hash, Arc::clone(&verified));
        Ok(verified)
    }

    /// Checks a token with the current keys. The error is `None` for an unknown key.
    fn verify_now(&self, token: &[u8]) -> Result<Verified, Option<Refusal>> {
        let head = head(token).map_err(Some)?;
        if head.alg.eq_ignore_ascii_case("none") {
            return Err(Some(refused("the token is not signed (alg: none)")));
        }
        let (key, epoch) = {
            let keys = lock(&self.keys);
            let key = keys
                .set
                .as_ref()
                .and_then(|set| set.find(head.kid.as_deref()));
            (key.ok_or(None)?.clone(), keys.epoch)
        };
        if head.alg != format!("{:?}", key.algorithm) {
            let detail = format!(
                "the key of the token is for {:?}, not for its algorithm",
                key.algorithm
            );
            return Err(Some(refused(detail)));
        }
        let mut validation = Validation::new(key.algorithm);
        validation.leeway = LEEWAY_S;
        validation.validate_nbf = true;
        let mut required = vec!["exp"];
        validation.validate_aud = self.rules.audience.is_some();
        if let Some(audience) = &self.rules.audience {
            validation.set_audience(&[audience]);
            required.push("aud");
        }
        if let Some(issuer) = &self.rules.issuer {
            validation.set_issuer(&[issuer]);
            required.push("iss");
        }
        validation.set_required_spec_claims(&required);
        let claims = decode::<Map<String, Value>>(token, &key.key, &validation);
        let claims = claims.map_err(|error| Some(fault(&error)))?.claims;
        self.verified(&claims, epoch)
            .map_err(|reason| Some(refused(reason)))
    }

    fn verified(&self, claims: &Map<String, Value>, epoch: u64) -> Result<Verified, String> {
        let claim = &self.rules.claim;
        let listed = claims.get(claim);
        let listed = listed.ok_or_else(|| format!("the token has no claim {claim}"))?;
        let globs: Option<Vec<&str>> = listed
            .as_array()
            .and_then(|globs| globs.iter().map(Value::as_str).collect());
        let globs = globs.ok_or_else(|| format!("the claim {claim} is not a list of globs"))?;
        let globs =
            NameGlobs::new(&globs).map_err(|reason| format!("the claim {claim}: {reason}"))?;
        let expires = claims.get("exp").and_then(Value::as_f64);
        Ok(Verified {
            globs,
            expires: expires.unwrap_or_default() as u64,
            epoch,
            scope: Last::default(),
        })
    }

    /// Reloads the keys for a token with an unknown key.
    async fn refresh(&self) {
        match &self.source {
            KeySource::File(file) => file.read_if_changed(),
            KeySource::Address(url) => {
                let mut fetched = self.fetched.lock().await;
                if fetched.is_none_or(|at| at.elapsed() >= FETCH_EVERY) {
                    self.fetch(url, &mut fetched).await;
                }
            }
        }
    }

    async fn fetch(&self, url: &Uri, fetched: &mut Option<Instant>) {
        let bounds = (FETCH_MAX, SET_BYTES_MAX);
        let body = match self.client.fetch(get(url.clone()), bounds).await {
            Ok(answer) if answer.status().is_success() => Ok(answer.into_body()),
            Ok(answer) => Err(format!("status {}", answer.status())),
            Err(reason) => Err(reason),
        };
        *fetched = Some(Instant::now());
        if let Err(reason) = body.and_then(|body| replace(&self.keys, &body)) {
            tracing::error!(%url, reason, "cannot fetch the public keys; the earlier ones stay");
        }
    }
}

fn lock(keys: &Mutex<Keys>) -> MutexGuard<'_, Keys> {
    keys.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads at most one byte more than a key set may have.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path)?;
    file.take(SET_BYTES_MAX as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn replace(keys: &Mutex<Keys>, bytes: &[u8]) -> Result<(), String> {
    if lock(keys).bytes == bytes {
        return Ok(());
    }
    let set = KeySet::parse(bytes)?;
    tracing::info!(keys = set.len(), "read public keys");
    let mut keys = lock(keys);
    keys.set = Some(set);
    keys.epoch += 1;
    keys.bytes = bytes.to_vec();
    Ok(())
}

fn head(token: &[u8]) -> Result<TokenHead, Refusal> {
    let not_a_token = || refused("this is not a signed token (JWT)");
    let mut parts = token.split(|&byte| byte == b'.');
    let head = parts.next().unwrap_or_default();
    if parts.count() != 2 {
        return Err(not_a_token());
    }
    let head = BASE64.decode(head).map_err(|_| not_a_token())?;
    serde_json::from_slice(&head).map_err(|_| not_a_token())
}

fn fault(error: &Error) -> Refusal {
    refused(match error.kind() {
        ErrorKind::ExpiredSignature => "the token has expired".to_owned(),
        ErrorKind::ImmatureSignature => "the token is not valid yet".to_owned(),
        ErrorKind::InvalidSignature => "the signature of the token is wrong".to_owned(),
        ErrorKind::InvalidAudience => "the token is for another audience (aud)".to_owned(),
        ErrorKind::InvalidIssuer => "the token is of another issuer (iss)".to_owned(),
        ErrorKind::MissingRequiredClaim(claim) => format!("the token has no claim {claim}"),
        _ => "the token is malformed".to_owned(),
    })
}

#[cfg(test)]
mod tests;
