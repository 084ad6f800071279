//! Access to a server: sender of a request, and the packages that it may see.
//!
//! A client sends its key with each request, or enters it on a page and then sends a signed cookie
//! ([`Access`]). A service of the operator or signed tokens decide about packages
//! ([`Authorization`]), and a [`Viewer`] is a caller with its scope. [`LinkSecrets`] sign links.
//! The addresses that need a key, and the answers to refused requests, belong to `web`.
//!
//! **Invariant:** only the hash of a key is stored, and a key is never logged.
//!
//! ```
//! let new = access::NewKey::random("ci")?;
//! assert!(new.line.starts_with("ci blake3:") && !new.line.contains(&new.key));
//! # Ok::<(), access::BadName>(())
//! ```

mod authorization;
mod keys;
mod link_secrets;
mod sender;
mod viewer;

pub use authorization::{
    Authorization, AuthorizationOptions, BadAuthorization, Caller, Refusal, credential, describe,
};
pub use keys::{ApiKeys, BadName, KeyName, NewKey};
pub use link_secrets::{LinkKeys, LinkSecrets, SIGNATURE_BYTES};
pub use sender::{Access, COOKIE_LIFETIME, CookieSecret, Sender};
pub use viewer::Viewer;
pub use watched_file::BadFile;
