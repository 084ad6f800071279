//! Links to answers: frontends with the same secrets render identical pages.

use crate::shards;
use crate::site::{AsBackend, Site, eventually_within};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use testkit::backend::Fake;
use web::{LinkSecrets, Options};

const OLD: &str = "the old secret, which has more than 32 characters\n";
const NEW: &str = "the new secret, which has more than 32 characters\n";

/// Longer than a busy machine needs to read changed secrets.
const WAIT_MAX: Duration = Duration::from_secs(60);

fn fakes() -> [Arc<Fake>; 2] {
    [
        Fake::new("one", shards(1, 2)),
        Fake::new("two", shards(3, 2)),
    ]
}

fn frontend(fakes: &[Arc<Fake>], secrets: &Path) -> Site {
    let mut options = Options::default();
    options.links = LinkSecrets::open(secrets).unwrap();
    Site::with_options(fakes.iter().map(AsBackend::backend).collect(), options)
}

/// Bytes of pages by number and by cursor.
fn pages(site: &Site, link: &str, view: &str) -> Vec<Vec<u8>> {
    let page = |path: String| {
        let answer = site.get(&path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        (answer.json(), answer.body)
    };
    let by_number = |number| format!("/api/v2/search/{link}?page={number}{view}");
    let (first, mut body) = page(by_number(0));
    let mut bodies = Vec::new();
    for number in 1..first["pages"].as_u64().unwrap() {
        bodies.push(page(by_number(number)).1);
    }
    let mut next = first["next"].clone();
    bodies.push(body);
    let per_page = view.rsplit('&').next().unwrap();
    while let Some(cursor) = next.as_str() {
        let (json, bytes) = page(format!("/api/v2/search?cursor={cursor}&{per_page}"));
        (next, body) = (json["next"].clone(), bytes);
        bodies.push(body);
    }
    bodies
}

#[test]
fn frontends_with_the_same_secrets_render_the_same_bytes() {
    let (fakes, directory) = (fakes(), tempfile::tempdir().unwrap());
    let secrets = directory.path().join("secrets");
    std::fs::write(&secrets, OLD).unwrap();
    let (one, two) = (frontend(&fakes, &secrets), frontend(&fakes, &secrets));
    let found = one.search("arse&context=1");
    let link = found["link"].as_str().unwrap();
    for view in [
        "&per_page=7",
        "&group=package&per_page=2",
        "&group=document&copies=folded&per_page=3",
    ] {
        let here = pages(&one, link, view);
        // By another search, then from its spool.
        assert!(pages(&two, link, view) == here, "{view}");
        assert!(pages(&two, link, view) == here, "{view}");
        assert!(here.len() > 5, "{view}");
    }
    let page: Value = serde_json::from_slice(&pages(&two, link, "&per_page=50")[0]).unwrap();
    assert_eq!(page["id"], json!(link));
    assert_eq!(page["link"], json!(link));
    assert_eq!(page["timings"], json!(null));
    for part in ["facets", "packages", "export?format=text", "events"] {
        let path = format!("/api/v2/search/{link}/{part}");
        let [here, there] = [&one, &two].map(|site| site.get(&path));
        assert_eq!((here.status, there.status), (200, 200), "{part}");
        if part.starts_with("export") {
            assert_eq!(here.body, there.body);
        }
    }
    let generation = page["generation"].as_str().unwrap();
    for number in 0..3 {
        let path = format!("/search?q=arse&generation={generation}&page={number}");
        assert_eq!(one.get(&path).text(), two.get(&path).text());
    }
}

#[test]
fn a_link_needs_the_secret_that_signed_it() {
    let (fakes, directory) = (fakes(), tempfile::tempdir().unwrap());
    let (ours, theirs) = (
        directory.path().join("ours"),
        directory.path().join("theirs"),
    );
    std::fs::write(&ours, OLD).unwrap();
    std::fs::write(&theirs, NEW).unwrap();
    let sites = [
        frontend(&fakes, &ours),
        frontend(&fakes, &theirs),
        Site::new(fakes.iter().map(AsBackend::backend).collect()),
    ];
    let links: Vec<Value> = sites.iter().map(|site| site.search("arse")).collect();
    let searches = fakes[0].searches.load(SeqCst);
    for (number, site) in sites.iter().enumerate() {
        for (other, page) in links.iter().enumerate() {
            let next = page["next"].as_str().unwrap();
            let link = page["link"].as_str().unwrap();
            for path in [
                format!("/api/v2/search?cursor={next}"),
                format!("/api/v2/search/{link}"),
                format!("/api/v2/search/{link}/facets"),
            ] {
                let answer = site.get(&path);
                if number == other {
                    assert_eq!(answer.status, 200, "{path}");
                    continue;
                }
                assert_eq!(answer.status, 400, "{path}: {}", answer.text());
                let detail = answer.json()["detail"].as_str().unwrap().to_owned();
                assert!(detail.contains("signed with a secret"), "{detail}");
            }
        }
    }
    assert_eq!(fakes[0].searches.load(SeqCst), searches, "nobody was asked");
    let link = links[0]["link"].as_str().unwrap();
    for end in [0, 7, 8, 20, 40, link.len() - 1] {
        let status = |path: &str| sites[0].get(&format!("{path}{}", &link[..end])).status;
        assert_eq!(status("/api/v2/search?q=arse&cursor="), 400, "{end}");
        assert!([400, 404].contains(&status("/api/v2/search/")), "{end}");
    }
}

#[test]
fn a_secret_is_replaced_while_links_are_used() {
    let (fakes, directory) = (fakes(), tempfile::tempdir().unwrap());
    let files = ["one", "two"].map(|name| directory.path().join(name));
    let write = |file: &Path, secrets: &str| {
        let new = file.with_extension("new");
        std::fs::write(&new, secrets).unwrap();
        std::fs::rename(&new, file).unwrap();
    };
    files.iter().for_each(|file| write(file, OLD));
    let sites = files.each_ref().map(|file| frontend(&fakes, file));
    let old = sites[0].search("arse")["link"].as_str().unwrap().to_owned();
    let opens = |site: &Site, link: &str| site.get(&format!("/api/v2/search/{link}")).status;
    // Frontends change one after the other; each opens the other's links.
    for step in [format!("{OLD}{NEW}"), format!("{NEW}{OLD}")] {
        for (file, site) in files.iter().zip(&sites) {
            write(file, &step);
            let signs_like = |site: &Site| site.search("arse")["link"].as_str().unwrap().to_owned();
            // The second step changes signatures; the first takes two looks.
            if step.starts_with(NEW) {
                eventually_within(WAIT_MAX, "new signatures", || signs_like(site) != old);
            } else {
                let signed_by_new = link_by(NEW, &fakes, directory.path());
                let is_read = || opens(site, &signed_by_new) == 200;
                eventually_within(WAIT_MAX, "the secrets are read", is_read);
            }
            for from in &sites {
                let link = from.search("arse")["link"].as_str().unwrap().to_owned();
                assert!(sites.iter().all(|site| opens(site, &link) == 200));
                assert!(sites.iter().all(|site| opens(site, &old) == 200));
            }
        }
    }
    write(&files[0], NEW);
    eventually_within(WAIT_MAX, "the old secret is not used", || {
        opens(&sites[0], &old) == 400
    });
}

fn link_by(secret: &str, fakes: &[Arc<Fake>], directory: &Path) -> String {
    let file = directory.join("another");
    std::fs::write(&file, secret).unwrap();
    let page = frontend(fakes, &file).search("arse");
    page["link"].as_str().unwrap().to_owned()
}

#[test]
fn a_link_to_documents_that_are_no_longer_served_says_so() {
    let fakes = fakes();
    let site = Site::new(vec![fakes[0].backend()]);
    let page = site.search("arse");
    let other = Site::new(vec![Fake::new("other", shards(7, 1)).backend()]);
    let link = page["link"].as_str().unwrap();
    let gone = other.get(&format!("/api/v2/search/{link}"));
    assert_eq!(gone.status, 410);
    let detail = gone.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("the index has changed"), "{detail}");
}
