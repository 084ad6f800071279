//! Look-ups in repositories made with `git`, which must be installed.

mod support;

mod blame;
mod commits;
mod hostile;
mod hunks;
mod logs;
mod sources;
mod stores;
mod trees;
