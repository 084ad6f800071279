//! Shared by both kinds of stores: list entries, versions, and reading small objects.

use std::io::{self, Read};
use std::time::SystemTime;

/// The manifest of a million packages has about 80 MB.
pub(super) const SMALL_BYTES_MAX: u64 = 1 << 30;

/// Differs for different contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(pub(super) String);

/// Result of a conditional write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// Written, with this version.
    Done(Version),
    /// The condition fails.
    Refused,
}

/// Listed object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Object name.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Write time, by the store's clock.
    pub modified: SystemTime,
}

pub(crate) fn random_name() -> String {
    let mut random = [0; 16];
    getrandom::fill(&mut random).expect("the system has random numbers");
    format!("{:032x}", u128::from_le_bytes(random))
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
