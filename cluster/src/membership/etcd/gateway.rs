//! JSON of etcd's gateway: 64-bit numbers as strings, base64, zeros omitted.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};

/// A number as a string, or plain in some versions.
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

#[derive(Debug, Deserialize)]
pub(super) struct Range {
    #[serde(default)]
    pub(super) header: Header,
    #[serde(default)]
    pub(super) kvs: Vec<Kv>,
    #[serde(default)]
    pub(super) more: bool,
}

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
        String::from_utf8(decoded(&self.key)?).map_err(|error| error.to_string())
    }

    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, String> {
        serde_json::from_slice(&decoded(&self.value)?).map_err(|error| error.to_string())
    }
}

fn decoded(text: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(text).map_err(|error| error.to_string())
}

#[derive(Debug, Deserialize)]
pub(super) struct Lease {
    #[serde(rename = "ID", default, deserialize_with = "number")]
    pub(super) id: i64,
    #[serde(rename = "TTL", default, deserialize_with = "number")]
    pub(super) ttl: i64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Answer<T> {
    pub(super) result: T,
}

/// Transaction that writes or reads a key.
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
    pub(super) fn found(self) -> Option<Kv> {
        let mut responses = self.responses.into_iter();
        let range = responses.find_map(|response| response.response_range)?;
        range.kvs.into_iter().next().filter(|_| !self.succeeded)
    }
}
