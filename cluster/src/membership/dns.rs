//! Names in the DNS as a list of nodes: SRV records of a service, or the addresses of a host.
//!
//! A node has no name but its address, the zone that the name was given on the command line, and the weight 1. Answers are asked for again when they expire, between 1
//! and 30 s later. A name without records is an empty list, about which [`view`](super::view) has an opinion; a server that
//! fails is no list.

use super::source::DnsName;
use super::{Member, NODES_MAX};
use crate::membership::pace::{Backoff, jittered};
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{RData, RecordType};
use hickory_resolver::{Resolver, TokioResolver};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// The time until the next look-up, whatever the records say.
const AGAIN_MIN: Duration = Duration::from_secs(1);
const AGAIN_MAX: Duration = Duration::from_secs(30);

/// The time until the next look-up if there are no records.
const AGAIN_EMPTY: Duration = Duration::from_secs(5);

/// The time of one attempt to ask a server.
const ATTEMPT_MAX: Duration = Duration::from_secs(2);

/// Names in the DNS that list nodes.
pub(super) struct Names {
    resolver: TokioResolver,
    names: Vec<DnsName>,
}

impl Names {
    /// Reads the configuration of the system, unless a server is given.
    pub(super) fn new(names: &[DnsName], server: Option<SocketAddr>) -> Result<Names, NetError> {
        let runtime = TokioRuntimeProvider::default();
        let mut builder = match server {
            None => Resolver::builder(runtime)?,
            Some(server) => {
                let connections =
                    [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut it| {
                        it.port = server.port();
                        it
                    });
                let server = NameServerConfig::new(server.ip(), true, connections.into());
                Resolver::builder_with_config(
                    ResolverConfig::from_parts(None, Vec::new(), vec![server]),
                    runtime,
                )
            }
        };
        let options = builder.options_mut();
        // What has expired is to be asked for.
        options.cache_size = 0;
        options.timeout = ATTEMPT_MAX;
        options.attempts = 2;
        Ok(Names {
            resolver: builder.build()?,
            names: names.to_vec(),
        })
    }

    /// Sends lists, and reasons why there is none, until `send` returns false.
    pub(super) async fn follow<F: Future<Output = bool>>(
        self,
        send: impl Fn(Result<Vec<Member>, String>) -> F,
    ) {
        let mut backoff = Backoff::default();
        loop {
            let (answer, pause) = match self.look_up().await {
                Ok((members, again)) => {
                    backoff.succeed();
                    (Ok(members), jittered(again))
                }
                Err(error) => (Err(error), backoff.fail()),
            };
            if !send(answer).await {
                return;
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Returns the nodes, and how long that holds.
    async fn look_up(&self) -> Result<(Vec<Member>, Duration), String> {
        let (mut members, mut again) = (BTreeMap::new(), AGAIN_MAX);
        for name in &self.names {
            let (addresses, valid) = self.addresses(name).await?;
            again = again.min(valid);
            for address in addresses {
                let member = Member {
                    zone: name.zone.clone(),
                    ..Member::at(&address)
                };
                if member.check().is_ok() {
                    // If several names list a node, the first one gives its zone.
                    members.entry(address).or_insert(member);
                }
            }
        }
        Ok((members.into_values().collect(), again.max(AGAIN_MIN)))
    }

    /// Returns the addresses of a name, and how long they hold.
    async fn addresses(&self, name: &DnsName) -> Result<(BTreeSet<String>, Duration), String> {
        let types: &[RecordType] = if name.name.starts_with('_') {
            &[RecordType::SRV]
        } else {
            &[RecordType::A, RecordType::AAAA]
        };
        let (mut addresses, mut again) = (BTreeSet::new(), AGAIN_MAX);
        for &record_type in types {
            match self.resolver.lookup(&*name.name, record_type).await {
                Ok(found) => {
                    let records = found.answers().iter().take(NODES_MAX + 1);
                    addresses.extend(records.filter_map(|record| address(&record.data, name.port)));
                    let valid = found
                        .valid_until()
                        .saturating_duration_since(Instant::now());
                    again = again.min(valid);
                }
                Err(error) if error.is_no_records_found() || error.is_nx_domain() => {}
                Err(error) => return Err(format!("{} {record_type}: {error}", name.name)),
            }
        }
        if addresses.is_empty() {
            again = AGAIN_EMPTY;
        }
        Ok((addresses, again))
    }
}

fn address(data: &RData, port: u16) -> Option<String> {
    let of = |ip: IpAddr| SocketAddr::new(ip, port).to_string();
    match data {
        RData::A(it) => Some(of(it.0.into())),
        RData::AAAA(it) => Some(of(it.0.into())),
        RData::SRV(it) => {
            let target = it.target.to_utf8();
            Some(format!("{}:{}", target.trim_end_matches('.'), it.port))
        }
        _ => None,
    }
}
