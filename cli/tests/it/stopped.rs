//! A backend that stands still, as when its machine is out of memory or its disk hangs: it keeps
//! its connections and says nothing. That is noticed, and it is taken back when it goes on.

use crate::home::Server;
use crate::killed::Stage;
use crate::{WAIT_MAX, http, poll};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long it may take to be noticed.
const NOTICED_MAX: Duration = Duration::from_millis(3500);

/// What is said of it.
const REASON: &str = "nothing was heard from it for 3.0 s";

/// What `/healthz` says of a backend, when it is not connected: why.
fn lost(stage: &Stage) -> Option<String> {
    let health = http::get(&stage.frontend.address, "/healthz").json();
    let backends = health["backends"].as_array().unwrap();
    let stopped = backends
        .iter()
        .find(|known| known["name"] == stage.proxy.address);
    let stopped = stopped.expect("it is listed");
    stopped["reason"].as_str().map(str::to_owned)
}

/// Goes on, and waits until the frontend has heard of it.
fn resume(stage: &Stage, backend: &Server) {
    backend.process.signal("CONT");
    poll("a backend that is back", WAIT_MAX, || {
        lost(stage).is_none().then_some(())
    });
    stage.check_complete();
}

#[test]
fn while_it_is_idle() {
    let (stage, backend) = Stage::new();
    stage.check_complete();
    backend.process.signal("STOP");
    let stopped = Instant::now();
    let reason = poll("a loss", NOTICED_MAX, || lost(&stage));
    println!("noticed after {:?}", stopped.elapsed());
    assert_eq!(reason, REASON);
    let answer = http::get(&stage.frontend.address, "/api/v2/search?q=wante").json();
    assert_eq!(answer["complete"], false);
    assert_eq!(answer["missing"].as_array().map(Vec::len), Some(1));
    assert_eq!(answer["missing"][0]["backend"], stage.proxy.address);
    resume(&stage, &backend);
}

#[test]
fn in_the_midst_of_its_answer() {
    let (stage, backend) = Stage::new();
    let (sender, stopped) = mpsc::channel();
    let signals = backend.process.signals();
    let cut = stage.proxy.cut_after_first_batch(move || {
        signals.send("STOP");
        let _ = sender.send(Instant::now());
    });
    let path = "/api/v2/search?q=wanted&per_page=1";
    let answer = http::get(&stage.frontend.address, path).json();
    let took = stopped.recv_timeout(WAIT_MAX).unwrap().elapsed();
    let found = http::lines(&stage.frontend.address, &answer);
    println!("answered after {took:?}");
    stage.check_cut_short(&answer, &found);
    assert_eq!(answer["missing"][0]["reason"], REASON);
    assert!(took < NOTICED_MAX, "{took:?}");
    backend.process.signal("CONT");
    cut.recv_timeout(WAIT_MAX)
        .expect("its connection is closed");
    resume(&stage, &backend);
}
