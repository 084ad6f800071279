//! Id of an object: 20 or 32 bytes.

use std::fmt;

/// Id of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub(crate) gix::ObjectId);

impl ObjectId {
    /// Takes 20 or 32 bytes.
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
