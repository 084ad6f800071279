//! Tests of the public interface.

mod documents;
mod formats;
mod repositories;
