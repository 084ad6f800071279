//! Lists nodes on every change.

use super::Etcd;
use crate::membership::Member;
use crate::membership::pace::{Backoff, jittered};
use std::thread;
use std::time::Duration;

/// Least pause between lists: events come in bursts.
const LIST_EVERY_MIN: Duration = Duration::from_millis(100);

/// Pause without a watch.
const LIST_EVERY_MAX: Duration = Duration::from_secs(1);

/// Sends lists and errors until `send` returns false. The watch opens first, so no change is
/// missed; any event triggers the next list.
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
