//! End-to-end tests of the binary: processes, sockets, exit statuses.
//!
//! Processes of a test share a [`home::Home`], use free ports of 127.0.0.1, and end with it.

mod api_commands;
mod as_ripgrep;
mod authorization;
mod broken_pipe;
mod certificate_files;
mod cluster;
mod command_errors;
mod commits;
mod config;
mod dcs_api;
mod definitions;
mod disconnects;
mod draining;
mod exit_status;
mod file_selection;
mod filters;
mod frontend_restart;
mod git_sources;
mod grep;
mod grep_index;
mod home;
mod http;
mod http_errors;
mod https;
mod index_build;
mod index_update;
mod inspect;
mod keys;
mod links;
mod log;
mod long_lines;
mod lost_backend;
mod lsp;
mod malformed_answers;
mod malformed_requests;
mod mcp;
mod metrics;
mod mirror;
mod mutual_tls;
mod nodes;
mod output_bytes;
mod output_modes;
mod overlap;
mod packaging;
mod precise;
mod process;
mod proxy;
mod random;
mod random_scopes;
mod random_sharding;
mod raw_files;
mod renamed_flags;
mod resumed;
mod revisions;
mod scopes;
mod serve;
mod sharding;
mod shared_cache;
mod stalled_backend;
mod store;
mod streaming;
mod symbols;
mod terminal;
mod text_output;
mod traces;
mod truncated_shard;
mod unwritable_home;
mod watch;
mod work_tree;

use std::time::Duration;
pub(crate) use testkit::poll;

/// Ample on a busy machine.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(60);
