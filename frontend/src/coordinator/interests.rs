//! Client interests by id, so that a client can return to its search.
//!
//! Evicted in LRU order. An interest keeps no execution alive: an evicted result is searched for
//! again.

use crate::execution::event::ClientKey;
use crate::execution::handle::Interest;
use query::Scope;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Bound on interests. Each search request adds one of at most about 5 KiB, mostly the query.
const INTERESTS_MAX: usize = 4096;

const ID_LEN: usize = 32;

#[derive(Default)]
pub(super) struct Interests {
    by_key: HashMap<ClientKey, (u64, Arc<Interest>)>,
    by_use: BTreeMap<u64, ClientKey>,
    uses: u64,
}

impl Interests {
    pub(super) fn insert(&mut self, interest: Arc<Interest>) {
        let key = interest.key;
        self.remove(key);
        self.uses += 1;
        self.by_use.insert(self.uses, key);
        self.by_key.insert(key, (self.uses, interest));
        if self.by_key.len() > INTERESTS_MAX
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.by_key.remove(&oldest);
        }
    }

    pub(super) fn get(&mut self, scope: &Scope, id: &str) -> Option<Arc<Interest>> {
        let is_id = id.len() == ID_LEN && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let key = ClientKey::from_str_radix(id, 16).ok().filter(|_| is_id)?;
        let (_, interest) = self.by_key.get(&key)?;
        let interest = Arc::clone(interest);
        if interest.scope != *scope {
            return None;
        }
        self.insert(Arc::clone(&interest));
        Some(interest)
    }

    pub(super) fn forget(&mut self, id: &str) {
        if let Ok(key) = ClientKey::from_str_radix(id, 16) {
            self.remove(key);
        }
    }

    fn remove(&mut self, key: ClientKey) -> Option<Arc<Interest>> {
        let (used, interest) = self.by_key.remove(&key)?;
        self.by_use.remove(&used);
        Some(interest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_request::SearchClient;
    use query::{Query, Scope};
    use schema::message::{Expr, Pattern};

    fn interest() -> (String, Arc<Interest>) {
        let pattern = Pattern {
            text: "x".to_owned(),
            ..Pattern::default()
        };
        let query = Query::new(Expr::Pattern(pattern), 0).unwrap();
        let interest = Interest::new(
            SearchClient::default(),
            query,
            Scope::everything(),
            "g".to_owned(),
        );
        (format!("{:032x}", interest.key), interest)
    }

    #[test]
    fn the_interest_that_was_used_least_recently_is_forgotten() {
        let (mut interests, (first, kept)) = (Interests::default(), interest());
        interests.insert(kept);
        let (second, forgotten) = interest();
        interests.insert(forgotten);
        for _ in 0..INTERESTS_MAX - 2 {
            interests.insert(interest().1);
        }
        assert!(interests.get(&Scope::everything(), &first).is_some());
        interests.insert(interest().1);
        assert!(
            interests.get(&Scope::everything(), &first).is_some()
                && interests.get(&Scope::everything(), &second).is_none()
        );
        assert_eq!(interests.by_key.len(), INTERESTS_MAX);
        assert_eq!(interests.by_use.len(), INTERESTS_MAX);
    }

    #[test]
    fn an_id_is_random_and_has_32_digits() {
        let ids: std::collections::HashSet<_> = (0..100).map(|_| interest().0).collect();
        assert_eq!(ids.len(), 100);
        let mut interests = Interests::default();
        for bad in [
            "",
            "0123456789abcdef",
            "+",
            &"g".repeat(32),
            &"0".repeat(33),
        ] {
            assert!(interests.get(&Scope::everything(), bad).is_none(), "{bad}");
        }
    }
}
