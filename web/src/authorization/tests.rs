use super::*;
use axum::http::HeaderValue;
use fake_authorization::FakeService;
use rustls::RootCertStore;
use std::time::{Duration, Instant};

const DECISIONS: u32 = 20_000;

fn tls() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider);
    let tls = tls.with_safe_default_protocol_versions().unwrap();
    tls.with_root_certificates(RootCertStore::empty())
        .with_no_client_auth()
}

#[test]
fn twenty_thousand_kept_decisions_take_less_than_a_second() {
    let service = FakeService::start();
    service.allow("user=ann", &["a"]);
    let options = AuthorizationOptions {
        url: Some(service.url()),
        batch: true,
        ttl: Duration::from_secs(60),
        ..AuthorizationOptions::default()
    };
    let authorization = Authorization::new(&options, tls(), None).unwrap().unwrap();
    let mut headers = HeaderMap::new();
    headers.insert(header::COOKIE, HeaderValue::from_static("user=ann"));
    let names = Arc::new(PackageNames::new([&b"a"[..], b"b"]));
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
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
