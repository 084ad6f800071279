//! Slots shared fairly among clients, with a queue.
//!
//! A free slot goes to the waiting client with the fewest slots, then in order of arrival. No
//! client but [`UNKNOWN`] gets all of several slots, which it may keep for minutes. If the
//! queue is full, a newcomer replaces the last waiter of the client with the most places, if
//! that has at least two more.
//!
//! **Invariant:** while a slot is free, no client waits that may take one more.

use cache::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

/// Stands for all unidentified clients.
pub(crate) const UNKNOWN: u64 = 0;

pub(crate) struct FairSlots {
    /// Slots of one client, except [`UNKNOWN`].
    most: usize,
    waiting_max: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    free: usize,
    taken: HashMap<u64, usize>,
    waiting: Vec<Waiter>,
}

struct Waiter {
    client: u64,
    /// Dropped if another client takes the place.
    slot: oneshot::Sender<Slot>,
}

pub(crate) struct Slot {
    of: Arc<FairSlots>,
    client: u64,
}

impl FairSlots {
    /// All slots but one may be one client's.
    pub(crate) fn new(slots: usize, waiting_max: usize) -> Arc<FairSlots> {
        FairSlots::shared(slots, slots.saturating_sub(1).max(1), waiting_max)
    }

    pub(crate) fn shared(slots: usize, most: usize, waiting_max: usize) -> Arc<FairSlots> {
        Arc::new(FairSlots {
            most,
            waiting_max,
            state: Mutex::new(State {
                free: slots,
                ..State::default()
            }),
        })
    }

    pub(crate) fn try_take(self: &Arc<Self>, client: u64) -> Option<Slot> {
        let is_taken = lock(&self.state).try_take(client, self.most);
        is_taken.then(|| self.slot(client))
    }

    /// `None` if the queue is full.
    pub(crate) async fn take(self: &Arc<Self>, client: u64) -> Option<Slot> {
        let waiting = {
            let mut state = lock(&self.state);
            if state.try_take(client, self.most) {
                drop(state);
                return Some(self.slot(client));
            }
            state.waiting.retain(|waiter| !waiter.slot.is_closed());
            if state.waiting.len() >= self.waiting_max && !state.make_place(client) {
                return None;
            }
            let (slot, waiting) = oneshot::channel();
            state.waiting.push(Waiter { client, slot });
            waiting
        };
        waiting.await.ok()
    }

    fn slot(self: &Arc<Self>, client: u64) -> Slot {
        Slot {
            of: Arc::clone(self),
            client,
        }
    }

    fn grant(self: &Arc<Self>) {
        loop {
            let Some(waiter) = lock(&self.state).next(self.most) else {
                return;
            };
            // A waiter that has left drops the slot, which returns here.
            let _ = waiter.slot.send(self.slot(waiter.client));
        }
    }
}

impl State {
    fn taken_by(&self, client: u64) -> usize {
        self.taken.get(&client).copied().unwrap_or(0)
    }

    fn may_take(&self, client: u64, most: usize) -> bool {
        self.free > 0 && (client == UNKNOWN || self.taken_by(client) < most)
    }

    fn try_take(&mut self, client: u64, most: usize) -> bool {
        let taken = self.taken_by(client);
        let may_take = self.may_take(client, most);
        if may_take {
            self.free -= 1;
            self.taken.insert(client, taken + 1);
        }
        may_take
    }

    fn give_back(&mut self, client: u64) {
        self.free += 1;
        match self.taken_by(client) {
            0 | 1 => drop(self.taken.remove(&client)),
            taken => drop(self.taken.insert(client, taken - 1)),
        }
    }

    fn next(&mut self, most: usize) -> Option<Waiter> {
        let waiting = self.waiting.iter().enumerate();
        let may_take = waiting.filter(|(_, waiter)| self.may_take(waiter.client, most));
        let (_, at) = may_take
            .map(|(at, waiter)| (self.taken_by(waiter.client), at))
            .min()?;
        let waiter = self.waiting.remove(at);
        let is_taken = self.try_take(waiter.client, most);
        debug_assert!(is_taken, "it may take one");
        Some(waiter)
    }

