//! Asks for lists, as often as something changes.

use super::Etcd;
use crate::membership::Member;
use crate::membership::pace::{Backoff, jittered};
use std::thread;
use std::time::Duration;

/// The pause between two lists at least: events come in bursts.
const LIST_EVERY_MIN: Duration = Duration::from_millis(100);

/// The pause if no watch can be opened.
const LIST_EVERY_MAX: Duration = Duration::from_secs(1);

/// Sends lists, and reasons why there is none, until `send` returns false. A watch is open before the list is asked for,
/// so that no change is missed between the two; after any event the list is asked for again.
pub(in crate::membership) fn follow(
    etcd: &Etcd,
    mut send: impl FnMut(Result<Vec<Member>, String>) -> bool,
) {
    let (mut backoff, mut revision, mut malformed) = (Backoff::default(), 0, Vec::new());
    loop {
        let watch = etcd.watch();
        let listing = match etcd.list() {
            Ok(listing) => listing,
            Err(error) => {
                if !send(Err(error.to_string())) {
                    return;
                }
                thread::sleep(backoff.fail());
                continue;
            }
        };
        backoff.succeed();
        if listing.revision < revision {
            let (now, before) = (listing.revision, revision);
            tracing::warn!(
                now,
                before,
                "the revision of etcd went back: it was wiped or restored"
            );
        }
        revision = listing.revision;
        if listing.malformed != malformed {
            for reason in &listing.malformed {
                tracing::warn!(reason, "a node in etcd is ignored");
            }
            malformed = listing.malformed;
        }
        if !send(Ok(listing.members)) {
            return;
        }
        match watch {
            Ok(mut watch) => {
                watch.next();
                thread::sleep(jittered(LIST_EVERY_MIN));
            }
            Err(error) => {
                tracing::debug!(%error, "cannot watch etcd");
                thread::sleep(jittered(LIST_EVERY_MAX));
            }
        }
    }
}
