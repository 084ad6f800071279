//! Pages of files.

use crate::site::{AsBackend, Site};
use testkit::backend::{Document, Fake, Fault};

fn document(package: &str, path: &str, lines: Vec<String>) -> Document {
    Document {
        package: package.as_bytes().to_vec(),
        path: path.as_bytes().to_vec(),
        lines: lines.into_iter().map(String::into_bytes).collect(),
        split: false,
    }
}

fn numbered(count: u32) -> Vec<String> {
    (1..=count).map(|number| format!("text {number}")).collect()
}

fn site(documents: Vec<Document>) -> Site {
    Site::new(vec![Fake::new("one", vec![(1, documents)]).backend()])
}

/// First and last line, and their count.
fn lines(page: &str) -> (u32, u32, usize) {
    let numbers: Vec<u32> = page
        .split(" id=\"L")
        .skip(1)
        .map(|rest| rest.split_once('"').unwrap().0.parse().unwrap())
        .collect();
    assert!(numbers.is_sorted(), "lines ascend");
    (numbers[0], *numbers.last().unwrap(), numbers.len())
}

#[test]
fn a_file_of_up_to_20000_lines_is_on_one_page() {
    let site = site(vec![
        document("p_1", "long.c", numbered(20_000)),
        document("p_1", "longer.c", numbered(20_001)),
    ]);
    let page = site.get("/show?package=p_1&path=long.c&line=15000").text();
    assert_eq!(lines(&page), (1, 20_000, 20_000));
    assert!(page.contains("20,000 lines") && !page.contains("later lines"));
    assert!(page.contains("class=\"line hit\" id=\"L15000\""));
    assert!(page.trim_end().ends_with("</html>"), "the page is whole");
    let page = site
        .get("/show?package=p_1&path=longer.c&line=15000")
        .text();
    assert_eq!(lines(&page), (14_000, 18_999, 5000));
    assert!(page.contains("Lines 14,000 to 18,999 of 20,001"), "{page}");
    for neighbour in ["first=9000", "first=19000"] {
        let link = format!("/show?package=p_1&#38;path=longer.c&#38;{neighbour}");
        assert!(page.contains(&link), "{neighbour}");
    }
    let page = site
        .get("/show?package=p_1&path=longer.c&first=19000")
        .text();
    assert_eq!(lines(&page), (19_000, 20_001, 1002));
}

#[test]
fn a_range_of_lines_is_highlighted_in_either_order() {
    let site = site(vec![document("p_1", "a.c", numbered(30))]);
    let page = site.get("/show?package=p_1&path=a.c&line=20-10").text();
    assert_eq!(page.matches("class=\"line hit\"").count(), 11);
    for bad in ["x", "1-", "1-2-3"] {
        let answer = site.get(&format!("/show?package=p_1&path=a.c&line={bad}"));
        assert_eq!(answer.status, 400, "{bad}");
        assert!(answer.text().contains("such as line=7 or line=7-9"));
    }
    assert_eq!(site.get("/show?package=p_1&path=a.c&line=31").status, 404);
    assert_eq!(site.get("/show?package=p_1&path=a.c&line=0").status, 200);
}

#[test]
fn the_matches_of_the_query_are_marked_in_the_whole_file() {
    let mut text = numbered(3000);
    text[9] = "call arse here".to_owned();
    text[2499] = "<b>arse</b>".to_owned();
    let site = site(vec![
        document("p_1", "a.c", text),
        document("p_1", "b.c", numbered(5)),
    ]);
    let page = site.get("/show?package=p_1&path=a.c&q=arse").text();
    assert_eq!(page.matches("<mark>arse</mark>").count(), 2, "{page}");
    assert!(page.contains("2 matching lines"), "{page}");
    assert!(page.contains("<a href=\"#L10\">10</a>") && page.contains("<a href=\"#L2500\">"));
    assert!(
        page.contains("name=\"q\" type=\"search\" value=\"arse\""),
        "the box keeps the query"
    );
    let page = site.get("/show?package=p_1&path=b.c&q=arse").text();
    assert!(page.contains("0 matching lines"), "{page}");
    let page = site
        .get("/show?package=p_1&path=b.c&q=(&mode=regexp")
        .text();
    assert!(page.contains("The matches are not marked"), "{page}");
    assert_eq!(lines(&page), (1, 5, 5), "the file is shown");
}

#[test]
fn the_links_of_a_page_of_results_lead_to_the_marks_in_the_file() {
    let text = |count: u32| (0..count).map(|_| "call arse here".to_owned()).collect();
    let site = site(vec![document("p_1", "a.c", text(3))]);
    let page = site.get("/search?q=arse&case=yes").text();
    let link = "/show?package=p_1&#38;path=a.c&#38;q=arse&#38;case=yes&#38;line=2#L2";
    assert!(page.contains(&format!("href=\"{link}\"")), "{page}");
    let address = link.replace("&#38;", "&").replace("#L2", "");
    let file = site.get(&address).text();
    assert_eq!(file.matches("<mark>arse</mark>").count(), 3, "{file}");
}

