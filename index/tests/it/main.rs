//! The crate from outside: what it must go on doing.

mod formats;
