use super::*;
use http::HeaderValue;
use rustls::RootCertStore;
use std::time::{Duration, Instant};
use testkit::authorization::FakeService;

const DECISIONS: u32 = 20_000;
const DENIALS: u32 = 10;

const HEARD_MAX: Duration = Duration::from_secs(60);

fn tls() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider);
    let tls = tls.with_safe_default_protocol_versions().unwrap();
    tls.with_root_certificates(RootCertStore::empty())
        .with_no_client_auth()
}

fn authorization(service: &FakeService, ttl: Duration) -> Authorization {
    let options = AuthorizationOptions {
        url: Some(service.url()),
        batch: true,
        ttl,
        ..AuthorizationOptions::default()
    };
    Authorization::new(&options, tls(), None).unwrap().unwrap()
}

fn ann() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::COOKIE, HeaderValue::from_static("user=ann"));
    headers
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_multi_thread();
    { runtime }.enable_all().build().unwrap()
}

#[test]
fn twenty_thousand_kept_decisions_take_less_than_a_second() {
    let service = FakeService::start();
    service.allow("user=ann", &["a"]);
    let authorization = authorization(&service, Duration::from_secs(60));
    let headers = ann();
    let names = Arc::new(PackageNames::new([&b"a"[..], b"b"]));
    let runtime = runtime();
    let decide = async || {
        let caller = authorization.caller(&headers).unwrap();
        let sees = authorization.sees(&caller, b"a").await;
        assert!(sees.unwrap());
        assert!(
            authorization
                .scope(&caller, &names)
                .await
                .unwrap()
                .sees(b"a_1")
        );
    };
    let took = (0..5).map(|_| {
        let started = Instant::now();
        runtime.block_on(async {
            for _ in 0..DECISIONS / 2 {
                decide().await;
            }
        });
        started.elapsed()
    });
    let best = took.min().unwrap();
    assert!(best < Duration::from_secs(1), "{best:?}");
    assert_eq!(service.requests(), 2);
}

#[test]
fn a_stream_that_hears_of_a_denial_sees_the_new_decision() {
    let service = FakeService::start();
    let authorization = Arc::new(authorization(&service, Duration::from_millis(200)));
    let names = Arc::new(PackageNames::new([&b"a"[..], b"b"]));
    let caller = authorization.caller(&ann()).unwrap();
    let sees_a = async || {
        authorization
            .scope(&caller, &names)
            .await
            .unwrap()
            .sees(b"a_1")
    };
    runtime().block_on(async {
        let (began, mut heard) = (Instant::now(), 0);
        while heard < DENIALS {
            assert!(began.elapsed() < HEARD_MAX, "{heard} denials were heard");
            service.allow("user=ann", &["a"]);
            while !sees_a().await {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let mut denials = authorization.denials();
            let (stream, seen, who) = (authorization.clone(), Arc::clone(&names), caller.clone());
            let stream = tokio::spawn(async move {
                denials.changed().await.unwrap();
                stream.scope(&who, &seen).await.unwrap()
            });
            service.allow("user=ann", &[]);
            // Use keeps the decision refreshed.
            while sees_a().await {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            // No event if the decision was evicted before: the machine stalled.
            if let Ok(scope) = tokio::time::timeout(HEARD_MAX / 20, stream).await {
                assert!(!scope.unwrap().sees(b"a_1"));
                heard += 1;
            }
        }
    });
}

#[test]
fn a_denial_counts_for_names_that_became_known_after_its_first_question() {
    let service = FakeService::start();
    let names = Arc::new(PackageNames::new([&b"a"[..], b"b"]));
    runtime().block_on(async {
        // The scope is unused, and evicted first in some rounds.
        for round in 0..DENIALS {
            let authorization = authorization(&service, Duration::from_millis(200));
            let caller = authorization.caller(&ann()).unwrap();
            service.allow("user=ann", &["a"]);
            assert!(authorization.sees(&caller, b"a").await.unwrap());
            let scope = authorization.scope(&caller, &names).await.unwrap();
            assert!(scope.sees(b"a_1"));
            service.allow("user=ann", &[]);
            let denied = Instant::now();
            while authorization.sees(&caller, b"a").await.unwrap() {
                assert!(denied.elapsed() < HEARD_MAX, "round {round}");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let scope = authorization.scope(&caller, &names).await.unwrap();
            assert!(!scope.sees(b"a_1"), "round {round}");
        }
    });
}
