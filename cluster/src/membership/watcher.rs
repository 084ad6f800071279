//! Polls a source, keeps the map on disk, publishes changes.

#[cfg(feature = "dns")]
use super::dns::Names;
use super::etcd::Etcd;
use super::view::{Absence, Frozen, NodeMap, View, WouldLose};
use super::{Member, Source, map_file};
use std::collections::BTreeSet;
use std::mem::discriminant;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::spawn_blocking;
use ureq::tls::TlsConfig;

/// Interval of time checks.
const TICK: Duration = Duration::from_secs(1);

type Said = Result<Vec<Member>, String>;

#[derive(Clone, Debug, Default)]
pub struct WatcherOptions {
    pub file: Option<PathBuf>,
    /// The first nonempty list replaces the map.
    pub accepts: bool,
    /// For etcd over HTTPS.
    pub tls: Option<TlsConfig>,
    /// Removal of unlisted nodes.
    pub absence: Absence,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WatchError(String);

#[derive(Debug)]
pub struct Watcher {
    kind: &'static str,
    source: String,
    file: Option<PathBuf>,
    said: Receiver<Said>,
    view: View,
    map: NodeMap,
    error: Option<String>,
}

impl Watcher {
    /// Starts polling, with the kept map.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(source: &Source, options: WatcherOptions) -> Result<Watcher, WatchError> {
        let name = source.to_string();
        let kept = match &options.file {
            // The command line is always there.
            Some(path) if !matches!(source, Source::Static(_)) => {
                let kept = map_file::read(path, &name);
                kept.unwrap_or_else(|error| {
                    tracing::warn!(path = %path.display(), reason = %error, "the kept map of nodes is ignored");
                    Vec::new()
                })
            }
            _ => Vec::new(),
        };
        let (sender, said) = mpsc::channel(1);
        let kind = ask(source, options.tls, sender)?;
        let view = View::new(kept, options.accepts, options.absence);
        Ok(Watcher {
            kind,
            source: name,
            file: options.file,
            said,
            map: view.map(),
            view,
            error: None,
        })
    }

    /// Waits for a list up to `time`; returns the map, maybe the kept one.
    pub async fn first(&mut self, time: Duration) -> &NodeMap {
        let deadline = tokio::time::Instant::now() + time;
        while !self.map.is_confirmed {
            match tokio::time::timeout_at(deadline, self.said.recv()).await {
                Ok(Some(said)) => {
                    self.take(said, &|_| false);
                    self.set_map().await;
                }
                Ok(None) | Err(_) => break,
            }
        }
        &self.map
    }

    pub fn map(&self) -> &NodeMap {
        &self.map
    }

    /// Reason for no list.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Publishes changes of the map, forever.
    pub async fn run(
        mut self,
        would_lose: impl Fn(&BTreeSet<&str>) -> bool,
        mut publish: impl FnMut(&NodeMap),
    ) {
        let mut ticks = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                Some(said) = self.said.recv() => self.take(said, &would_lose),
                _ = ticks.tick() => self.view.on_time(Instant::now(), &would_lose),
            }
            if self.set_map().await {
                publish(&self.map);
            }
        }
    }

    fn take(&mut self, said: Said, would_lose: WouldLose<'_>) {
        let taken = said.and_then(|list| {
            let taken = self.view.on_list(list, Instant::now(), would_lose);
            taken.map_err(|error| error.to_string())
        });
        let error = taken.err();
        if error.is_some() {
            metrics::counter!("trawl_cluster_source_errors_total", "source" => self.kind)
                .increment(1);
        }
        match (&self.error, &error) {
            (None, Some(reason)) => {
                tracing::warn!(
                    source = self.source,
                    reason,
                    "no list of nodes; the last one is kept"
                );
            }
            (Some(_), None) => tracing::info!(source = self.source, "nodes are listed again"),
            _ => {}
        }
        self.error = error;
    }

    /// Updates, logs and keeps the map; true on change.
    async fn set_map(&mut self) -> bool {
        let map = self.view.map();
        if map == self.map {
            return false;
        }
        log_changes(&self.map, &map);
        let nodes = |state: &'static str| metrics::gauge!("trawl_cluster_nodes", "state" => state);
        nodes("listed").set((map.members.len() - map.absent.len()) as f64);
        nodes("absent").set(map.absent.len() as f64);
        metrics::gauge!("trawl_cluster_frozen").set(f64::from(u8::from(map.frozen.is_some())));
        if map.members != self.map.members && self.kind != "static" {
            self.keep(map.members.clone()).await;
        }
        self.map = map;
        true
    }

    async fn keep(&self, members: Vec<Member>) {
        let Some(path) = self.file.clone() else {
            return;
        };
        let source = self.source.clone();
        let shown = path.display().to_string();
        let kept = spawn_blocking(move || map_file::write(&path, &source, &members)).await;
        if let Ok(Err(error)) = kept {
            tracing::warn!(path = shown, %error, "cannot keep the map of nodes");
        }
    }
}

/// Starts polling; returns the kind of source.
fn ask(
    source: &Source,
    tls: Option<TlsConfig>,
    sender: Sender<Said>,
) -> Result<&'static str, WatchError> {
    match source {
        Source::Static(members) => {
            let sent = sender.try_send(Ok(members.clone()));
            sent.expect("the channel is empty");
            Ok("static")
        }
        #[cfg(not(feature = "dns"))]
        Source::Dns { .. } => Err(WatchError(
            "this build has no DNS; build Trawl with `--features dns`".to_owned(),
        )),
        #[cfg(feature = "dns")]
        Source::Dns { names, server } => {
            let names = Names::new(names, *server);
            let names =
                names.map_err(|error| WatchError(format!("the DNS is not configured: {error}")))?;
            tokio::spawn(names.follow(sender));
            Ok("dns")
        }
        Source::Etcd { .. } => {
            let etcd = Etcd::new(source, tls).expect("the source is etcd");
            let thread = std::thread::Builder::new().name("etcd".to_owned());
            let spawned =
                thread.spawn(move || etcd.follow(|said| sender.blocking_send(said).is_ok()));
            spawned.map_err(|error| WatchError(format!("cannot start a thread: {error}")))?;
            Ok("etcd")
        }
    }
}

fn log_changes(before: &NodeMap, now: &NodeMap) {
    let has = |map: &NodeMap, member: &Member| map.members.iter().any(|it| it.name == member.name);
    for member in now.members.iter().filter(|it| !has(before, it)) {
        tracing::info!(node = member.name, address = member.address, "node joined");
    }
    for member in before.members.iter().filter(|it| !has(now, it)) {
        tracing::info!(node = member.name, "node left");
    }
    for node in now.absent.difference(&before.absent) {
        tracing::info!(node, "node is not listed any more");
    }
    let kind = |frozen: &Option<Frozen>| frozen.as_ref().map(discriminant);
    if kind(&before.frozen) == kind(&now.frozen) {
        return;
    }
    match &now.frozen {
        Some(reason) => tracing::warn!(
            %reason,
            "the map of nodes is frozen: no node is removed until they come back; start with --accept-nodes to go by \
             what is listed"
        ),
        None => tracing::info!("the map of nodes is not frozen any more"),
    }
}
