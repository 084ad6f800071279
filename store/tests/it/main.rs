//! Tests of a store, with any kind of objects: a directory by default, a bucket with
//! `TRAWL_TEST_STORE=s3://…` (see `scripts/object_storage`).

mod claims;
mod indexers;
mod maintenance;
mod objects;
mod world;
