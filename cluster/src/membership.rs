//! Which nodes there are: a source that is asked for them, and the map that a process goes by.
//!
//! A [`Source`] is a list on the command line, a name in the DNS, or an etcd in which backends register themselves. What
//! it says is a hint: [`view`] decides what becomes of the map, without clock, file or socket, and keeps nodes that a
//! source forgets. [`map_file`] keeps the map over restarts. [`watcher`] asks the source and publishes the map,
//! [`registration`] announces a backend.
//!
//! Nothing here decides whether a node answers: that is the opinion of each frontend.

pub mod map_file;
pub mod registration;
pub mod view;
pub mod watcher;

mod dns;
mod etcd;
mod pace;
mod source;

pub use etcd::{Etcd, EtcdError};
pub use source::{Source, SourceError};

use crate::placement::Node;
use metrics::{describe_counter, describe_gauge};
use serde::{Deserialize, Serialize};

/// Nodes of a cluster. A frontend has a thread and a connection for each.
pub const NODES_MAX: usize = 1024;

/// Bytes of a name and of a zone.
const NAME_LEN_MAX: usize = 128;

/// Bytes of an address: a host name of the DNS, and a port.
const ADDRESS_LEN_MAX: usize = 253 + 6;

/// The largest weight: two nodes differ by a factor of a million at most.
const WEIGHT_MAX: u32 = 1_000_000;

/// Describes the metrics of this module.
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

/// A node as a source describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its name, which no other node has; its address if it has no other name.
    #[serde(rename = "node")]
    pub name: String,
    /// The host and port of its backend.
    pub address: String,
    /// Where it is; nodes of one zone may be lost together.
    #[serde(default)]
    pub zone: String,
    /// How much of all shards it gets, in relation to the others; with 0 none.
    #[serde(default = "default_weight")]
    pub weight: u32,
    /// Whether it is about to leave: it gets no new searches if another node serves its shards.
    #[serde(default)]
    pub draining: bool,
}

fn default_weight() -> u32 {
    1
}

impl Member {
    /// A node that has no name but its address.
    pub fn at(address: &str) -> Member {
        Member {
            name: address.to_owned(),
            address: address.to_owned(),
            zone: String::new(),
            weight: 1,
            draining: false,
        }
    }

    /// The node as placements see it.
    pub fn node(&self) -> Node {
        Node {
            name: self.name.clone(),
            zone: self.zone.clone(),
            weight: self.weight,
        }
    }

    /// Says what is wrong with it, if something is.
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

/// Names are keys of a registry, labels of metrics and words of a log.
fn check_word(what: &str, word: &str) -> Result<(), String> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    if word.is_empty() || word.len() > NAME_LEN_MAX || !word.bytes().all(is_fine) {
        return Err(format!(
            "{what} {word:?} must have 1 to {NAME_LEN_MAX} letters, digits and any of - . _ : [ ]"
        ));
    }
    Ok(())
}

fn check_address(address: &str) -> Result<(), String> {
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
