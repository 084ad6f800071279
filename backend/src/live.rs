//! Served shards, and their views for callers.

mod live_shards;
mod views;

pub use live_shards::{Generation, LiveShards};
