//! HTTP, without any interface: connections (`server`, `client`), limits and checks of requests
//! (`request_*`, `hosts`, `guard`, `watched`, `cors`) and their parts (`path`, `cookies`), parts of
//! responses (`conditional`, `compression`, `stream_body`), values of pages (`site`), and addresses
//! that all interfaces share (`assets`, `health`, `links`).

pub(crate) mod assets;
pub(crate) mod base_path;
mod blocking;
pub(crate) mod body_workers;
pub(crate) mod client;
pub(crate) mod compression;
pub(crate) mod conditional;
mod cookies;
pub(crate) mod cors;
pub(crate) mod guard;
pub(crate) mod health;
pub(crate) mod hosts;
mod kept_body;
pub(crate) mod links;
pub(crate) mod path;
pub(crate) mod request_body;
pub(crate) mod request_id;
pub(crate) mod request_limits;
mod request_trace;
pub(crate) mod response;
pub(crate) mod server;
pub(crate) mod site;
pub(crate) mod stream_body;
mod theme;
pub(crate) mod watched;

pub(crate) use blocking::{blocking, rendering};
