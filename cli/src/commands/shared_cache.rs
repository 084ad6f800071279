//! Flags of `serve` and `frontend` for a Redis through which frontends share answers.

use crate::terminal::report;
use anyhow::{Context, Result, bail};
use frontend::{HintSecret, Hints};
use std::path::PathBuf;
use std::sync::Arc;

/// The heading in the help.
const SHARED: &str = "Several frontends";

/// Which Redis, and what authenticates entries.
#[derive(Clone, clap::Args)]
pub(super) struct SharedCacheFlags {
    /// Share commits, and with --cache-redis-secret decisions of --auth-url, with other frontends through this Redis:
    /// redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]. It may be slow, down or wiped at any time
    #[arg(long, help_heading = SHARED, value_name = "URL")]
    cache_redis: Option<String>,
    /// Authenticate what is in Redis with the secret in this file (32 bytes or more), the same for all frontends that
    /// share
    #[arg(long, help_heading = SHARED, value_name = "FILE")]
    cache_redis_secret: Option<PathBuf>,
}

impl std::fmt::Debug for SharedCacheFlags {
    /// The address may have a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedCacheFlags").finish_non_exhaustive()
    }
}

impl SharedCacheFlags {
    /// Reads the secret, and begins to connect, without waiting for it. Says so if decisions are not shared for want of
    /// a secret.
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
            report(format_args!(
                "decisions of --auth-url are not shared through --cache-redis: that needs --cache-redis-secret FILE"
            ));
        }
        Ok(Some(Hints::start(url, secret).context("--cache-redis")?))
    }
}
