//! Access flags of `serve` and `frontend`: keys, cookies, operators' address.

use super::listener;
use crate::address;
use crate::terminal::report;
use anyhow::{Context, Result, bail};
use frontend::Coordinator;
use metrics_exporter_prometheus::PrometheusHandle;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;
use web::{Access, ApiKeys, ConnectionLimits, CookieSecret, HostNames};

/// Room for some browsers and metrics collectors.
const ADMIN_CONNECTIONS_MAX: usize = 256;

const ACCESS: &str = "Access";

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
