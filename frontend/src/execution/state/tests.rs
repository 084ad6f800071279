use super::*;

fn halt(reason: &str) -> Event {
    Event::Halt {
        reason: reason.to_owned(),
        at: SystemTime::UNIX_EPOCH,
    }
}

fn assignment(stream: usize, shards: usize) -> Assignment {
    Assignment {
        backend: format!("backend {stream}"),
        shards: (0..shards)
            .map(|shard| [(stream * 16 + shard) as u8; 32])
            .collect(),
        documents: vec![10; shards],
    }
}

#[test]
fn a_run_without_streams_is_finished_at_once() {
    let missing = Missing {
        backend: "b".to_owned(),
        reason: "connection refused".to_owned(),
        shards: Vec::new(),
        since: SystemTime::UNIX_EPOCH,
    };
    let (mut run, action) = State::new(Vec::new(), vec![missing.clone()]);
    let Some(Action::Finish(outcome)) = action else {
        panic!("{action:?}");
    };
    assert_eq!(outcome.missing, [missing]);
    assert!(run.on(0, halt("late")).is_empty());
}

#[test]
fn the_reason_of_a_halt_stands_for_the_streams_it_stopped() {
    let (mut run, _) = State::new(vec![assignment(0, 1), assignment(1, 2)], Vec::new());
    assert_eq!(
        run.on(1, halt("the disk is full")),
        [Action::Stop(0), Action::Stop(1)]
    );
    let lost = Event::Lost {
        reason: "the query was stopped".to_owned(),
        at: SystemTime::UNIX_EPOCH,
    };
    assert!(run.on(1, lost).is_empty());
    let end = Event::End(StreamEnd::default());
    let actions = run.on(0, end);
    let [Action::Finish(outcome)] = &actions[..] else {
        panic!("{actions:?}");
    };
    assert_eq!(
        outcome.missing.len(),
        1,
        "the other stream had ended by itself"
    );
    assert_eq!(outcome.missing[0].reason, "the disk is full");
    assert_eq!(outcome.missing[0].shards.len(), 2);
}

/// A run of so many streams, all of which their backends have put off.
fn put_off(streams: usize) -> State {
    let assignments = (0..streams).map(|stream| assignment(stream, 1)).collect();
    let (mut run, _) = State::new(assignments, Vec::new());
    assert_eq!(run.on(0, Event::Heavy), [Action::Queue]);
    for stream in 1..streams {
        assert_eq!(run.on(stream, Event::Heavy), []);
    }
    run
}

#[test]
fn streams_that_wait_are_asked_when_the_run_has_its_turn() {
    let mut run = put_off(2);
    let asked = run.on(0, Event::Admitted);
    assert_eq!(asked, [Action::Ask(0), Action::Ask(1)]);
}

#[test]
fn a_run_without_a_turn_ends_with_all_that_wait_missing() {
    let mut run = put_off(2);
    let at = SystemTime::UNIX_EPOCH;
    let actions = run.on(0, Event::Shed { at });
    let [Action::Finish(outcome)] = &actions[..] else {
        panic!("{actions:?}");
    };
    assert!(outcome.shed);
    assert_eq!(outcome.missing.len(), 2);
}
