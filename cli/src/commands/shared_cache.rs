//! Flags for sharing between frontends: Redis cache and link secrets.

use crate::terminal::complain;
use anyhow::{Context, Result, bail};
use frontend::{HintSecret, Hints};
use std::path::PathBuf;
use std::sync::Arc;
use web::LinkSecrets;

const SHARED: &str = "Several frontends";

/// Redis cache, and secrets for its entries and for links.
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

impl std::fmt::Debug for SharedCacheFlags {
    /// The address may contain a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedCacheFlags").finish_non_exhaustive()
    }
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
