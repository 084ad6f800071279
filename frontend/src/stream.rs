//! What one stream has sent so far, between the frames (`peers`) and the execution that they belong
//! to.
//!
//! [`account`] checks that nothing was lost, [`collector`] keeps the pointers within a budget of
//! [`memory`], and [`stats`] is what other threads see of a stream while it runs.

pub(crate) mod account;
pub(crate) mod collector;
pub(crate) mod memory;
pub(crate) mod stats;
