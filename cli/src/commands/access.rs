//! `trawl key`, and access flags of `serve` and `frontend`: keys, cookies, operators' address;
//! authorization by a decision service or signed tokens; a Redis cache and link secrets that
//! frontends share.

use super::listener;
use crate::address;
use crate::exit::Exit;
use crate::terminal::{self, complain, report};
use anyhow::{Context, Result, bail};
use frontend::{Coordinator, HintSecret, Hints, PackageNames};
use index::shard::Shard;
use metrics_exporter_prometheus::PrometheusHandle;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use web::{
    Access, ApiKeys, Authorization, AuthorizationOptions, ConnectionLimits, CookieSecret,
    HostNames, LinkSecrets, NewKey,
};

/// Room for some browsers and metrics collectors.
const ADMIN_CONNECTIONS_MAX: usize = 256;

const ACCESS: &str = "Access";
const AUTHORIZATION: &str = "Authorization";
const SHARED: &str = "Several frontends";

/// Keys, and an address for operators.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct AccessFlags {
    /// Require a key from FILE for /api/v2
    ///
    /// FILE has a line for each key, as printed by `trawl key`. It is read again when it changes.
    #[arg(long, value_name = "FILE", help_heading = ACCESS)]
    api_keys: Option<PathBuf>,
    /// Require a key for pages, /api/v1 and metrics too; only health needs none
    #[arg(long, help_heading = ACCESS)]
    require_key: bool,
    /// Sign the cookies of pages with the secret in FILE (32 bytes or more) [default: a random
    /// secret of this process]
    ///
    /// With the same secret, cookies are valid on several frontends and after a restart.
    #[arg(long, value_name = "FILE", help_heading = ACCESS)]
    cookie_secret: Option<PathBuf>,
    /// Serve metrics, health and the status with the addresses of backends on this address,
    /// without keys
    ///
    /// The other address then has no metrics and shows no addresses.
    #[arg(long, value_name = "HOST:PORT", value_parser = address::parse_listen, help_heading = ACCESS)]
    pub(super) admin_listen: Option<String>,
}

impl AccessFlags {
    pub(super) fn keys(&self) -> Result<Option<Access>> {
        let Some(keys) = &self.api_keys else {
            if self.require_key {
                bail!("--require-key needs a file of keys: add --api-keys FILE");
            }
            if self.cookie_secret.is_some() {
                bail!(
                    "--cookie-secret needs a file of keys: without --api-keys FILE pages have no cookies"
                );
            }
            return Ok(None);
        };
        let keys = ApiKeys::open(keys).context("--api-keys")?;
        let secret = match &self.cookie_secret {
            Some(file) => CookieSecret::read(file).context("--cookie-secret")?,
            None => CookieSecret::random(),
        };
        Ok(Some(Access::new(keys, secret, self.require_key)))
    }

    /// Binds the operators' address, if any.
    pub(super) async fn bind_admin(&self, listen: &str) -> Result<Option<TcpListener>> {
        let Some(address) = &self.admin_listen else {
            return Ok(None);
        };
        if address == listen && !address.ends_with(":0") {
            bail!(
                "--admin-listen and --listen are both {address}; choose another port for one of them"
            );
        }
        listener::bind(address, "--admin-listen").await.map(Some)
    }

    pub(super) fn serve_admin(
        &self,
        listener: Option<TcpListener>,
        hosts: &[String],
        frontend: &Arc<Coordinator>,
        metrics: &PrometheusHandle,
    ) -> Result<()> {
        let Some(listener) = listener else {
            return Ok(());
        };
        let address = listener.local_addr()?;
        report(format_args!("for operators: http://{address}/metrics"));
        if !address.ip().is_loopback() {
            tracing::warn!(%address, "metrics and addresses of backends are shown to all who reach this address");
        }
        let hosts = HostNames::new(address.ip(), hosts);
        let router = web::admin(Arc::clone(frontend), hosts, metrics.clone());
        let limits = ConnectionLimits {
            connections_max: ADMIN_CONNECTIONS_MAX,
            ..ConnectionLimits::default()
        };
        tokio::spawn(web::serve(listener, router, limits));
        Ok(())
    }
}

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

/// Redis cache, and secrets for its entries and for links. Not `Debug`: the address may contain a
/// password.
#[derive(Clone, clap::Args)]
pub(super) struct SharedCacheFlags {
    /// Share commits with other frontends through Redis:
    /// redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]
    ///
    /// With --cache-redis-secret, decisions of --auth-url are shared too. Redis may be slow, down
    /// or wiped at any time.
    #[arg(long, help_heading = SHARED, value_name = "URL")]
    cache_redis: Option<String>,
    /// Authenticate entries in Redis with the secret in FILE (32 bytes or more)
    ///
    /// All frontends that share need the same secret.
    #[arg(long, help_heading = SHARED, value_name = "FILE")]
    cache_redis_secret: Option<PathBuf>,
    /// Sign links to answers (`link`, `next`) with the first secret in FILE [default: links are not
    /// secret, and every server accepts them]
    ///
    /// FILE has a secret of 32 characters or more on each line. Links signed with any of them are
    /// accepted, so frontends with the same secrets accept each other's links. FILE is read again
    /// when it changes.
    #[arg(long, help_heading = SHARED, value_name = "FILE")]
    link_secrets: Option<PathBuf>,
}

impl SharedCacheFlags {
    pub(super) fn links(&self) -> Result<LinkSecrets> {
        match &self.link_secrets {
            None => Ok(LinkSecrets::default()),
            Some(file) => LinkSecrets::open(file).context("--link-secrets"),
        }
    }

    /// Connects in the background. Logs if decisions are not shared for lack of a secret.
    pub(super) fn start(&self, has_service: bool) -> Result<Option<Arc<Hints>>> {
        let Some(url) = &self.cache_redis else {
            if self.cache_redis_secret.is_some() {
                bail!("--cache-redis-secret needs --cache-redis URL");
            }
            return Ok(None);
        };
        let secret = self.cache_redis_secret.as_deref().map(HintSecret::read);
        let secret = secret.transpose().context("--cache-redis-secret")?;
        if has_service && secret.is_none() {
            complain(format_args!(
                "decisions of --auth-url are not shared through --cache-redis: that needs --cache-redis-secret FILE"
            ));
        }
        Ok(Some(Hints::start(url, secret).context("--cache-redis")?))
    }
}

/// Make a key for a client of the HTTP API
///
/// Prints the key for the client, which cannot be shown again, and then the line for the file that
/// the server's --api-keys names. The line has only a hash of the key.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trawl key build-robot
  trawl serve --api-keys keys              where `keys` has the printed lines
  trawl search --key-file ~/robot.key malloc
                                           where `~/robot.key` has the printed key")]
pub(crate) struct KeyArguments {
    /// Name of the key, shown in the log and in the file of keys
    #[arg(value_name = "NAME")]
    name: String,
}

pub(super) fn key(arguments: &KeyArguments) -> Result<Exit> {
    let new = NewKey::random(&arguments.name).context("cannot make the key")?;
    report("the key, for the client; it is not shown again:");
    terminal::print(&new.key)?;
    report("the line for the server's file of keys (--api-keys):");
    terminal::print(&new.line)?;
    Ok(Exit::Success)
}
