//! Tests of the public interface.

mod formats;