#[test]
fn a_page_of_results_leads_to_the_directories_of_a_file() {
    let site = site(vec![
        document("p_1", "src/deep/a.c", numbered(3)),
        document("p_1", "src/deep/<b>.c", numbered(3)),
        document("p_1", "src/deep/more/c.c", numbered(3)),
    ]);
    let page = site.get("/show?package=p_1&path=src/deep/a.c").text();
    for link in [
        "href=\"/p/p_1/\"",
        "href=\"/p/p_1/src/\"",
        "href=\"/p/p_1/src/deep/\"",
        "href=\"/p/p_1/src/deep/more/\"",
        "path=src/deep/%3Cb%3E.c",
    ] {
        assert!(page.contains(link), "{link} in {page}");
    }
    assert!(page.contains("aria-current=\"page\">a.c</a>"), "{page}");
    assert_eq!(page.matches("<h1").count(), 1);
}

#[test]
fn a_directory_in_place_of_a_file_leads_to_its_page() {
    let site = site(vec![document("p_1", "src/a b.c", numbered(3))]);
    for path in ["src", "src/"] {
        let answer = site.get_without_following(&format!("/show?package=p&path={path}"));
        assert_eq!(answer.status, 303, "{path}");
        assert_eq!(answer.header("location"), "/p/p_1/src/");
    }
    assert_eq!(site.get("/show?package=p_1&path=sr").status, 404);
}

#[test]
fn a_skipped_file_says_why_it_is_not_there() {
    let site = site(vec![
        document("p_1", "a.c", numbered(3)),
        document("p_1", ".git", numbered(3)),
    ]);

    let answer = site.get("/show?package=p_1&path=.git/x");
    assert_eq!(answer.status, 404);
    assert!(
        answer
            .text()
            .contains("p_1/.git/x is not indexed: git&#39;s own data"),
        "{}",
        answer.text()
    );
}

#[test]
fn a_version_that_is_gone_leads_to_the_one_that_has_the_file() {
    let site = site(vec![
        document("p_1.2", "a.c", numbered(3)),
        document("p_1.3", "a.c", numbered(4)),
        document("p_1.3", "b.c", numbered(4)),
    ]);
    let page = site.get("/show?package=p_1.1&path=a.c");
    assert_eq!(page.status, 200);
    let text = page.text();
    assert!(
        text.contains("p_1.1 is not indexed, or no longer; this is the file in p_1.3"),
        "{text}"
    );
    assert!(text.contains("4 lines"), "{text}");
    let answer = site.get("/api/v2/file?package=p_1.1&path=a.c");
    assert_eq!(answer.status, 410);
    let newest = &answer.json()["newest"];
    assert_eq!(newest["package"], "p_1.3");
    assert_eq!(newest["link"], "/api/v2/file?package=p_1.3&path=a.c");
    assert_eq!(site.get("/show?package=p_1.1&path=c.c").status, 404);
    assert_eq!(site.get("/show?package=q_1.1&path=a.c").status, 404);
}

#[test]
fn a_name_without_version_leads_to_the_newest_one() {
    let site = site(vec![
        document("p_1.2", "a.c", numbered(3)),
        document("p_1.3", "a.c", numbered(4)),
    ]);
    let page = site.get("/show?package=p&path=a.c").text();
    assert!(page.contains("this is the file in p_1.3"), "{page}");
    assert_eq!(lines(&page), (1, 4, 4));
    let answer = site.get("/api/v2/file?package=p&path=a.c");
    assert_eq!(answer.status, 400, "programs name the version");
}

#[test]
fn a_link_by_content_finds_the_text_in_another_version_or_says_that_it_changed() {
    let site = site(vec![
        document("p_1.2", "a.c", numbered(3)),
        document("p_1.3", "a.c", numbered(4)),
    ]);
    let page = site.get("/show?package=p_1.2&path=a.c").text();
    let (_, exact) = page.split_once("data-exact-href=\"").unwrap();
    let exact = exact.split_once('"').unwrap().0.replace("&#38;", "&");
    let page = site.get(&exact).text();
    assert!(!page.contains("class=\"notice\""), "{page}");
    let page = site.get(&exact.replace("p_1.2", "p_1.3")).text();
    assert!(page.contains("The text of this link is in p_1.2"), "{page}");
    let other = format!("/show?package=p_1.3&path=a.c&hash={}", "0".repeat(64));
    let page = site.get(&other).text();
    assert!(
        page.contains("The text has changed since this link was made"),
        "{page}"
    );
    assert_eq!(site.get("/show?package=p_1.3&path=a.c&hash=x").status, 400);
}

#[test]
fn marks_wait_for_no_slow_backend() {
    let fake = Fake::with(
        "one",
        vec![(1, vec![document("p_1", "a.c", vec!["arse".to_owned()])])],
        Fault::Gate,
    );
    let site = Site::new(vec![fake.backend()]);
    let page = site.get("/show?package=p_1&path=a.c&q=arse").text();
    assert!(
        page.contains("the search in this file takes too long"),
        "{page}"
    );
    assert_eq!(lines(&page), (1, 1, 1));
}
