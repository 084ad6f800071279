//! Settings of authorization: the decider, and the public names.

use super::visible::NameGlobs;
use http::{HeaderName, Uri, header};
use std::path::PathBuf;
use std::time::Duration;

const TTL_MAX: Duration = Duration::from_secs(60);

/// Forwarded headers besides `Cookie` and `Authorization`.
const HEADERS_MAX: usize = 16;

#[derive(Clone, Debug, Default)]
pub struct AuthorizationOptions {
    pub url: Option<String>,
    /// The service decides about many names at once.
    pub batch: bool,
    /// Forwarded headers besides `Cookie` and `Authorization`.
    pub headers: Vec<String>,
    /// Life of a decision, up to 60 s.
    pub ttl: Duration,
    pub public: Vec<String>,
    /// Public keys: file or address.
    pub jwks: Option<String>,
    pub claim: Option<String>,
    /// Required `aud`.
    pub audience: Option<String>,
    /// Required `iss`.
    pub issuer: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadAuthorization(pub(super) String);

#[derive(Debug)]
pub(super) enum DeciderSettings {
    Service { url: Uri, headers: Vec<HeaderName> },
    Tokens { keys: KeyPlace, rules: TokenRules },
}

#[derive(Clone, Debug, Default)]
pub(super) struct TokenRules {
    pub(super) claim: String,
    pub(super) audience: Option<String>,
    pub(super) issuer: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) enum KeyPlace {
    File(PathBuf),
    Address(Uri),
}

fn bad<T>(reason: impl Into<String>) -> Result<T, BadAuthorization> {
    Err(BadAuthorization(reason.into()))
}

impl AuthorizationOptions {
    /// Decider and public names. `None` without authorization.
    pub(super) fn checked(&self) -> Result<Option<(DeciderSettings, NameGlobs)>, BadAuthorization> {
        let decider = match (&self.url, &self.jwks) {
            (Some(_), Some(_)) => {
                return bad(
                    "--auth-url and --auth-jwks: give one of them, a service or signed tokens",
                );
            }
            (Some(url), None) => self.service(url)?,
            (None, Some(jwks)) => self.tokens(jwks)?,
            (None, None) => {
                return match self.needs_a_source() {
                    None => Ok(None),
                    Some(flag) => bad(format!(
                        "{flag} needs --auth-url URL or --auth-jwks FILE; without them everything is public"
                    )),
                };
            }
        };
        if self.ttl > TTL_MAX {
            return bad(format!("--auth-ttl: at most {} seconds", TTL_MAX.as_secs()));
        }
        let public = NameGlobs::new(&self.public);
        let public = public.map_err(|reason| BadAuthorization(format!("--public: {reason}")))?;
        Ok(Some((decider, public)))
    }

    fn needs_a_source(&self) -> Option<&'static str> {
        let given = [
            (self.batch, "--auth-batch"),
            (!self.headers.is_empty(), "--auth-header"),
            (!self.public.is_empty(), "--public"),
            (self.claim.is_some(), "--auth-claim"),
            (self.audience.is_some(), "--auth-audience"),
            (self.issuer.is_some(), "--auth-issuer"),
        ];
        given
            .into_iter()
            .find_map(|(is_given, flag)| is_given.then_some(flag))
    }

    fn service(&self, url: &str) -> Result<DeciderSettings, BadAuthorization> {
        let of_tokens = [
            (&self.claim, "--auth-claim"),
            (&self.audience, "--auth-audience"),
            (&self.issuer, "--auth-issuer"),
        ];
        if let Some((_, flag)) = of_tokens.iter().find(|(given, _)| given.is_some()) {
            return bad(format!("{flag} is for signed tokens: it needs --auth-jwks"));
        }
        let url = address(url)
            .map_err(|reason| BadAuthorization(format!("--auth-url {url}: {reason}")))?;
        if self.headers.len() > HEADERS_MAX {
            return bad(format!("--auth-header: at most {HEADERS_MAX} headers"));
        }
        let mut headers = vec![header::AUTHORIZATION, header::COOKIE];
        for name in &self.headers {
            let Ok(header) = HeaderName::from_bytes(name.as_bytes()) else {
                return bad(format!("--auth-header {name}: not the name of a header"));
            };
            if is_of_one_connection(&header) {
                return bad(format!(
                    "--auth-header {name}: this header cannot be passed on"
                ));
            }
            headers.push(header);
        }
        headers.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        headers.dedup();
        Ok(DeciderSettings::Service { url, headers })
    }

