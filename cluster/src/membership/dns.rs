//! Names in the DNS as a list of nodes: SRV records of a service, or the addresses of a host.
//!
//! A node has no name but its address, no zone, and the weight 1. Answers are asked for again when they expire, between 1
//! and 30 s later. A name without records is an empty list, about which [`view`](super::view) has an opinion; a server that
//! fails is no list.

use super::{Member, NODES_MAX};
use crate::membership::pace::{Backoff, jittered};
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{RData, RecordType};
use hickory_resolver::{Resolver, TokioResolver};
use std::collections::BTreeSet;
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
    name: String,
    port: u16,
}

impl Names {
    /// Reads the configuration of the system, unless a server is given.
    pub(super) fn new(
        name: &str,
        port: u16,
        server: Option<SocketAddr>,
    ) -> Result<Names, NetError> {
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
            name: name.to_owned(),
            port,
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
        let types: &[RecordType] = if self.name.starts_with('_') {
            &[RecordType::SRV]
        } else {
            &[RecordType::A, RecordType::AAAA]
        };
        let (mut addresses, mut again) = (BTreeSet::new(), AGAIN_MAX);
        for &record_type in types {
            match self.resolver.lookup(&*self.name, record_type).await {
                Ok(found) => {
                    let records = found.answers().iter().take(NODES_MAX + 1);
                    addresses.extend(records.filter_map(|record| self.address(&record.data)));
                    let valid = found
                        .valid_until()
                        .saturating_duration_since(Instant::now());
                    again = again.min(valid);
                }
                Err(error) if error.is_no_records_found() || error.is_nx_domain() => {}
                Err(error) => return Err(format!("{} {record_type}: {error}", self.name)),
            }
        }
        if addresses.is_empty() {
            again = AGAIN_EMPTY;
        }
        let members = addresses.iter().map(|address| Member::at(address));
        let members = members.filter(|member| member.check().is_ok()).collect();
        Ok((members, again.max(AGAIN_MIN)))
    }

    fn address(&self, data: &RData) -> Option<String> {
        let of = |ip: IpAddr| SocketAddr::new(ip, self.port).to_string();
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
}
