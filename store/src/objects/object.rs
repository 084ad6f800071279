//! Shared by both kinds of stores: list entries, versions, and reading small objects.

use std::io::{self, Read};
use std::time::SystemTime;

/// Maximum bytes of an object read as a whole. The manifest of a million packages has about 80 MB.
pub(super) const SMALL_BYTES_MAX: u64 = 1 << 30;

/// Version of a mutable object. Different contents have different versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(pub(super) String);

/// Result of a conditional write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// The object has this version now.
    Done(Version),
    /// The condition does not hold.
    Refused,
}

/// Entry of a list of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Name of the object.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Time of the write, by the clock of the store.
    pub modified: SystemTime,
}

/// Returns a unique name.
pub(crate) fn random_name() -> String {
    let mut random = [0; 16];
    getrandom::fill(&mut random).expect("the system has random numbers");
    format!("{:032x}", u128::from_le_bytes(random))
}

/// Copies at most [`SMALL_BYTES_MAX`] bytes into memory.
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
