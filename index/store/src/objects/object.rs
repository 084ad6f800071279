//! Shared by both kinds of stores: their operations, list entries and versions.

use crate::error::Result;
use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// The manifest of a million packages has about 80 MB.
pub(super) const SMALL_BYTES_MAX: u64 = 1 << 30;

/// Differs for different contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(pub(super) String);

pub trait Storage: Debug + Send + Sync {
    fn url(&self) -> String;

    /// `None` if missing.
    fn read(&self, name: &str) -> Result<Option<(Vec<u8>, Version)>>;

    /// Writes from `offset` on; false without the object.
    fn download(&self, name: &str, offset: u64, out: &mut dyn Write) -> Result<bool>;

    fn upload(&self, name: &str, from: &mut dyn Read, bytes: u64) -> Result<()>;

    /// Writes a small object if its version is `expected`, or it is missing if that is `None`.
    /// Returns the new version; `None` if the condition does not hold.
    fn swap(&self, name: &str, expected: Option<&Version>, bytes: &[u8])
    -> Result<Option<Version>>;

    /// `None` if missing.
    fn head(&self, name: &str) -> Result<Option<Object>>;

    /// Directly below a name, ascending.
    fn list(&self, below: &str) -> Result<Vec<Object>>;

    fn delete(&self, name: &str) -> Result<()>;

    /// Removes leftovers from before `before`.
    fn remove_incomplete(&self, before: SystemTime) -> Result<()>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub name: String,
    pub bytes: u64,
    /// Write time, by the store's clock.
    pub modified: SystemTime,
}

pub(crate) fn random_name() -> String {
    let mut random = [0; 16];
    getrandom::fill(&mut random).expect("the system has random numbers");
    format!("{:032x}", u128::from_le_bytes(random))
}

pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

pub(super) fn read_small(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(SMALL_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SMALL_BYTES_MAX {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "this object should be small, but has more than 1 GiB",
        ));
    }
    Ok(bytes)
}
