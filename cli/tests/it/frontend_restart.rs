//! A new frontend opens the spool of a killed one: it removes unfinished executions and keeps
//! finished results.

use crate::lost_backend::Stage;
use crate::{WAIT_MAX, http, poll};
use std::sync::mpsc;
use std::time::Instant;

const PAGES: [usize; 4] = [0, 1, 42, 84];
const PER_PAGE: usize = 100;

fn in_spool(stage: &Stage) -> Vec<String> {
    let entries = std::fs::read_dir(stage.home.path("spool")).unwrap();
    let entries = entries.map(Result::unwrap);
    let directories = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let names = directories.map(|entry| entry.file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn unfinished_executions_are_cleaned_up() {
    let (mut stage, _backend) = Stage::new();
    let signals = stage.frontend.process.signals();
    let (sender, held_back) = mpsc::channel();
    let cut = stage.proxy.cut_after_first_batch(move || {
        let _ = sender.send(());
    });
    let path = "/api/v2/search?q=wanted&wait=false";
    let page = http::get(&stage.frontend.address, path).page();
    let id = page.id.into_owned();
    // The rest is held back.
    held_back.recv_timeout(WAIT_MAX).expect("a first BATCH");
    poll("frames in the spool", WAIT_MAX, || {
        (!in_spool(&stage).is_empty()).then_some(())
    });
    signals.send("KILL");
    assert!(!stage.frontend.process.wait(WAIT_MAX).success());
    cut.recv_timeout(WAIT_MAX)
        .expect("its connection is closed");
    assert!(
        !in_spool(&stage).is_empty(),
        "a killed process leaves its files"
    );
    stage.restart_frontend();
    assert_eq!(in_spool(&stage), Vec::<String>::new());
    let gone = http::get(&stage.frontend.address, &format!("/api/v2/search/{id}"));
    assert_eq!(gone.status, 404, "{}", gone.text());
    stage.check_complete();
}

fn restart(stage: &mut Stage) {
    stage.frontend.process.signal("KILL");
    stage.frontend.process.wait(WAIT_MAX);
    let started = Instant::now();
    stage.restart_frontend();
    println!("restarted after {:?}", started.elapsed());
}

/// Excludes id and timings.
fn pages(stage: &Stage, search: &str) -> Vec<String> {
    let page = |page| {
        let path = format!("/api/v2/search{search}page={page}&per_page={PER_PAGE}");
        let reply = http::get(&stage.frontend.address, &path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        let text = reply.text();
        let start = text.find(r#""generation""#).expect("it follows the id");
        let end = text.rfind(r#","timings":{"#).expect("the last field");
        text[start..end].to_owned()
    };
    PAGES.iter().map(page).collect()
}

#[test]
fn queries_give_the_same_bytes_after_a_restart() {
    let (mut stage, _backend) = Stage::new();
    let before = pages(&stage, "?q=wanted&");
    restart(&mut stage);
    assert!(
        pages(&stage, "?q=wanted&") == before,
        "the same query again"
    );
    stage.check_complete();
}

#[test]
fn links_give_the_same_bytes_after_a_restart() {
    let (mut stage, backend) = Stage::new();
    let before = pages(&stage, "?q=wanted&");
    let first = http::get(&stage.frontend.address, "/api/v2/search?q=wanted").page();
    let link = format!("?q=wanted&generation={}&", first.generation);
    assert!(pages(&stage, &link) == before);
    restart(&mut stage);
    assert!(pages(&stage, &link) == before, "by its link");
    assert!(pages(&stage, "?q=wanted&") == before, "by its query");
    drop(backend);
    restart(&mut stage);
    assert!(pages(&stage, &link) == before, "without the backend");
}

#[test]
fn exports_as_text_are_the_same_after_a_restart() {
    let (mut stage, _backend) = Stage::new();
    let export = |stage: &Stage| {
        let path = "/api/v2/export?q=wanted&format=text";
        let reply = http::get(&stage.frontend.address, path);
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.text().to_owned()
    };
    let before = export(&stage);
    let spooled = in_spool(&stage);
    assert_eq!(spooled.len(), 1);
    restart(&mut stage);
    assert_eq!(in_spool(&stage), spooled);
    assert!(export(&stage) == before);
    assert_eq!(in_spool(&stage), spooled, "it was not searched for again");
}
