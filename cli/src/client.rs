//! A client of the HTTP API: of a server, or of a frontend in this process over an index directory.
//!
//! Both answer the same paths with the same bytes, so a command is written once.

mod api;
mod in_process;
mod server;

pub(crate) use api::Client;
pub(crate) use server::Server;

use anyhow::Result;
use in_process::InProcess;
use std::path::PathBuf;

/// Where a command searches.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Target {
    /// Ask this server [default: $TRAWL_SERVER, or http://127.0.0.1:8080]
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Search this index directory, without a server
    #[arg(long, value_name = "DIR", conflicts_with = "server")]
    pub(crate) index: Option<PathBuf>,
}

impl Target {
    /// The server's URL. The scheme may be left out.
    pub(crate) fn server(&self) -> String {
        const DEFAULT: &str = "http://127.0.0.1:8080";
        let variable = || std::env::var("TRAWL_SERVER").ok();
        let given = self.server.clone().or_else(variable);
        match given.filter(|address| !address.is_empty()) {
            Some(address) if address.contains("://") => address,
            Some(address) => format!("http://{address}"),
            None => DEFAULT.to_owned(),
        }
    }

    /// A client of the index or the server.
    pub(crate) fn client(&self) -> Result<Box<dyn Client>> {
        Ok(match &self.index {
            Some(index) => Box::new(InProcess::new(index)?),
            None => Box::new(Server::new(&self.server())?),
        })
    }
}
