//! State shared by handlers. They import this, never the router.

use crate::access::Access;
use crate::authorization::Authorization;
use crate::base_path::BasePath;
pub(crate) use crate::blocking::{blocking, rendering};
use crate::colour_cache::ColourCache;
use crate::link_secrets::LinkSecrets;
use crate::rendered::RenderedAnswers;
use frontend::{BackendStatus, Coordinator, Overlaps, Scope};
use metrics_exporter_prometheus::PrometheusHandle;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, Semaphore};

/// Life of an execution without a client, which may come back by its id.
pub(crate) const KEEP: Duration = Duration::from_secs(30);

/// End of a probe, and its failure.
pub(crate) type Probed = (Instant, Option<String>);

/// One pointer, since every layer clones it for every request.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) coordinator: Arc<Coordinator>,
    /// Path below which pages are shown.
    pub(crate) base_path: BasePath,
    pub(crate) dcs_api_keys: Arc<[String]>,
    pub(crate) access: Option<Arc<Access>>,
    /// `None`: all callers see everything.
    pub(crate) authorization: Option<Arc<Authorization>>,
    /// Answers show backend addresses: for operators.
    pub(crate) shows_addresses: bool,
    pub(crate) links: LinkSecrets,
    pub(crate) metrics: PrometheusHandle,
    pub(crate) exports: Arc<Semaphore>,
    /// Wait of a page for the whole answer, before the first matches are shown.
    pub(crate) first_matches_after: Duration,
    pub(crate) rendered: Arc<RenderedAnswers>,
    pub(crate) colours: Arc<ColourCache>,
    /// Last probe of `/readyz`. Locked while probing: single flight.
    pub(crate) last_probe: Arc<Mutex<Option<Probed>>>,
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl App {
    pub(crate) fn new(shared: Shared) -> App {
        App(Arc::new(shared))
    }

    /// Uses the names that this interface shows.
    pub(crate) fn backends(&self, scope: &Scope) -> Vec<BackendStatus> {
        let mut backends = self.coordinator.backends(scope);
        if self.shows_addresses {
            for backend in &mut backends {
                backend.name.clone_from(&backend.address);
            }
        }
        backends
    }

    pub(crate) fn overlaps(&self, scope: &Scope) -> Arc<Overlaps> {
        let overlaps = self.coordinator.overlaps(scope);
        if !self.shows_addresses || overlaps.packages.is_empty() {
            return overlaps;
        }
        let backends = self.coordinator.backends(scope).into_iter();
        let addresses: HashMap<_, _> = backends.map(|it| (it.name, it.address)).collect();
        let mut overlaps = Overlaps::clone(&overlaps);
        for package in &mut overlaps.packages {
            let names = [&mut package.searched]
                .into_iter()
                .chain(&mut package.superseded);
            for name in names {
                if let Some(address) = addresses.get(name) {
                    name.clone_from(address);
                }
            }
        }
        Arc::new(overlaps)
    }
}