    /// Takes it from the client with the most, if that is fair.
    fn make_place(&mut self, client: u64) -> bool {
        let mut places: HashMap<u64, usize> = HashMap::new();
        for waiter in &self.waiting {
            *places.entry(waiter.client).or_default() += 1;
        }
        let own = places.get(&client).copied().unwrap_or(0);
        // The last arrival among the clients with the most loses its place.
        let mut last = self.waiting.iter().enumerate();
        let most = places.values().copied().max().unwrap_or(0);
        if most < own + 2 {
            return false;
        }
        let at = last.rfind(|(_, waiter)| places[&waiter.client] == most);
        let (at, _) = at.expect("a client with the most places waits");
        self.waiting.remove(at);
        true
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        lock(&self.of.state).give_back(self.client);
        self.of.grant();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    type Taking = Pin<Box<dyn Future<Output = Option<Slot>>>>;

    fn asking(slots: &Arc<FairSlots>, client: u64) -> Taking {
        let slots = Arc::clone(slots);
        Box::pin(async move { slots.take(client).await })
    }

    fn taking(slots: &Arc<FairSlots>, client: u64) -> Taking {
        let mut taking = asking(slots, client);
        assert!(poll(&mut taking).is_pending());
        taking
    }

    fn poll(taking: &mut Taking) -> Poll<Option<Slot>> {
        taking
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
    }

    fn granted(taking: &mut Taking) -> Option<Slot> {
        match poll(taking) {
            Poll::Ready(slot) => Some(slot.expect("its place was not taken")),
            Poll::Pending => None,
        }
    }

    #[test]
    fn one_client_never_has_all_slots() {
        let slots = FairSlots::new(4, 32);
        let held: Vec<_> = (0..3).map(|_| slots.try_take(1).unwrap()).collect();
        assert!(slots.try_take(1).is_none());
        let other = slots.try_take(2).expect("a slot is kept for others");
        drop((held, other));
        let unknown: Vec<_> = (0..4).filter_map(|_| slots.try_take(UNKNOWN)).collect();
        assert_eq!(unknown.len(), 4);
        let single = FairSlots::new(1, 1);
        assert!(single.try_take(1).is_some());
    }

    #[test]
    fn a_slot_goes_to_the_client_that_has_the_fewest() {
        let slots = FairSlots::new(3, 32);
        let mut held = vec![slots.try_take(1).unwrap(), slots.try_take(1).unwrap()];
        held.push(slots.try_take(2).unwrap());
        let mut greedy: Vec<_> = (0..10).map(|_| taking(&slots, 1)).collect();
        let mut modest = taking(&slots, 3);
        drop(held.remove(0));
        let slot = granted(&mut modest).expect("before those that came earlier");
        assert!(greedy.iter_mut().all(|each| granted(each).is_none()));
        drop(slot);
        assert!(granted(&mut greedy[0]).is_some(), "no other client waits");
    }

    #[test]
    fn one_client_cannot_hold_the_whole_queue() {
        let slots = FairSlots::new(1, 4);
        let _held = slots.try_take(1).unwrap();
        let mut greedy: Vec<_> = (0..4).map(|_| taking(&slots, 1)).collect();
        assert!(matches!(poll(&mut asking(&slots, 1)), Poll::Ready(None)));
        let _first = taking(&slots, 2);
        assert!(
            matches!(poll(&mut greedy[3]), Poll::Ready(None)),
            "it came last"
        );
        let _second = taking(&slots, 2);
        assert!(matches!(poll(&mut greedy[2]), Poll::Ready(None)));
        assert!(greedy[..2].iter_mut().all(|each| poll(each).is_pending()));
        assert!(matches!(poll(&mut asking(&slots, 2)), Poll::Ready(None)));
    }

    #[test]
    fn a_slot_of_a_waiter_that_left_is_not_lost() {
        let slots = FairSlots::new(1, 4);
        let held = slots.try_take(1).unwrap();
        let gone = taking(&slots, 2);
        let mut next = taking(&slots, 3);
        drop(gone);
        drop(held);
        let slot = granted(&mut next).expect("the one that left is passed over");
        drop(slot);
        // Also if it leaves after the grant.
        let held = slots.try_take(1).unwrap();
        let gone = taking(&slots, 2);
        drop(held);
        drop(gone);
        assert!(slots.try_take(3).is_some());
        assert!(lock(&slots.state).taken.is_empty());
    }
}
