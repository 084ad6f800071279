//! Look-ups: in order, in time, within a frame.

use super::client::{Client, PATIENCE, Served, build};
use super::small;
use backend::LookUp;
use schema::frame::Kind;
use schema::message::{
    Commit, CommitLog, Failure, FailureKind, Lookup, LookupAnswer, LookupOf, LookupProblemKind,
    LookupReply, LookupRequest,
};
use std::sync::{Arc, Condvar, Mutex};
use tokio::time::timeout;

/// Commit with the revision as id: `large` has a long message, `slow` waits for the gate,
/// `panic` panics.
#[derive(Default)]
struct Fake {
    gate: (Mutex<bool>, Condvar),
}

impl Fake {
    fn open(&self) {
        *self.gate.0.lock().unwrap() = true;
        self.gate.1.notify_all();
    }
}

impl LookUp for Fake {
    fn look_up(&self, lookup: &Lookup) -> LookupAnswer {
        let revision = lookup.of.revision().unwrap_or_default();
        if revision == "slow" {
            let open = self.gate.0.lock().unwrap();
            drop(self.gate.1.wait_while(open, |open| !*open).unwrap());
        }
        assert_ne!(revision, "panic");
        let mut commit = Commit {
            id: revision.to_owned(),
            body: vec![b'x'; if revision == "large" { 1 << 20 } else { 0 }],
            ..Commit::default()
        };
        commit.shorten();
        match lookup.of {
            LookupOf::Log { .. } => LookupAnswer::Log(CommitLog {
                commits: vec![commit],
                next: Vec::new(),
                paths: Vec::new(),
            }),
            _ => LookupAnswer::Commit(commit),
        }
    }
}

fn served(repositories: Option<Arc<dyn LookUp>>) -> Served {
    let directory = tempfile::tempdir().unwrap();
    build(&directory, &small(), 4096);
    Served::with(directory, 4, repositories)
}

async fn look_up(client: &mut Client, revisions: &[&str]) -> Result<LookupReply, Failure> {
    let lookup = |revision: &&str| Lookup {
        repository: "r".to_owned(),
        of: LookupOf::Commit {
            revision: (*revision).to_owned(),
        },
    };
    let lookups = revisions.iter().map(lookup).collect();
    let mut bytes = Vec::new();
    LookupRequest { lookups }.encode(&mut bytes).unwrap();
    client.send(&bytes).await;
    loop {
        match client.next().await.unwrap() {
            (Kind::Lookup, payload) => return Ok(LookupReply::decode(&payload).unwrap()),
            (Kind::Error, payload) => return Err(Failure::decode(&payload).unwrap()),
            (kind, _) => assert_eq!(kind, Kind::Hello),
        }
    }
}

fn ids(reply: &LookupReply) -> Vec<&str> {
    fn id(answer: &LookupAnswer) -> &str {
        match answer {
            LookupAnswer::Commit(commit) => &commit.id,
            other => panic!("not a commit: {other:?}"),
        }
    }
    reply.answers.iter().map(id).collect()
}

fn problem(reply: &LookupReply) -> LookupProblemKind {
    match &reply.answers[..] {
        [LookupAnswer::Problem(problem)] => problem.kind,
        other => panic!("not a problem: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_without_repositories_says_so() {
    let served = served(None);
    let (mut client, _serving) = served.connect().await;
    assert!(!client.hello.as_ref().unwrap().has_repositories);
    let failure = look_up(&mut client, &["a"]).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unavailable);
    assert!(failure.message.contains("--repos"), "{}", failure.message);
    client.greeted().await;
    let search = client.search("task", client.shards()).await;
    assert!(search.end.is_ok(), "the connection continues");
}

#[tokio::test(flavor = "multi_thread")]
async fn look_ups_are_answered_in_their_order() {
    let served = served(Some(Arc::new(Fake::default())));
    let (mut client, _serving) = served.connect().await;
    assert!(client.hello.as_ref().unwrap().has_repositories);
    let reply = look_up(&mut client, &["b", "a", "", "b"]).await.unwrap();
    assert_eq!(ids(&reply), ["b", "a", "", "b"]);
    let none = look_up(&mut client, &[]).await.unwrap();
    assert!(none.answers.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_into_a_reply_is_left_for_the_next_request() {
    let served = served(Some(Arc::new(Fake::default())));
    let (mut client, _serving) = served.connect().await;
    let reply = look_up(&mut client, &["large"; 20]).await.unwrap();
    assert!(
        (2..20).contains(&reply.answers.len()),
        "{}",
        reply.answers.len()
    );
    let LookupAnswer::Commit(commit) = &reply.answers[0] else {
        panic!("not a commit");
    };
    assert!(commit.shortened);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_look_up_is_late_and_holds_up_only_those_behind_it() {
    let fake = Arc::new(Fake::default());
    let served = served(Some(Arc::clone(&fake) as Arc<dyn LookUp>));
    let (mut client, _serving) = served.connect().await;
    let reply = look_up(&mut client, &["a", "slow", "b"]).await.unwrap();
    assert_eq!(ids(&reply), ["a"], "what was found in time");
    // Its thread still runs, and one runs at a time.
    let reply = look_up(&mut client, &["b"]).await.unwrap();
    assert_eq!(problem(&reply), LookupProblemKind::Late);
    fake.open();
    let found = timeout(PATIENCE, look_up(&mut client, &["slow", "b"]));
    assert_eq!(ids(&found.await.unwrap().unwrap()), ["slow", "b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_a_repository_is_its_problem_alone() {
    let served = served(Some(Arc::new(Fake::default())));
    let (mut client, _serving) = served.connect().await;
    let reply = look_up(&mut client, &["panic"]).await.unwrap();
    assert_eq!(problem(&reply), LookupProblemKind::Unreadable);
    let reply = look_up(&mut client, &["a"]).await.unwrap();
    assert_eq!(ids(&reply), ["a"]);
}
