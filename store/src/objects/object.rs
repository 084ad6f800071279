//! What both kinds of stores have: an object of a list, its version, and reading a small one.

use std::io::{self, Read};
use std::time::SystemTime;

/// Bytes of an object that is read as a whole, at most. The manifest of a million packages has about 80 MB.
pub(super) const SMALL_BYTES_MAX: u64 = 1 << 30;

/// The version of an object that may change. Versions of different contents differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(pub(super) String);

/// What became of an object that was to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// It has this version now.
    Done(Version),
    /// There is another one.
    Refused,
}

/// An object of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was written, by the clock of the store.
    pub modified: SystemTime,
}

/// Returns a name that no other object has.
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
