//! What the cache locks with. `schedules` puts loom's mutex in its place.

pub(super) use crate::lock::lock;
pub(super) use std::sync::Mutex;
