//! The id of an object, as callers keep it: 20 or 32 bytes.

use std::fmt;

/// The id of an object of a repository.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub(crate) gix::ObjectId);

impl ObjectId {
    /// Returns the id that these bytes are, if they are 20 or 32.
    pub fn from_bytes(bytes: &[u8]) -> Option<ObjectId> {
        gix::ObjectId::try_from(bytes).ok().map(ObjectId)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
