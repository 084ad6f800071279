//! Shards that the node list assigns to this backend.

use crate::placing::Placing;
use cluster::membership::Member;
use cluster::membership::watcher::Watcher;
use cluster::placement::Placement;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use store::{Generation, NodeStatus, Objects, Share};

/// Time for frontends to notice new owners before a shard is dropped.
const SETTLE: Duration = Duration::from_secs(5);

pub(super) struct Neighbours {
    name: String,
    members: Arc<Mutex<Vec<Member>>>,
    /// Ready nodes: generation, map, and since when.
    ready: RefCell<BTreeMap<String, (u64, String, Instant)>>,
}

impl Neighbours {
    /// Follows the node list on the current runtime.
    pub(super) fn follow(name: String, watcher: Watcher) -> Neighbours {
        let members = Arc::new(Mutex::new(watcher.map().members.clone()));
        let shared = Arc::clone(&members);
        tokio::spawn(watcher.run(
            |_| false,
            move |map| {
                *shared.lock().unwrap_or_else(PoisonError::into_inner) = map.members.clone();
            },
        ));
        Neighbours {
            name,
            members,
            ready: RefCell::default(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// `None` while this node is not listed.
    pub(super) fn placing(&self) -> Option<Placing> {
        let members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        let is_listed = members.iter().any(|member| member.name == self.name);
        is_listed.then(|| Placing::new(&*members))
    }

    pub(super) fn share<'a>(&'a self, placing: &'a Placing, objects: &'a Objects) -> NodeShare<'a> {
        NodeShare {
            neighbours: self,
            placing,
            objects,
            placement: OnceCell::new(),
            said: RefCell::default(),
        }
    }
}

pub(super) struct NodeShare<'a> {
    neighbours: &'a Neighbours,
    placing: &'a Placing,
    objects: &'a Objects,
    placement: OnceCell<Placement>,
    /// Cached readiness of nodes.
    said: RefCell<BTreeMap<String, bool>>,
}

impl NodeShare<'_> {
    fn placement(&self, generation: &Generation) -> &Placement {
        self.placement
            .get_or_init(|| self.placing.placement(generation.replicas))
    }

    /// True if a node has had its share for `SETTLE`.
    fn has_settled(&self, node: &str, generation: &Generation) -> bool {
        let mut said = self.said.borrow_mut();
        let known = said.entry(node.to_owned());
        *known.or_insert_with(|| self.ask(node, generation.number))
    }

    fn ask(&self, node: &str, generation: u64) -> bool {
        let map = self.placing.hash();
        let said = match NodeStatus::of(self.objects, node) {
            Ok(Some((said, _))) => said,
            // Unreadable answers are not cached.
            Ok(None) | Err(_) => return false,
        };
        let mut ready = self.neighbours.ready.borrow_mut();
        if said.generation != generation || said.map != map {
            ready.remove(node);
            return false;
        }
        match ready.get(node) {
            Some((known, on, since)) if *known == generation && on == map => {
                since.elapsed() >= SETTLE
            }
            _ => {
                let now = (generation, map.to_owned(), Instant::now());
                ready.insert(node.to_owned(), now);
                false
            }
        }
    }
}

impl Share for NodeShare<'_> {
    fn owns(&self, generation: &Generation, group: &[u8; 32]) -> bool {
        let owners = self.placement(generation).owners(group);
        (owners.iter()).any(|owner| owner.name == self.neighbours.name)
    }

    /// True if all owners have it, so moving never reduces replicas.
    fn is_ready(&self, generation: &Generation, group: &[u8; 32]) -> bool {
        let owners = self.placement(generation).owners(group);
        !owners.is_empty() && (owners.iter()).all(|owner| self.has_settled(&owner.name, generation))
    }
}
