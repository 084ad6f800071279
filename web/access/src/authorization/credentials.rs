//! Credentials of a caller, its principal, and the reasons to refuse it.
//!
//! **Invariant:** credentials are never logged, and a principal does not reveal them: it is a hash
//! with a key of this process, or of the frontends that share decisions.

use http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;

pub(super) const RETRY_AFTER_S: u64 = 5;

/// Reason why the visible packages of a caller are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    BadHeader(HeaderName),
    /// The token is not accepted, for this reason.
    BadToken(String),
    /// A backend has not listed its packages yet.
    NamesUnknown {
        retry_after_s: u64,
    },
    /// The service does not answer, or public keys are missing.
    Unknown {
        retry_after_s: u64,
    },
    /// Too many for a service that decides names one by one.
    TooManyNames,
}

/// Hash of a caller's credentials: equal ones are one principal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Principal([u8; 16]);

#[derive(Clone, Default)]
pub(crate) struct Credentials(Vec<(HeaderName, HeaderValue)>);

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} credentials", self.0.len())
    }
}

impl Principal {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Credentials {
    /// The error names a header with a control character.
    pub(super) fn new(
        headers: &HeaderMap,
        names: &[HeaderName],
    ) -> Result<Credentials, HeaderName> {
        let mut taken = Vec::new();
        for name in names {
            for value in headers.get_all(name) {
                if value.as_bytes().iter().any(u8::is_ascii_control) {
                    return Err(name.clone());
                }
                let mut value = value.clone();
                value.set_sensitive(true);
                taken.push((name.clone(), value));
            }
        }
        Ok(Credentials(taken))
    }

    pub(super) fn principal(&self, key: &[u8; 32]) -> Principal {
        let mut hasher = blake3::Hasher::new_keyed(key);
        for (name, value) in &self.0 {
            for part in [name.as_str().as_bytes(), value.as_bytes()] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
        }
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        Principal(bytes)
    }

    pub(super) fn add_to(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.0 {
            headers.append(name.clone(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::{AUTHORIZATION, COOKIE};

    fn credentials(pairs: &[(HeaderName, &'static [u8])]) -> Result<Credentials, HeaderName> {
        let pairs = pairs.iter();
        let value = |value: &'static [u8]| HeaderValue::from_bytes(value).unwrap();
        let headers = pairs.map(|(name, bytes)| (name.clone(), value(bytes)));
        Credentials::new(&headers.collect(), &[AUTHORIZATION, COOKIE])
    }

    #[test]
    fn equal_credentials_are_one_principal_and_others_are_not() {
        let principal =
            |pairs: &[(HeaderName, &'static [u8])]| credentials(pairs).unwrap().principal(&[7; 32]);
        let mine = principal(&[(COOKIE, b"a=b")]);
        let accept = http::header::ACCEPT;
        assert_eq!(principal(&[(COOKIE, b"a=b"), (accept, b"*/*")]), mine);
        for other in [
            principal(&[]),
            principal(&[(COOKIE, b"a=c")]),
            principal(&[(AUTHORIZATION, b"a=b")]),
            principal(&[(COOKIE, b"a=b"), (AUTHORIZATION, b"x")]),
            credentials(&[(COOKIE, b"a=b")])
                .unwrap()
                .principal(&[8; 32]),
        ] {
            assert_ne!(other, mine);
        }
    }

    #[test]
    fn control_characters_are_refused_and_nothing_is_shown() {
        assert_eq!(credentials(&[(COOKIE, b"a=\tb")]).unwrap_err(), COOKIE);
        let shown = format!("{:?}", credentials(&[(COOKIE, b"secret")]).unwrap());
        assert_eq!(shown, "1 credentials");
    }
}
