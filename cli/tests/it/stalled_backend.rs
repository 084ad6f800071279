//! A stalled backend is silent on open connections. The frontend notices, and reconnects later.

use crate::home::Server;
use crate::lost_backend::Stage;
use crate::{WAIT_MAX, http, poll};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const NOTICED_MAX: Duration = Duration::from_millis(3500);

const REASON: &str = "no data for 3.0 s";

fn loss(stage: &Stage) -> Option<String> {
    let health = http::get(&stage.frontend.address, "/api/v2/status").json();
    let backends = health["backends"].as_array().unwrap();
    let stalled = backends
        .iter()
        .find(|known| known["name"] == stage.proxy.address);
    let stalled = stalled.expect("it is listed");
    stalled["reason"].as_str().map(str::to_owned)
}

fn resume(stage: &Stage, backend: &Server) {
    backend.process.signal("CONT");
    poll("the backend to reconnect", WAIT_MAX, || {
        loss(stage).is_none().then_some(())
    });
    stage.check_complete();
}

#[test]
fn stall_between_queries_is_reported() {
    let (stage, backend) = Stage::new();
    stage.check_complete();
    backend.process.signal("STOP");
    let stopped = Instant::now();
    let reason = poll("the loss to be noticed", NOTICED_MAX, || loss(&stage));
    println!("noticed after {:?}", stopped.elapsed());
    assert_eq!(reason, REASON);
    let answer = http::get(&stage.frontend.address, "/api/v2/search?q=wante").page();
    assert!(!answer.complete);
    assert_eq!(answer.missing.len(), 1);
    assert_eq!(answer.missing[0].backend, stage.proxy.address);
    resume(&stage, &backend);
}

#[test]
fn stall_during_an_answer_makes_it_incomplete() {
    let (stage, backend) = Stage::new();
    let (sender, stopped) = mpsc::channel();
    let signals = backend.process.signals();
    let cut = stage.proxy.cut_after_first_batch(move || {
        signals.send("STOP");
        let _ = sender.send(Instant::now());
    });
    let path = "/api/v2/search?q=wanted&per_page=1";
    let answer = http::get(&stage.frontend.address, path).page();
    let took = stopped.recv_timeout(WAIT_MAX).unwrap().elapsed();
    let found = http::lines(&stage.frontend.address, &answer);
    println!("answered after {took:?}");
    stage.check_cut_short(&answer, &found);
    assert_eq!(answer.missing[0].reason, REASON);
    assert!(took < NOTICED_MAX, "{took:?}");
    backend.process.signal("CONT");
    cut.recv_timeout(WAIT_MAX)
        .expect("its connection is closed");
    resume(&stage, &backend);
}
