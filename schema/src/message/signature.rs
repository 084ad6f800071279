//! Author or committer of a change, with the time.

use super::codec::MessageError;
use crate::trawl_capnp::signature;

/// Person and time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Name of the person.
    pub name: Vec<u8>,
    /// The address.
    pub email: Vec<u8>,
    /// Seconds since 1970 in UTC, 0 if unreadable.
    pub seconds: i64,
    /// Minutes east of UTC.
    pub offset_minutes: i32,
}

impl Signature {
    pub(super) fn encode_to(&self, mut to: signature::Builder<'_>) {
        to.set_name(&self.name);
        to.set_email(&self.email);
        to.set_seconds(self.seconds);
        to.set_offset_minutes(self.offset_minutes);
    }

    pub(super) fn decode_from(from: signature::Reader<'_>) -> Result<Self, MessageError> {
        Ok(Signature {
            name: from.get_name()?.to_vec(),
            email: from.get_email()?.to_vec(),
            seconds: from.get_seconds(),
            offset_minutes: from.get_offset_minutes(),
        })
    }
}
