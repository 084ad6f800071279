//! Nodes of a cluster, as listed by a [`Source`]: a command-line list, DNS, or an etcd in which
//! backends register.
//!
//! Lists are hints: [`view`] derives the map, without clock, file or socket. [`map_file`] keeps it
//! over restarts, [`watcher`] polls and publishes, [`registration`] announces a backend. Liveness
//! is each frontend's own judgement.

pub mod map_file;
pub mod registration;
pub mod view;
pub mod watcher;

#[cfg(feature = "dns")]
mod dns;
mod etcd;
mod pace;
mod source;

pub use etcd::{Etcd, EtcdError};
pub use source::{Source, SourceError};

use crate::placement::Node;
use metrics::{describe_counter, describe_gauge};
use serde::{Deserialize, Serialize};

/// Nodes of a cluster: a frontend has a thread and a connection for each.
pub const NODES_MAX: usize = 1024;

const NAME_LEN_MAX: usize = 128;

/// Bytes of a DNS host name and port.
const ADDRESS_LEN_MAX: usize = 253 + 6;

/// Largest weight: two nodes differ by a factor of a million at most.
const WEIGHT_MAX: u32 = 1_000_000;

pub fn describe_metrics() {
    describe_gauge!(
        "trawl_cluster_nodes",
        "Nodes of the map, by whether the source lists them"
    );
    describe_gauge!(
        "trawl_cluster_frozen",
        "1 while no node is removed from the map although some are absent"
    );
    describe_counter!(
        "trawl_cluster_source_errors_total",
        "Failed requests to the source of nodes"
    );
    describe_gauge!(
        "trawl_cluster_registered",
        "1 while this backend is registered"
    );
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Unique; by default the address.
    #[serde(rename = "node")]
    pub name: String,
    /// Host and port.
    pub address: String,
    /// Nodes of a zone may be lost together.
    #[serde(default)]
    pub zone: String,
    /// Relative share of the shards; 0 for none.
    #[serde(default = "default_weight")]
    pub weight: u32,
    /// About to leave: no new searches if another node serves its shards.
    #[serde(default)]
    pub draining: bool,
}

fn default_weight() -> u32 {
    1
}

impl Member {
    pub fn at(address: &str) -> Member {
        Member {
            name: address.to_owned(),
            address: address.to_owned(),
            zone: String::new(),
            weight: 1,
            draining: false,
        }
    }

    pub fn node(&self) -> Node {
        Node {
            name: self.name.clone(),
            zone: self.zone.clone(),
            weight: self.weight,
        }
    }

    /// First mistake.
    pub fn check(&self) -> Result<(), String> {
        check_address(&self.address)?;
        check_word("name", &self.name)?;
        if !self.zone.is_empty() {
            check_word("zone", &self.zone)?;
        }
        if self.weight > WEIGHT_MAX {
            return Err(format!("weight {} is more than {WEIGHT_MAX}", self.weight));
        }
        Ok(())
    }
}

fn check_word(what: &str, word: &str) -> Result<(), String> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    if word.is_empty() || word.len() > NAME_LEN_MAX || !word.bytes().all(is_fine) {
        return Err(format!(
            "{what} {word:?} must have 1 to {NAME_LEN_MAX} letters, digits and any of - . _ : [ ]"
        ));
    }
    Ok(())
}

/// HOST:PORT.
pub fn check_address(address: &str) -> Result<(), String> {
    let wrong = || Err(format!("address {address:?} is not HOST:PORT"));
    let Some((host, port)) = address.rsplit_once(':') else {
        return wrong();
    };
    let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
    let is_v6 = host.starts_with('[') && host.ends_with(']') && host.len() > 4;
    let is_host = |host: &str| {
        let mut bytes = host.bytes();
        !host.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
    };
    if !is_port || address.len() > ADDRESS_LEN_MAX || !(is_v6 || is_host(host)) {
        return wrong();
    }
    Ok(())
}
