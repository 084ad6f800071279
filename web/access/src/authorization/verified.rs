//! A verified token, and the scope of its bearer.

use super::globs::NameGlobs;
use super::visible::{NameSplit, Remembered};
use frontend::Scope;
use std::time::UNIX_EPOCH;

/// Tolerated clock difference to the signer.
pub(super) const LEEWAY_S: u64 = 60;

#[derive(Debug)]
pub(super) struct Verified {
    globs: NameGlobs,
    /// Seconds since 1970.
    expires: u64,
    /// Keys that verified it.
    pub(super) epoch: u64,
    scope: Remembered,
}

impl Verified {
    pub(super) fn new(globs: NameGlobs, expires: u64, epoch: u64) -> Verified {
        Verified {
            globs,
            expires,
            epoch,
            scope: Remembered::default(),
        }
    }

    pub(super) fn has_expired(&self) -> bool {
        let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
        now > self.expires.saturating_add(LEEWAY_S)
    }

    pub(super) fn sees(&self, name: &[u8]) -> bool {
        self.globs.matches(name)
    }

    pub(super) fn scope(&self, split: &NameSplit) -> Scope {
        self.scope
            .get_or_make(split, |_, name| self.globs.matches(name))
    }
}
