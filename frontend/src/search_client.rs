//! Who searches, as far as the coordinator knows clients.

/// A client of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchClient {
    /// Any number that distinguishes those who share this frontend, such as a hash of an address; 0 if that is unknown.
    /// One client does not get all slots and places in the queue for heavy queries.
    pub number: u64,
    /// By what a proxy chose this frontend: the first 8 digits of the id of the search, so that requests with the id
    /// reach this frontend, too. 0 if that is unknown.
    pub route: u32,
}

impl From<u64> for SearchClient {
    fn from(number: u64) -> SearchClient {
        SearchClient { number, route: 0 }
    }
}
