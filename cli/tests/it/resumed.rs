//! An answer is cut after each of its frames, and a replica resumes it: pages are equal, byte for
//! byte.

use crate::home::Home;
use crate::http;
use crate::proxy::{NextCut, Proxy};
use serde_json::Value;

/// Per package and file; half of the lines match. The large file has several batches.
const FILES: usize = 12;
const LINES: usize = 12;
const LINES_OF_THE_LARGE: usize = 3000;

/// Files, large file, PROGRESS and END.
const FRAMES_MIN: usize = 2 * FILES + 6;

fn write(home: &Home) {
    for package in ["one", "two"] {
        for file in 0..FILES {
            let lines = if file == 3 { LINES_OF_THE_LARGE } else { LINES };
            let line = |line| match line % 2 {
                0 => format!("wanted {file}.{line}\n"),
                _ => format!("{file}.{line} in between\n"),
            };
            let text: String = (0..lines).map(line).collect();
            home.write(&format!("{package}/{file}.c"), text);
        }
    }
    home.ok("index --index index one");
    home.ok("index --index index two");
}

/// Excludes fields that differ between searches.
fn pages(address: &str, query: &str) -> Vec<Value> {
    let first = http::get(address, &format!("/api/v2/search?{query}&context=2")).json();
    let id = first["id"].as_str().expect("an id").to_owned();
    let mut pages = vec![first];
    let more = ["page=1&per_page=1000", "page=2&per_page=1000", "page=7"];
    for more in more {
        pages.push(http::get(address, &format!("/api/v2/search/{id}?{more}")).json());
    }
    pages.push(http::get(address, &format!("/api/v2/search/{id}/packages")).json());
    for page in &mut pages {
        let page = page.as_object_mut().expect("an object");
        for key in [
            "id",
            "timings",
            "interpreted_as",
            "next",
            "link",
            "search_id",
        ] {
            page.remove(key);
        }
    }
    pages
}

fn resumed(address: &str) -> u64 {
    let metrics = http::get(address, "/metrics");
    let counts = metrics.text().lines().filter_map(|line| {
        let count = line.strip_prefix("trawl_frontend_streams_resumed_total{")?;
        count.rsplit_once(' ')?.1.parse::<u64>().ok()
    });
    counts.sum()
}

#[test]
fn an_answer_that_is_cut_after_any_frame_goes_on_with_the_other_backend() {
    let home = Home::new();
    write(&home);
    let backends = [(); 2].map(|()| home.start("backend --index index"));
    let next_cut = NextCut::default();
    let proxies = backends
        .each_ref()
        .map(|backend| Proxy::cutting(&backend.address, &next_cut));
    let frontend = home.start(&format!(
        "frontend --backend {} --backend {} --spool spool",
        proxies[0].address, proxies[1].address
    ));
    // Answers are cached.
    let mut number = 0;
    let mut search = |limits: &str| {
        number += 1;
        pages(
            &frontend.address,
            &format!("q=wanted+-path:no{number}&{limits}"),
        )
    };
    for limits in ["", "limit=40", "limit=10&total=estimate"] {
        let whole = search(limits);
        assert_eq!(whole[0]["complete"], Value::from(true), "{:?}", whole[0]);
        let mut frames = 0;
        loop {
            frames += 1;
            let before = resumed(&frontend.address);
            *next_cut.lock().unwrap() = Some(frames);
            let cut = search(limits);
            assert!(
                cut == whole,
                "cut after {frames} frames, {limits}: {:?}",
                cut[0]["missing"]
            );
            if resumed(&frontend.address) == before {
                break;
            }
        }
        let all = if limits.is_empty() { FRAMES_MIN } else { 4 };
        assert!(frames >= all, "{limits} has {frames} frames");
    }
    frontend.check_no_panic();
    backends.iter().for_each(|backend| backend.check_no_panic());
}
