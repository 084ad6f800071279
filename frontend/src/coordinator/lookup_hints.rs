//! Shares look-up answers with other frontends, as hints.

use super::lookup_cache::{Found, LIFE_MAX, LookupClaim, LookupKey};
use crate::hints::Hints;
use cache::Built;
use schema::frame;
use schema::message::{LookupAnswer, LookupReply, LookupRequest};
use std::time::Instant;

const KIND: &str = "lookup";

/// Puts the answers shared by other frontends, and returns the remaining claims.
pub(super) async fn take(hints: &Hints, claims: Vec<LookupClaim>) -> Vec<LookupClaim> {
    let keys: Vec<_> = claims.iter().map(|claim| key(claim.key())).collect();
    let found = hints.get(KIND, &keys).await;
    let mut rest = Vec::new();
    for (claim, hint) in claims.into_iter().zip(found) {
        let known = hint.and_then(|hint| Some((parse(&hint.value, claim.key())?, hint.age)));
        let Some((value, age)) = known else {
            rest.push(claim);
            continue;
        };
        claim.put(Built::Hint {
            value,
            is_negative: false,
            age,
        });
    }
    rest
}

pub(super) fn share(hints: &Hints, of: &LookupKey, found: &Found, began: Instant) {
    if let Some(value) = value(found) {
        hints.put(KIND, &key(of), &value, began, LIFE_MAX);
    }
}

fn key(of: &LookupKey) -> Vec<u8> {
    let mut key = (of.generation.len() as u64).to_le_bytes().to_vec();
    key.extend_from_slice(of.generation.as_bytes());
    let lookups = vec![of.lookup.clone()];
    let request = LookupRequest { lookups }.encode(&mut key);
    request.expect("a look-up fits in a frame");
    key
}

fn value(found: &Found) -> Option<Vec<u8>> {
    let answer = match found {
        Found::Commit(commit) => LookupAnswer::Commit(commit.as_ref().clone()),
        Found::Log(log) => LookupAnswer::Log(log.as_ref().clone()),
        Found::References(list) => LookupAnswer::References(list.as_ref().clone()),
        Found::Blame(blame) => LookupAnswer::Blame(blame.as_ref().clone()),
        Found::Changes(list) => LookupAnswer::Changes(list.as_ref().clone()),
    };
    let mut value = Vec::new();
    let answers = vec![answer];
    LookupReply { answers }.encode(&mut value).ok()?;
    Some(value)
}

fn parse(value: &[u8], of: &LookupKey) -> Option<Found> {
    let frame = frame::decode(value).ok()??;
    let reply = LookupReply::decode(frame.payload).ok()?;
    let mut answers = reply.answers;
    let answer = answers.pop().filter(|_| answers.is_empty())?;
    if !answer.fits(&of.lookup) {
        return None;
    }
    Found::of(answer).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::{Commit, Lookup, LookupOf};
    use std::sync::Arc;

    fn of(of: LookupOf) -> LookupKey {
        let repository = "r".to_owned();
        LookupKey {
            generation: "1".into(),
            lookup: Lookup { repository, of },
        }
    }

    #[test]
    fn an_answer_is_parsed_as_it_was_shared_and_only_for_its_kind_of_look_up() {
        let commit = Commit {
            id: "ab".repeat(20),
            subject: b"why".to_vec(),
            ..Commit::default()
        };
        let shared = value(&Found::Commit(Arc::new(commit.clone()))).unwrap();
        let asked = of(LookupOf::Commit {
            revision: "main".to_owned(),
        });
        let Some(Found::Commit(found)) = parse(&shared, &asked) else {
            panic!("it was not parsed");
        };
        assert_eq!(*found, commit);
        let other = of(LookupOf::References {
            after: Vec::new(),
            count: 1,
        });
        assert!(parse(&shared, &other).is_none());
        assert!(parse(&shared[..shared.len() - 1], &asked).is_none());
        assert!(parse(b"garbage of some length, longer than a header", &asked).is_none());
    }

    #[test]
    fn keys_have_the_generation_and_the_look_up() {
        let revision = |revision: &str| {
            of(LookupOf::Commit {
                revision: revision.to_owned(),
            })
        };
        let (one, two) = (revision("a"), revision("b"));
        let later = LookupKey {
            generation: "2".into(),
            ..one.clone()
        };
        assert_ne!(key(&one), key(&two));
        assert_ne!(key(&one), key(&later));
        assert_eq!(key(&one), key(&one.clone()));
    }
}
