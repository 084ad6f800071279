//! Callers with access to different packages. The corpus has `package0` to `package4`; `package0`
//! is public.

mod decisions;
mod failures;
mod streams;
mod tokens;

use crate::shards;
use crate::site::{Answer, AsBackend, Site};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use testkit::authorization::FakeService;
use testkit::backend::Fake;
use ureq::http::Method;
use web::{Authorization, AuthorizationOptions, ConnectionLimits, Options};

const PUBLIC: &str = "package0";
const ANN: &str = "user=ann";
const BOB: &str = "user=bob";
const FILE: &str = "/api/v2/file?package=package2_1.2&path=src/file2.c";
const PUBLIC_FILE: &str = "/api/v2/file?package=package0_1.10&path=src/file10.c";

struct Guarded {
    site: Site,
    service: FakeService,
    fake: Arc<Fake>,
}

pub(crate) fn tls() -> rustls::ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider);
    let tls = tls.with_safe_default_protocol_versions().unwrap();
    let roots = rustls::RootCertStore::empty();
    tls.with_root_certificates(roots).with_no_client_auth()
}

fn site(fake: &Arc<Fake>, options: &AuthorizationOptions) -> Site {
    fake.names_packages.store(true, SeqCst);
    let mut web = Options::default();
    let authorization = Authorization::new(options, tls(), None).unwrap();
    web.authorization = authorization.map(Arc::new);
    let limits = ConnectionLimits::default();
    Site::start(vec![fake.backend()], web, limits, |config| {
        config.has_scopes = true;
        // Views of results on the disk are cached.
        config.result_memory_bytes = 0;
    })
}

impl Guarded {
    fn new(change: impl FnOnce(&mut AuthorizationOptions)) -> Guarded {
        Guarded::over(Fake::new("one", shards(1, 2)), change)
    }

    fn over(fake: Arc<Fake>, change: impl FnOnce(&mut AuthorizationOptions)) -> Guarded {
        let service = FakeService::start();
        service.allow(ANN, &["package2"]);
        service.allow(BOB, &["package2", "package3"]);
        let mut options = AuthorizationOptions {
            url: Some(service.url()),
            batch: true,
            ttl: Duration::from_secs(30),
            public: vec![PUBLIC.to_owned()],
            ..AuthorizationOptions::default()
        };
        change(&mut options);
        Guarded {
            site: site(&fake, &options),
            service,
            fake,
        }
    }

    fn get(&self, path: &str, cookie: &str) -> Answer {
        self.site.send(Method::GET, path, &[("cookie", cookie)])
    }

    fn events(&self) -> impl Iterator<Item = String> + use<> {
        let mut stream = self.site.connect();
        let request = format!(
            "GET /api/v2/events?q=arse HTTP/1.1\r\nhost: localhost\r\ncookie: {BOB}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).unwrap();
        BufReader::new(stream).lines().map(Result::unwrap)
    }

    /// Names without versions.
    fn finds(&self, cookie: &str) -> BTreeSet<String> {
        let answer = self.get("/api/v2/packages?q=arse&format=text", cookie);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let text = answer.text();
        let names = text
            .lines()
            .map(|line| line.split('_').next().unwrap().to_owned());
        names.collect()
    }
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}
