//! Locks of the cache, replaced by loom's in `schedules`.

pub(super) use crate::lock::lock;
pub(super) use std::sync::Mutex;
