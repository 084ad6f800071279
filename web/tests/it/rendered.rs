//! Expensive answers: rendered once, cached, and never mixed up.

use crate::shards;
use crate::site::{AsBackend, Site};
use frontend::Config;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use testkit::backend::{Fake, Fault};
use web::Options;
use web::model::Page;

/// Views that are cached if the answer is on the disk.
const VIEWS: [&str; 11] = [
    "/api/v2/facets?q=arse",
    "/api/v2/facets?q=ars",
    "/api/v2/packages?q=arse",
    "/api/v2/packages?q=arse&format=text",
    "/api/v2/search?q=arse&group=package",
    "/api/v2/search?q=arse&group=package&per_page=3",
    "/api/v2/search?q=arse&group=package&per_page=3&page=1",
    "/api/v2/search?q=arse&group=package&per_package=1",
    "/api/v2/search?q=arse&group=package&explain=true",
    "/api/v2/search?q=arse&group=document",
    "/search?q=arse&group=package",
];

/// Keeps results on the disk.
fn site(fake: &Arc<Fake>, rendered_bytes_max: u64) -> Site {
    let mut options = Options::default();
    options.rendered_bytes_max = rendered_bytes_max;
    let on_disk = |config: &mut Config| config.result_memory_bytes = 0;
    Site::start(vec![fake.backend()], options, Default::default(), on_disk)
}

/// Drops ids, times, and execution numbers.
fn masked(body: &str) -> String {
    let Ok(mut json) = serde_json::from_str::<Value>(body) else {
        let lines = body.lines().filter(|line| !line.contains(" ms"));
        return lines.collect::<Vec<_>>().join("\n");
    };
    for field in ["id", "timings"] {
        json[field] = Value::Null;
    }
    json.to_string()
}

#[test]
fn callers_of_one_expensive_answer_share_its_rendering_and_have_ids_of_their_own() {
    let fake = Fake::new("one", shards(1, 2));
    let site = site(&fake, 16 << 20);
    let path = "/api/v2/search?q=arse&group=package&per_page=40";
    let pages: Vec<Page<'_>> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..32).map(|_| scope.spawn(|| site.read(path))).collect();
        let pages = callers.into_iter().map(|caller| caller.join().unwrap());
        pages.collect()
    });
    // Each rendering has another time.
    let render_ms = |page: &Page<'_>| page.timings.unwrap().render_ms.to_bits();
    let renderings: BTreeSet<u64> = pages.iter().map(render_ms).collect();
    assert_eq!(renderings.len(), 1);
    let ids: BTreeSet<&str> = pages.iter().map(|page| &*page.id).collect();
    assert_eq!(ids.len(), 32);
    for id in ids {
        let by_id: Page<'_> = site.read(&format!("/api/v2/search/{id}?group=package&per_page=40"));
        assert_eq!(by_id.id, id);
    }
    // Compressed, it has none.
    let plain = [("accept-encoding", "identity")];
    let length = site.send(ureq::http::Method::GET, path, &plain);
    assert_eq!(
        length.header("content-length"),
        length.body.len().to_string()
    );
    assert!(length.header("etag").starts_with("W/"));
}

#[test]
fn an_expensive_answer_is_the_same_kept_or_not_and_no_view_is_taken_for_another() {
    let fake = Fake::new("one", shards(1, 2));
    let (keeps, off) = (site(&fake, 16 << 20), site(&fake, 0));
    for _ in 0..2 {
        for view in VIEWS {
            let (kept, new) = (keeps.get(view), off.get(view));
            assert_eq!(kept.status, 200, "{view}");
            assert_eq!(masked(&kept.text()), masked(&new.text()), "{view}");
            for header in ["content-type", "cache-control", "x-trawl-complete"] {
                assert_eq!(kept.header(header), new.header(header), "{view}");
            }
        }
    }
}

#[test]
fn what_the_query_was_taken_for_is_said_to_the_client_who_typed_it() {
    let fake = Fake::new("one", shards(1, 2));
    let site = site(&fake, 16 << 20);
    // Only one spelling has a notice.
    let plain: Value = site.get("/api/v2/facets?q=%22std::arse%22").json();
    let noticed: Value = site.get("/api/v2/facets?q=std::arse").json();
    assert_eq!(plain["interpreted_as"], noticed["interpreted_as"]);
    assert_eq!(plain["notices"].as_array().map(Vec::len), Some(0));
    assert_eq!(noticed["notices"].as_array().map(Vec::len), Some(1));
}

#[test]
fn an_incomplete_answer_is_not_kept() {
    let fake = Fake::new("one", shards(1, 2));
    let site = site(&fake, 16 << 20);
    let path = "/api/v2/search?q=arse&group=package&per_page=40";
    fake.set(Fault::ShardFailure);
    let page: Page<'_> = site.read(path);
    assert!(!page.complete);
    fake.set(Fault::None);
    let page: Page<'_> = site.read(path);
    assert!(page.complete, "it is searched and rendered again");
}

#[test]
fn a_fault_of_an_expensive_answer_is_said_to_all_and_not_kept() {
    let fake = Fake::new("one", shards(1, 2));
    let site = site(&fake, 16 << 20);
    for _ in 0..2 {
        assert_eq!(site.get("/api/v2/facets?q=arse&limit=5").status, 400);
    }
    assert_eq!(site.get("/api/v2/facets?q=arse").status, 200);
}