    fn tokens(&self, jwks: &str) -> Result<DeciderSettings, BadAuthorization> {
        if self.batch || !self.headers.is_empty() {
            return bad("--auth-batch and --auth-header are for a service: they need --auth-url");
        }
        let Some(claim) = self.claim.clone().filter(|claim| !claim.is_empty()) else {
            return bad(
                "--auth-jwks needs --auth-claim NAME, the claim that lists what a bearer may see",
            );
        };
        for (given, flag) in [
            (&self.audience, "--auth-audience"),
            (&self.issuer, "--auth-issuer"),
        ] {
            if given.as_ref().is_some_and(String::is_empty) {
                return bad(format!("{flag}: the value is empty"));
            }
        }
        let rules = TokenRules {
            claim,
            audience: self.audience.clone(),
            issuer: self.issuer.clone(),
        };
        let keys = if jwks.contains("://") {
            let in_flag = |reason| BadAuthorization(format!("--auth-jwks {jwks}: {reason}"));
            KeyPlace::Address(address(jwks).map_err(in_flag)?)
        } else {
            KeyPlace::File(PathBuf::from(jwks))
        };
        Ok(DeciderSettings::Tokens { keys, rules })
    }
}

/// True for headers of one connection or body, which are not passed on.
fn is_of_one_connection(header: &HeaderName) -> bool {
    matches!(
        header.as_str(),
        "connection"
            | "content-length"
            | "content-type"
            | "expect"
            | "host"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
    )
}

fn address(text: &str) -> Result<Uri, &'static str> {
    let url: Uri = text
        .parse()
        .map_err(|_| "not an address, such as https://auth.example.org/check")?;
    if !matches!(url.scheme_str(), Some("http" | "https")) {
        return Err("expected an address that begins with https:// or http://");
    }
    let authority = url.authority().map_or("", |authority| authority.as_str());
    if authority.contains('@') {
        return Err("a user name or a password cannot be in the address");
    }
    if text.contains('#') {
        return Err("an address with # cannot be asked");
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(url: &str) -> AuthorizationOptions {
        AuthorizationOptions {
            url: Some(url.to_owned()),
            ..AuthorizationOptions::default()
        }
    }

    fn tokens() -> AuthorizationOptions {
        AuthorizationOptions {
            jwks: Some("keys.json".to_owned()),
            claim: Some("repositories".to_owned()),
            ..AuthorizationOptions::default()
        }
    }

    #[test]
    fn nothing_is_checked_without_authorization() {
        assert!(AuthorizationOptions::default().checked().unwrap().is_none());
        assert!(
            service("http://127.0.0.1:1/x?y=z")
                .checked()
                .unwrap()
                .is_some()
        );
        assert!(tokens().checked().unwrap().is_some());
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused_by_name() {
        let with = |mut options: AuthorizationOptions, change: fn(&mut AuthorizationOptions)| {
            change(&mut options);
            options.checked().unwrap_err().to_string()
        };
        let none = AuthorizationOptions::default;
        let url = || service("https://auth.example.org/");
        for (error, says) in [
            (
                with(none(), |it| it.batch = true),
                "--auth-batch needs --auth-url",
            ),
            (
                with(none(), |it| it.public = vec!["x".into()]),
                "--public needs",
            ),
            (
                with(none(), |it| it.claim = Some("x".into())),
                "--auth-claim needs",
            ),
            (
                with(url(), |it| it.jwks = Some("x".into())),
                "give one of them",
            ),
            (
                with(url(), |it| it.claim = Some("x".into())),
                "--auth-claim is for signed tokens",
            ),
            (
                with(none(), |it| it.issuer = Some("x".into())),
                "--auth-issuer needs",
            ),
            (
                with(url(), |it| it.audience = Some("x".into())),
                "--auth-audience is for signed tokens",
            ),
            (
                with(tokens(), |it| it.audience = Some(String::new())),
                "--auth-audience: the value is empty",
            ),
            (
                with(url(), |it| it.ttl = Duration::from_secs(61)),
                "at most 60 seconds",
            ),
            (with(url(), |it| it.public = vec!["[".into()]), "--public: "),
            (
                with(url(), |it| it.headers = vec!["a b".into()]),
                "not the name of a header",
            ),
            (
                with(url(), |it| it.headers = vec!["Host".into()]),
                "cannot be passed on",
            ),
            (
                with(url(), |it| it.headers = vec!["x".into(); 17]),
                "at most 16",
            ),
            (
                with(tokens(), |it| it.claim = None),
                "--auth-jwks needs --auth-claim",
            ),
            (with(tokens(), |it| it.batch = true), "need --auth-url"),
            (
                with(tokens(), |it| it.jwks = Some("ftp://x/".into())),
                "begins with https://",
            ),
        ] {
            assert!(error.contains(says), "{error}");
        }
        for bad in [
            "",
            "x",
            "ftp://h/",
            "http://",
            "http://u:p@h/",
            "http://h/ x",
            "http://h/#x",
        ] {
            assert!(service(bad).checked().is_err(), "{bad}");
        }
    }
}
