//! Page of results: boxes, tabs, lines of one file, and running searches.

use crate::shards;
use crate::site::{AsBackend, Site};
use testkit::backend::{Document, Fake, Fault};

fn site() -> Site {
    Site::new(vec![Fake::new("one", shards(1, 2)).backend()])
}

/// `arse` is in every third of 700 lines.
fn long_file() -> Site {
    let line = |number: usize| match number % 3 {
        0 => format!("arse {number}").into_bytes(),
        _ => b"other".to_vec(),
    };
    let document = |path: &str, lines: Vec<Vec<u8>>| Document {
        package: b"p_1".to_vec(),
        path: path.as_bytes().to_vec(),
        lines,
        split: false,
    };
    let long = document("long.c", (1..=700).map(line).collect());
    let short = document("short.c", vec![b"one arse".to_vec()]);
    Site::new(vec![
        Fake::new("one", vec![(1, vec![long, short])]).backend(),
    ])
}

fn files(page: &str) -> Vec<String> {
    let boxes = page.split("data-box=\"").skip(1);
    boxes
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect()
}

fn lines(page: &str) -> Vec<Vec<u32>> {
    let numbers = |each: &str| {
        let numbers = each.split("class=\"number\"").skip(1);
        let number = |rest: &str| {
            let text = rest.split('>').nth(1).unwrap();
            text.split('<').next().unwrap().parse().unwrap()
        };
        numbers.map(number).collect()
    };
    page.split("data-box=").skip(1).map(numbers).collect()
}

#[test]
fn the_first_page_has_different_files_with_ascending_lines() {
    let site = site();
    let page = site.get("/search?q=arse").text();
    let shown = files(&page);
    assert_eq!(shown.len(), 10, "{page}");
    let mut distinct = shown.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 10, "{shown:?}");
    for lines in lines(&page) {
        assert!(
            !lines.is_empty() && lines.is_sorted_by(|a, b| a < b),
            "{lines:?}"
        );
    }
    let second = files(&site.get("/search?q=arse&page=1").text());
    assert!(
        second.iter().all(|file| !shown.contains(file)),
        "{second:?}"
    );
}

#[test]
fn tabs_group_by_file_by_line_and_by_package() {
    let site = site();
    let tabs = |address: &str| {
        let page = site.get(address).text();
        let nav = page.split("class=\"tabs\"").nth(1).unwrap();
        nav.split("</nav>").next().unwrap().to_owned()
    };
    let by_file = tabs("/search?q=arse&per_page=3&page=2");
    for tab in [
        "<a href=\"/search?q=arse&#38;per_page=3\" aria-current=\"page\">By file</a>",
        "<a href=\"/search?q=arse&#38;group=none&#38;per_page=3\">By line</a>",
        "<a href=\"/search?q=arse&#38;group=package&#38;per_page=3\">By package</a>",
    ] {
        assert!(by_file.contains(tab), "{by_file}");
    }
    assert!(tabs("/search?q=arse&group=none").contains("aria-current=\"page\">By line"));
    let form = site.get("/search?q=arse&group=package").text();
    let kept = "<input type=\"hidden\" name=\"group\" value=\"package\">";
    assert!(form.contains(kept), "the next search keeps it: {form}");
}

#[test]
fn a_box_says_how_many_matches_are_left_in_its_file_and_where() {
    let site = long_file();
    let page = site.get("/search?q=arse&context=0").text();
    assert_eq!(lines(&page).len(), 2, "{page}");
    assert!(page.contains("<span>233 matches</span>"), "{page}");
    let more = "/search?q=arse&#38;package=%3Dp_1&#38;path=%3Dlong.c&#38;context=0\" data-more=\"replace\">230 more in this file";
    assert!(page.contains(more), "{page}");
    assert!(page.contains("class=\"gap\""), "lines are left out: {page}");
}

