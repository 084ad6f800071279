//! A server's address and how to talk to it.

use super::{Client, path_with, problem};
use anyhow::{Context, Result, bail};
use std::io::Read;
use std::time::Duration;

/// How long to wait for a connection. An answer may take as long as it takes.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// See the module.
pub(crate) struct Server {
    agent: ureq::Agent,
    address: String,
}

impl Server {
    /// Of an address. Asks nobody yet.
    pub(crate) fn new(address: &str) -> Result<Server> {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_MAX))
            .build();
        Ok(Server {
            agent: config.into(),
            address: normal(address)?,
        })
    }
}

/// The address without what does not matter.
fn normal(address: &str) -> Result<String> {
    let address = address.trim_end_matches('/');
    match address.split_once("://") {
        Some(("http", _)) => Ok(address.to_owned()),
        Some((scheme, _)) => bail!("{address}: a server is asked over http, not {scheme}"),
        None => bail!("{address}: not an address"),
    }
}

impl Client for Server {
    fn get(&self, path: &str, parameters: &[(&str, &[u8])]) -> Result<Box<dyn Read>> {
        let url = format!("{}{}", self.address, path_with(path, parameters));
        let response = self.agent.get(&url).call().with_context(|| {
            format!(
                "no answer from {}; start a server with `trawl serve`, or search an index with \
                 --index DIR",
                self.address
            )
        })?;
        let status = response.status();
        let mut body = response.into_body().into_reader();
        if status.is_success() {
            return Ok(Box::new(body));
        }
        let mut text = Vec::new();
        body.read_to_end(&mut text)?;
        Err(problem(status.as_u16(), &text))
    }
}
