//! Cluster node flags of `frontend` and `backend`.

use super::tls_flags::BackendClientTls;
use crate::{address, client};
use anyhow::{Context, Result, bail};
use cluster::membership::registration::Registration;
use cluster::membership::view::{Absence, NodeMap};
use cluster::membership::watcher::{Watcher, WatcherOptions};
use cluster::membership::{Etcd, Member, Source};
use frontend::{Backend, Coordinator};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Builder;
use ureq::tls::TlsConfig;

const CLUSTER: &str = "Cluster";

/// A stored map or none is used later.
const FIRST_LIST_MAX: Duration = Duration::from_secs(3);

const MAP_FILE: &str = "nodes";

/// Source of the node list.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SourceFlags {
    /// Source of the node list: static:…, dns:… or etcd:…
    ///
    /// static:[NAME=]HOST:PORT[/zone=ZONE][/weight=N],…
    ///
    /// dns:NAME[:PORT][/zone=ZONE],…[?server=IP:PORT] (addresses, or SRV records of
    /// _SERVICE._tcp.NAME)
    ///
    /// etcd:http://HOST:PORT[,http://HOST:PORT…][/PREFIX] (https works too)
    #[arg(long, help_heading = CLUSTER, value_name = "SOURCE")]
    pub(super) nodes: Option<Source>,
    /// Trust the CAs in FILE (PEM) for etcd over https [default: $SSL_CERT_FILE, or the system's]
    #[arg(long, help_heading = CLUSTER, value_name = "FILE")]
    nodes_ca: Option<PathBuf>,
}

