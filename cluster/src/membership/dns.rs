//! DNS as a list of nodes: SRV records or addresses.
//!
//! A node is named by its address, with the zone of its DNS name and weight 1. Answers are
//! refreshed on expiry, after 1 to 30 s. Without records the list is empty, judged by
//! [`view`](super::view); a failing server gives none.

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
use tokio::sync::mpsc::Sender;

/// Least and greatest time to the next lookup.
const AGAIN_MIN: Duration = Duration::from_secs(1);
const AGAIN_MAX: Duration = Duration::from_secs(30);

/// Time to the next lookup without records.
const AGAIN_EMPTY: Duration = Duration::from_secs(5);

const ATTEMPT_MAX: Duration = Duration::from_secs(2);

pub(super) struct Names {
    resolver: TokioResolver,
    names: Vec<DnsName>,
}

impl Names {
    /// By default with the system configuration.
    pub(super) fn new(names: &[DnsName], server: Option<SocketAddr>) -> Result<Names, NetError> {
        let runtime = TokioRuntimeProvider::default();
        let mut builder = match server {
            None => Resolver::builder(runtime)?,
            Some(server) => {
                let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
                connections
                    .iter_mut()
                    .for_each(|it| it.port = server.port());
                let server = NameServerConfig::new(server.ip(), true, connections);
                Resolver::builder_with_config(
                    ResolverConfig::from_parts(None, Vec::new(), vec![server]),
                    runtime,
                )
            }
        };
        let options = builder.options_mut();
        // Expired records must be fetched.
        options.cache_size = 0;
        options.timeout = ATTEMPT_MAX;
        options.attempts = 2;
        Ok(Names {
            resolver: builder.build()?,
            names: names.to_vec(),
        })
    }

    /// Sends lists and errors while they are received.
    pub(super) async fn follow(self, sender: Sender<Result<Vec<Member>, String>>) {
        let mut backoff = Backoff::default();
        loop {
            let (answer, pause) = match self.look_up().await {
                Ok((members, again)) => {
                    backoff.succeed();
                    (Ok(members), jittered(again))
                }
                Err(error) => (Err(error), backoff.fail()),
            };
            if sender.send(answer).await.is_err() {
                return;
            }
            tokio::time::sleep(pause).await;
        }
    }

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
                    // The first name gives the zone.
                    members.entry(address).or_insert(member);
                }
            }
        }
        Ok((members.into_values().collect(), again.max(AGAIN_MIN)))
    }

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
