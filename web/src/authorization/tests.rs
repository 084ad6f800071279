use super::*;
use axum::http::HeaderValue;
use fake_authorization::FakeService;
use rustls::RootCertStore;
use std::time::{Duration, Instant};

const DECISIONS: u32 = 20_000;
const DENIALS: u32 = 100;

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
        let sees = authorization.sees(&caller, Some(&names), b"a_1").await;
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
    let authorization = Arc::new(authorization(&service, Duration::from_millis(10)));
    let names = Arc::new(PackageNames::new([&b"a"[..], b"b"]));
    let caller = authorization.caller(&ann()).unwrap();
    runtime().block_on(async {
        for _ in 0..DENIALS {
            service.allow("user=ann", &["a"]);
            while !authorization
                .scope(&caller, &names)
                .await
                .unwrap()
                .sees(b"a_1")
            {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let mut denials = authorization.denials();
            let (stream, seen, who) = (authorization.clone(), Arc::clone(&names), caller.clone());
            let stream = tokio::spawn(async move {
                denials.changed().await.unwrap();
                stream.scope(&who, &seen).await.unwrap()
            });
            service.allow("user=ann", &[]);
            while !stream.is_finished() {
                drop(authorization.scope(&caller, &names).await);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            assert!(!stream.await.unwrap().sees(b"a_1"));
        }
    });
}
