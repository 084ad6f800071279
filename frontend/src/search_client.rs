//! Clients as the coordinator knows them.

/// A client of a search.
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