impl SourceFlags {
    /// Blocks until the first list.
    pub(super) fn list(&self) -> Result<Vec<Member>> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let _guard = runtime.enter();
        let mut watcher = self.watch(WatcherOptions::default())?;
        let watcher = watcher.as_mut().context("give --nodes SOURCE")?;
        let map = runtime.block_on(watcher.first(FIRST_LIST_MAX)).clone();
        if let Some(source) = self.nodes.as_ref().filter(|_| !map.is_confirmed) {
            let reason = watcher.error().unwrap_or("no node is listed");
            bail!("--nodes {source}: {reason}");
        }
        Ok(map.members)
    }

    /// `None` without a source.
    fn watch(&self, options: WatcherOptions) -> Result<Option<Watcher>> {
        let Some(source) = &self.nodes else {
            return Ok(None);
        };
        let tls = self.tls()?;
        let watcher = Watcher::start(source, WatcherOptions { tls, ..options });
        watcher.map(Some).context("--nodes")
    }

    pub(super) fn tls(&self) -> Result<Option<TlsConfig>> {
        let is_encrypted = |endpoint: &String| endpoint.starts_with("https:");
        match &self.nodes {
            Some(Source::Etcd { endpoints, .. }) if endpoints.iter().any(is_encrypted) => {
                let tls = client::https_config(self.nodes_ca.as_deref(), "--nodes-ca");
                tls.context("--nodes").map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// Nodes that a frontend searches.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct NodesFlags {
    #[command(flatten)]
    pub(super) source: SourceFlags,
    /// Accept the first list of --nodes, even if it lacks most of the nodes known before: ends a
    /// freeze
    #[arg(long, help_heading = CLUSTER)]
    accept_nodes: bool,
}

impl NodesFlags {
    /// Requires a source or backends.
    pub(super) fn check(&self, backends: &[String]) -> Result<()> {
        match (&self.source.nodes, backends) {
            (None, []) => {
                bail!("name the backends: --backend HOST:PORT, once for each, or --nodes SOURCE")
            }
            (Some(_), [_, ..]) => {
                bail!("--backend and --nodes both name the backends; give one of them")
            }
            (None, _) if self.accept_nodes => bail!("--accept-nodes needs --nodes SOURCE"),
            _ => Ok(()),
        }
    }

    /// Waits for the first list. `None` without a source.
    pub(super) async fn watch(&self, spool: &Path) -> Result<Option<Watcher>> {
        let mut watcher = self.source.watch(WatcherOptions {
            file: Some(spool.join(MAP_FILE)),
            accepts: self.accept_nodes,
            ..WatcherOptions::default()
        })?;
        if let (Some(source), Some(watcher)) = (&self.source.nodes, &mut watcher)
            && watcher.first(FIRST_LIST_MAX).await.members.is_empty()
        {
            let reason = watcher.error().unwrap_or("the list is empty");
            tracing::warn!(source = %source, reason, "no node is known yet");
        }
        Ok(watcher)
    }
}

pub(super) struct Connector {
    tls: Option<tls::Current<tls::ClientConfig>>,
    /// Hides addresses in answers.
    hides_addresses: bool,
    /// Names of nodes that have only an address.
    names: Mutex<BTreeMap<String, String>>,
}

impl Connector {
    pub(super) fn new(
        tls: &BackendClientTls,
        hides_addresses: bool,
        members: &[Member],
    ) -> Result<Connector> {
        let addresses: Vec<String> = members.iter().map(|it| it.address.clone()).collect();
        Ok(Connector {
            tls: tls.config(&addresses)?,
            hides_addresses,
            names: Mutex::default(),
        })
    }

    /// Skips nodes that TLS cannot verify.
    pub(super) fn backends(&self, map: &NodeMap) -> Vec<Backend> {
        let backend = |member: &Member| match self.backend(member) {
            Ok(backend) => Some(backend),
            Err(error) => {
                tracing::warn!(node = member.name, %error, "a node is ignored: its host can have no certificate");
                None
            }
        };
        map.members.iter().filter_map(backend).collect()
    }

    pub(super) fn backend(&self, member: &Member) -> Result<Backend> {
        let backend = match &self.tls {
            None => Backend::tcp(&member.address),
            Some(tls) => Backend::tls(&member.address, tls.clone())?,
        };
        let name = self.name(&member.name);
        Ok(backend.named(name).draining(member.draining))
    }

    fn name(&self, node: &str) -> String {
        if !self.hides_addresses || !node.contains(':') {
            return node.to_owned();
        }
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let next = format!("backend {}", names.len() + 1);
        names.entry(node.to_owned()).or_insert(next).clone()
    }
}

/// Runs until the frontend ends.
pub(super) fn follow(watcher: Watcher, connector: Connector, frontend: &Arc<Coordinator>) {
    let connector = Arc::new(connector);
    let (names, served) = (Arc::clone(&connector), Arc::clone(frontend));
    let would_lose = move |nodes: &BTreeSet<&str>| {
        let names: Vec<String> = nodes.iter().map(|node| names.name(node)).collect();
        served.would_lose(&names.iter().map(|name| &**name).collect())
    };
    let frontend = Arc::clone(frontend);
    tokio::spawn(watcher.run(would_lose, move |map| {
        if let Err(error) = frontend.set_backends(connector.backends(map)) {
            tracing::error!(%error, "cannot change the nodes; the next change is tried");
        }
    }));
}

/// Registration of a backend.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct RegistrationFlags {
    #[command(flatten)]
    source: SourceFlags,
    /// Name of this node, which no other node has [default: the address of --announce]
    #[arg(long, help_heading = CLUSTER, value_name = "NAME")]
    name: Option<String>,
    /// Address at which frontends reach this node [default: that of --listen]
    #[arg(long, help_heading = CLUSTER, value_name = "HOST:PORT", value_parser = address::parse)]
    announce: Option<String>,
    /// Zone of this node; nodes of one zone may be lost together
    #[arg(long, help_heading = CLUSTER, value_name = "ZONE")]
    zone: Option<String>,
    /// Share of the shards that this node gets, relative to the other nodes
    #[arg(long, help_heading = CLUSTER, value_name = "N", default_value_t = 1)]
    weight: u32,
}

impl RegistrationFlags {
    /// This backend's node; `None` without a source. Only backends of a store can use sources
    /// without registration.
    pub(super) fn member(&self, address: SocketAddr, has_store: bool) -> Result<Option<Member>> {
        let Some(source) = &self.source.nodes else {
            let given = [
                ("--name", &self.name),
                ("--announce", &self.announce),
                ("--zone", &self.zone),
            ];
            return match given.into_iter().find(|(_, value)| value.is_some()) {
                Some((flag, _)) => {
                    bail!("{flag} needs --nodes etcd:URL, where this node registers itself")
                }
                None => Ok(None),
            };
        };
        if !has_store && !matches!(source, Source::Etcd { .. }) {
            bail!(
                "--nodes {source}: a backend registers itself in etcd alone; other sources are for frontends, and for \
                 backends with --store"
            );
        }
        let announced = match &self.announce {
            Some(announced) => announced.clone(),
            None if address.ip().is_unspecified() => {
                bail!("--announce HOST:PORT is needed: frontends cannot reach {address}")
            }
            None => address.to_string(),
        };
        let member = Member {
            name: self.name.clone().unwrap_or_else(|| announced.clone()),
            zone: self.zone.clone().unwrap_or_default(),
            weight: self.weight,
            ..Member::at(&announced)
        };
        member.check().map_err(anyhow::Error::msg)?;
        if let Source::Static(members) = source
            && !members.iter().any(|listed| listed.name == member.name)
        {
            let name = &member.name;
            bail!("--nodes {source}: no node is called {name}; say with --name which one this is");
        }
        Ok(Some(member))
    }

    pub(super) fn register(&self, member: Option<Member>) -> Result<Option<Registration>> {
        let (Some(source), Some(member)) = (&self.source.nodes, member) else {
            return Ok(None);
        };
        let etcd = Etcd::new(source, self.source.tls()?);
        let registration = etcd.map(|etcd| Registration::start(etcd, member));
        Ok(registration.transpose()?)
    }

    /// Watches other nodes, and stores their map in `directory`.
    pub(super) fn watch(&self, directory: &Path, absence: Absence) -> Result<Option<Watcher>> {
        self.source.watch(WatcherOptions {
            file: Some(directory.join(MAP_FILE)),
            absence,
            ..WatcherOptions::default()
        })
    }
}
