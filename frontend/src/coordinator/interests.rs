//! Client interests by id, so that a client can return to its search.
//!
//! Evicted in LRU order. An interest keeps no execution alive: an evicted result is searched for
//! again.

use crate::execution::event::ClientKey;
use crate::execution::handle::Interest;
use clru::CLruCache;
use query::Scope;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Bound on interests. Each search request adds one of at most about 5 KiB, mostly the query.
const INTERESTS_MAX: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

const ID_LEN: usize = 32;

pub(super) struct Interests(CLruCache<ClientKey, Arc<Interest>>);

impl Default for Interests {
    fn default() -> Interests {
        Interests(CLruCache::new(INTERESTS_MAX))
    }
}

impl Interests {
    pub(super) fn insert(&mut self, interest: Arc<Interest>) {
        self.0.put(interest.key, interest);
    }

    pub(super) fn get(&mut self, scope: &Scope, id: &str) -> Option<Arc<Interest>> {
        let is_id = id.len() == ID_LEN && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let key = ClientKey::from_str_radix(id, 16).ok().filter(|_| is_id)?;
        let known = self.0.peek(&key);
        known.filter(|interest| interest.scope == *scope)?;
        self.0.get(&key).cloned()
    }

    pub(super) fn forget(&mut self, key: ClientKey) {
        self.0.pop(&key);
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
        for _ in 0..INTERESTS_MAX.get() - 2 {
            interests.insert(interest().1);
        }
        assert!(interests.get(&Scope::everything(), &first).is_some());
        interests.insert(interest().1);
        assert!(
            interests.get(&Scope::everything(), &first).is_some()
                && interests.get(&Scope::everything(), &second).is_none()
        );
        assert_eq!(interests.0.len(), INTERESTS_MAX.get());
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
