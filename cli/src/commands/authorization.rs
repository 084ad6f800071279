//! Authorization flags of `serve` and `frontend`: a decision service or signed tokens.

use anyhow::{Context, Result};
use frontend::{Hints, PackageNames};
use index::shard::Shard;
use std::sync::Arc;
use std::time::Duration;
use web::{Authorization, AuthorizationOptions};

const AUTHORIZATION: &str = "Authorization";

/// Authorization of callers by a service or by tokens.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct AuthorizationFlags {
    /// Show packages that are not --public only to callers that this service allows
    ///
    /// For each name the service gets GET URL?repo=NAME, with the caller's headers Cookie and
    /// Authorization. 2xx allows; 401, 403, 404 and 410 deny.
    #[arg(long, help_heading = AUTHORIZATION, value_name = "URL")]
    pub(super) auth_url: Option<String>,
    /// Request decisions about many names at once; needed for more than 64 packages that are not
    /// public
    ///
    /// The request is POST URL with {"repos": [...]}, the answer {"visible": [...]}.
    #[arg(long, help_heading = AUTHORIZATION)]
    auth_batch: bool,
    /// Pass this header of the caller on to the service, too; may be repeated
    #[arg(long = "auth-header", help_heading = AUTHORIZATION, value_name = "NAME")]
    auth_headers: Vec<String>,
    /// Reuse a decision of the service for this many seconds; 0: request one each time
    #[arg(long, help_heading = AUTHORIZATION, value_name = "SECS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=60))]
    auth_ttl: u64,
    /// Show packages to all callers if their name, without version, matches this glob; may be
    /// repeated
    #[arg(long, help_heading = AUTHORIZATION, value_name = "GLOB")]
    public: Vec<String>,
    /// Show packages that are not --public only to callers with a token signed by one of these keys
    ///
    /// The token is a JWT in the header authorization: Bearer. The keys are a JSON Web Key Set,
    /// which is read again when it changes.
    #[arg(long, help_heading = AUTHORIZATION, value_name = "FILE|URL")]
    pub(super) auth_jwks: Option<String>,
    /// Claim of a token that lists globs of the packages that its bearer may see
    #[arg(long, help_heading = AUTHORIZATION, value_name = "NAME")]
    auth_claim: Option<String>,
    /// Refuse tokens that are not for this audience (claim aud)
    #[arg(long, help_heading = AUTHORIZATION, value_name = "NAME")]
    auth_audience: Option<String>,
    /// Refuse tokens of another issuer (claim iss)
    #[arg(long, help_heading = AUTHORIZATION, value_name = "NAME")]
    auth_issuer: Option<String>,
}

impl AuthorizationFlags {
    /// Checks the flags and reads token keys. Decisions are shared as hints.
    pub(super) fn build(&self, hints: Option<&Arc<Hints>>) -> Result<Option<Authorization>> {
        let options = AuthorizationOptions {
            url: self.auth_url.clone(),
            batch: self.auth_batch,
            headers: self.auth_headers.clone(),
            ttl: Duration::from_secs(self.auth_ttl),
            public: self.public.clone(),
            jwks: self.auth_jwks.clone(),
            claim: self.auth_claim.clone(),
            audience: self.auth_audience.clone(),
            issuer: self.auth_issuer.clone(),
        };
        let asked = [&self.auth_url, &self.auth_jwks].into_iter().flatten();
        let needs_roots = asked.into_iter().any(|url| url.starts_with("https:"));
        let tls = tls::client::outgoing(needs_roots)?;
        Ok(Authorization::new(&options, tls, hints)?)
    }

    pub(super) fn is_configured(&self) -> bool {
        self.auth_url.is_some() || self.auth_jwks.is_some()
    }
}

/// Checks that the packages can be authorized.
pub(super) fn check_packages(authorization: &Authorization, shards: &[Arc<Shard>]) -> Result<()> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    for shard in shards {
        for id in shard.live_packages() {
            names.push(shard.package(id)?.name.to_vec());
        }
    }
    let names = PackageNames::new(names.iter().map(|name| &name[..]));
    let checked = authorization.check_names(&names);
    checked.context("cannot authorize callers")
}
