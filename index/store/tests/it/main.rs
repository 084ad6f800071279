//! Tests of a store in a directory, or in a bucket with `TRAWL_TEST_STORE=s3://…` (see
//! `scripts/faults/object_storage`).

mod claims;
mod indexers;
mod maintenance;
mod objects;
mod world;
