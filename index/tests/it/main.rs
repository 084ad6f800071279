//! Tests of the public interface.

mod formats;
mod repositories;
