//! A client of a server, over HTTP.

use super::api::{Client, error, path_with};
use anyhow::{Context, Result, bail};
use std::io::Read;
use std::time::Duration;

/// Time to connect. There is no limit on the time for a response: a search may take long.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// A client of the server at a URL.
pub(crate) struct Server {
    agent: ureq::Agent,
    url: String,
}

impl Server {
    /// Checks the URL. Connects when something is asked.
    pub(crate) fn new(url: &str) -> Result<Server> {
        let url = url.trim_end_matches('/');
        match url.split_once("://") {
            Some(("http", _)) => {}
            Some((scheme, _)) => bail!("{url}: {scheme} is not supported; use http://"),
            None => bail!("{url}: not a URL; expected http://host:port"),
        }
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_MAX))
            .build();
        Ok(Server {
            agent: config.into(),
            url: url.to_owned(),
        })
    }
}

impl Client for Server {
    fn get(&self, path: &str, parameters: &[(&str, &[u8])]) -> Result<Box<dyn Read>> {
        let url = format!("{}{}", self.url, path_with(path, parameters));
        let response = self.agent.get(&url).call().with_context(|| {
            format!(
                "cannot reach the server at {}; start one with `trawl serve`, name another with \
                 --server URL, or search an index with --index DIR",
                self.url
            )
        })?;
        let status = response.status();
        let mut body = response.into_body().into_reader();
        if status.is_success() {
            return Ok(Box::new(body));
        }
        let mut text = Vec::new();
        body.read_to_end(&mut text)?;
        Err(error(status.as_u16(), &text))
    }
}