#[test]
fn the_lines_of_one_file_come_in_order_a_hundred_at_a_time() {
    let site = long_file();
    let query = "/search?q=arse&package=%3Dp_1&path=%3Dlong.c&context=0";
    let mut seen = Vec::new();
    let mut address = query.to_owned();
    for left in [Some(133), Some(33), None] {
        let page = site.get(&address).text();
        let shown = lines(&page).remove(0);
        seen.extend(shown);
        let Some(left) = left else {
            assert!(!page.contains("in this file"), "{page}");
            break;
        };
        let next = seen.last().unwrap() + 1;
        let more = format!("&#38;from={next}\" data-more=\"append\">{left} more in this file");
        assert!(page.contains(&more), "{more}: {page}");
        address = format!("{query}&from={next}");
    }
    let expected: Vec<u32> = (1..=700).filter(|line| line % 3 == 0).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_line_to_begin_with_that_does_not_exist_is_refused() {
    let site = long_file();
    let query = "/search?q=arse&package=%3Dp_1&path=%3Dlong.c";
    let past = site.get(&format!("{query}&from=701"));
    assert_eq!(past.status, 404);
    assert!(past.text().contains("no match is in line 701 or below it"));
    let malformed = site.get(&format!("{query}&from=x"));
    assert_eq!(malformed.status, 400);
    assert!(malformed.text().contains("from=x is not a number"));
    // Meaningless with several files.
    assert_eq!(site.get("/search?q=arse&from=5").status, 200);
}

#[test]
fn boxes_have_links_to_the_raw_file_and_an_export_of_their_matches() {
    let site = long_file();
    let page = site.get("/search?q=arse").text();
    assert!(page.contains("href=\"/raw/p/p_1/long.c\""), "{page}");
    let export = "/api/v2/export?q=arse&#38;package=%3Dp_1&#38;path=%3Dlong.c&#38;format=jsonl";
    assert!(page.contains(export), "{page}");
    let all = site.get(&export.replace("&#38;", "&")).text();
    assert_eq!(all.lines().count(), 233);
    for format in ["jsonl", "csv", "text"] {
        let all = format!("/api/v2/export?q=arse&#38;format={format}");
        assert!(page.contains(&all), "{page}");
        assert_eq!(site.get(&all.replace("&#38;", "&")).status, 200, "{format}");
    }
    assert!(
        page.contains("&#38;generation="),
        "a permanent link: {page}"
    );
}

#[test]
fn the_page_of_a_stopped_search_says_so_and_goes_on_at_a_click() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    let running = site.get("/search?q=arse").text();
    let id = &running.split("/api/v2/search/").nth(1).unwrap()[..32];
    let stop = format!("/api/v2/search/{id}");
    assert_eq!(
        site.send(ureq::http::Method::DELETE, &stop, &[]).status,
        204
    );
    let page = site.get(&format!("/search?q=arse&run={id}")).text();
    assert!(page.contains("<h2>Stopped by you: "), "{page}");
    assert!(
        page.contains("href=\"/search?q=arse\">Continue</a>"),
        "{page}"
    );
    assert!(!page.contains("This answer is incomplete"), "{page}");
    fake.open_gate();
}

#[test]
fn the_events_of_a_page_carry_boxes_and_then_the_end() {
    let fake = Fake::with("one", shards(1, 2), Fault::Gate);
    let site = Site::new(vec![fake.backend()]);
    let running = site.get("/search?q=arse").text();
    let events = running.split("data-events-href=\"").nth(1).unwrap();
    let events = events.split('"').next().unwrap().replace("&#38;", "&");
    assert!(events.starts_with("/search/events?q=arse&run="), "{events}");
    let so_far = site.events(&events, "boxes");
    let (_, boxes) = so_far.last().unwrap();
    let html = boxes["html"].as_str().unwrap();
    assert!(html.contains("<mark>arse</mark>"), "{html}");
    let shown = files(html);
    let distinct: std::collections::BTreeSet<_> = shown.iter().collect();
    assert_eq!(distinct.len(), shown.len(), "one box a file: {html}");
    for lines in lines(html) {
        assert!(lines.is_sorted_by(|a, b| a < b), "{lines:?}");
    }
    fake.open_gate();
    let all = site.events(&events, "done");
    let (_, end) = all.last().unwrap();
    assert_eq!(end["error"], serde_json::Value::Null);
    assert_eq!(end["matches"], 157);
    // A client that reconnects after a restart follows the same query.
    let unknown = events.replace("&run=", "&run=0");
    let (_, end) = site.events(&unknown, "done").pop().unwrap();
    assert_eq!(end["matches"], 157);
    assert_eq!(site.get("/search/events?q=(&mode=regexp").status, 400);
    assert_eq!(site.get("/search/events?q=x&group=file").status, 400);
}
