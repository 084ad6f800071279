//! Tests of a whole trace: request header, spans, and the collector's body.

use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::Value as Json;
use std::sync::mpsc;
use std::time::Duration;
use trace::{Kind, Recorder, Resource, TraceSpan, current, parse_traceparent, within};

const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn recorder(ratio: f64) -> (Recorder, mpsc::Receiver<Vec<u8>>) {
    let (sender, bodies) = mpsc::channel();
    let send = move |body: &[u8]| {
        let _ = sender.send(body.to_vec());
        Ok(Vec::new())
    };
    let recorder = Recorder::start(Resource::default(), ratio, Box::new(send));
    (recorder.unwrap(), bodies)
}

fn spans(body: &[u8]) -> Vec<Json> {
    let body: Json = serde_json::from_slice(body).unwrap();
    let spans = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
    spans.as_array().unwrap().clone()
}

#[test]
fn a_trace_of_a_caller_is_continued() {
    let (recorder, bodies) = recorder(0.001);
    let caller = parse_traceparent(CALLER);
    let request = TraceSpan::of_request(Some(&recorder), caller, "GET /search".into());
    let child = within(request.clone(), || current().child("stream", Kind::Client));
    child.set("matches", 3);
    child.set("matches", 4);
    child.fail("closed");
    drop(child);
    request.end();
    request.set("late", true);
    drop(request);
    recorder.flush(Duration::from_secs(60));
    let spans = spans(&bodies.recv().unwrap());
    let [child, request] = &spans[..] else {
        panic!("{spans:?}")
    };
    assert_eq!(request["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(child["parentSpanId"], request["spanId"]);
    assert_eq!(child["attributes"][0]["value"]["intValue"], "4");
    assert_eq!(child["status"]["message"], "closed");
    for span in &spans {
        assert_eq!(span["traceId"], "0af7651916cd43dd8448eb211c80319c");
    }
    assert!(request.get("attributes").is_none(), "{request}");
}

#[test]
fn what_is_not_sampled_keeps_the_ids_of_its_caller_and_records_nothing() {
    let (none, _) = recorder(0.0);
    let (all, _) = recorder(1.0);
    let sampled = parse_traceparent(CALLER);
    let unsampled = parse_traceparent(&CALLER.replace("-01", "-00"));
    for (recorder, caller) in [
        (None, sampled),
        (Some(&none), sampled),
        (Some(&all), unsampled),
    ] {
        let request = TraceSpan::of_request(recorder, caller, "GET /search".into());
        let child = request.child("stream", Kind::Client);
        assert!(!request.is_recorded() && !child.is_recorded());
        assert_eq!(child.context(), unsampled);
    }
    let request = TraceSpan::of_request(Some(&none), None, "GET /search".into());
    assert_eq!(request.context(), None);
    let request = TraceSpan::of_request(Some(&all), None, "GET /search".into());
    assert!(request.is_recorded());
}

#[test]
fn a_collector_that_hangs_delays_nobody_and_what_is_dropped_is_counted() {
    let (resume, hangs) = mpsc::channel::<()>();
    let send = move |_: &[u8]| {
        // Hangs until the test ends.
        let _ = hangs.recv();
        Err("no answer".to_owned())
    };
    let recorder = Recorder::start(Resource::default(), 1.0, Box::new(send)).unwrap();
    let counters = PrometheusBuilder::new().build_recorder();
    let requests = || {
        for _ in 0..20_000 {
            let request = TraceSpan::of_request(Some(&recorder), None, "GET /search".into());
            assert!(request.is_recorded());
        }
        recorder.flush(Duration::from_millis(20));
    };
    metrics::with_local_recorder(&counters, requests);
    // No batch was answered. The queue is bounded.
    let counted = counters.handle().render();
    let dropped = |reason: &str| -> u64 {
        let name = format!("trawl_traces_dropped_total{{reason=\"{reason}\"}} ");
        let count = counted.lines().find_map(|line| line.strip_prefix(&name));
        count.expect("a counter").parse().unwrap()
    };
    let (waiting, sending) = (dropped("shutdown"), 512);
    assert!(
        waiting <= 4096 && dropped("queue") + waiting + sending >= 20_000,
        "{counted}"
    );
    drop(resume);
}
