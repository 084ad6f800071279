//! The JSON of etcd's gateway: numbers of 64 bits are strings, keys and values are base64, what is 0 is left out.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};

/// A number that is written as a string, or as a number by some versions.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Text(String),
        Plain(i64),
    }
    match Number::deserialize(from)? {
        Number::Text(text) => text.parse().map_err(D::Error::custom),
        Number::Plain(number) => Ok(number),
    }
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Header {
    #[serde(default, deserialize_with = "number")]
    pub(super) revision: i64,
}

/// The answer to a range of keys.
#[derive(Debug, Deserialize)]
pub(super) struct Range {
    #[serde(default)]
    pub(super) header: Header,
    #[serde(default)]
    pub(super) kvs: Vec<Kv>,
    #[serde(default)]
    pub(super) more: bool,
}

/// A key and its value.
#[derive(Debug, Deserialize)]
pub(super) struct Kv {
    key: String,
    #[serde(default)]
    value: String,
    #[serde(default, deserialize_with = "number")]
    pub(super) mod_revision: i64,
    #[serde(default, deserialize_with = "number")]
    pub(super) lease: i64,
}

impl Kv {
    pub(super) fn key(&self) -> Result<String, String> {
        let bytes = STANDARD
            .decode(&self.key)
            .map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }

    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, String> {
        let bytes = STANDARD
            .decode(&self.value)
            .map_err(|error| error.to_string())?;
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())
    }
}

/// A lease, and the seconds that are left of it.
#[derive(Debug, Deserialize)]
pub(super) struct Lease {
    #[serde(rename = "ID", default, deserialize_with = "number")]
    pub(super) id: i64,
    #[serde(rename = "TTL", default, deserialize_with = "number")]
    pub(super) ttl: i64,
}

/// An answer of a stream.
#[derive(Debug, Deserialize)]
pub(super) struct Answer<T> {
    pub(super) result: T,
}

/// The answer to a transaction that writes a key, or reads it.
#[derive(Debug, Deserialize)]
pub(super) struct Txn {
    #[serde(default)]
    pub(super) succeeded: bool,
    #[serde(default)]
    responses: Vec<Response>,
}

#[derive(Debug, Deserialize)]
struct Response {
    response_range: Option<Range>,
}

impl Txn {
    /// The key that was read, if it was not written.
    pub(super) fn found(self) -> Option<Kv> {
        let mut responses = self.responses.into_iter();
        let range = responses.find_map(|response| response.response_range)?;
        range.kvs.into_iter().next().filter(|_| !self.succeeded)
    }
}
