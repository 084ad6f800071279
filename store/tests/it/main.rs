//! What a store must do, whatever its objects are in. By default that is a directory; with `TRAWL_TEST_STORE=s3://…` it is
//! that bucket (see `scripts/object_storage`).

mod claims;
mod indexers;
mod maintenance;
mod objects;
mod world;
