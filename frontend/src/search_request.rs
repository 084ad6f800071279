//! Requests to the coordinator, and their clients.

use query::{Query, Scope};
use std::time::Duration;

/// A client's request for the result of a query.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// Packages that the client may see.
    pub scope: Scope,
    pub client: SearchClient,
    pub query: Query,
    /// Set of shards to search; `None` for the current one.
    pub generation: Option<String>,
    /// Longest time, capped by the configured bound; `None` for the configured one.
    pub timeout: Option<Duration>,
    /// Joins even an incomplete result over `generation`.
    pub is_resumed: bool,
}

impl SearchRequest {
    /// Request of an unknown client, over the current set of shards.
    pub fn new(scope: &Scope, query: Query) -> SearchRequest {
        SearchRequest {
            scope: scope.clone(),
            client: SearchClient::default(),
            query,
            generation: None,
            timeout: None,
            is_resumed: false,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchClient {
    /// Distinguishes clients, such as a hash of an address; 0 if unknown. No client gets all slots
    /// and queue places for heavy queries.
    pub number: u64,
    /// Route of a proxy to this frontend: first 8 digits of the search id, so requests with the id
    /// arrive here too. 0 if unknown.
    pub route: u32,
}

impl From<u64> for SearchClient {
    fn from(number: u64) -> SearchClient {
        SearchClient { number, route: 0 }
    }
}
