//! Facets, parts of a query, and suggestions for an empty result.

use crate::shards;
use crate::site::{AsBackend, Site};
use testkit::backend::{Fake, Fault};
use web::model::Facets;

fn site() -> Site {
    Site::new(vec![Fake::new("one", shards(1, 2)).backend()])
}

fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = page
        .split_once(start)
        .unwrap_or_else(|| panic!("no {start} in {page}"));
    rest.split_once(end)
        .unwrap_or_else(|| panic!("no {end} in {page}"))
        .0
}

#[test]
fn a_page_of_results_counts_its_matches_by_package_language_kind_and_directory() {
    let site = site();
    let page = site.get("/search?q=arse").text();
    let aside = between(&page, "<aside", "</aside>");
    for title in ["Packages", "Languages", "Kinds of file", "Directories"] {
        assert!(aside.contains(&format!(">{title}</h2>")), "{aside}");
    }
    let facets: Facets = site.read("/api/v2/facets?q=arse");
    let first = &facets.packages[0];
    let row = between(aside, "id=\"by-package\"", "</li>");
    assert!(row.contains(&format!(">{}</a>", first.package)), "{row}");
    assert!(
        row.contains(&format!("<span class=\"count\">{}</span>", first.total)),
        "{row}"
    );
    let language = between(aside, "id=\"by-lang\"", "</li>");
    assert!(
        language.contains("href=\"/search?q=arse&#38;lang=C\""),
        "{language}"
    );
    assert!(
        language.contains("href=\"/search?q=arse&#38;lang=-C\""),
        "{language}"
    );
    let kind = between(aside, "id=\"by-kind\"", "</li>");
    assert!(kind.contains("&#38;kind=source\""), "{kind}");
}

#[test]
fn a_value_that_is_selected_leads_to_the_query_without_it() {
    let site = site();
    let page = site.get("/search?q=arse&lang=C").text();
    let row = between(&page, "id=\"by-lang\"", "</li>");
    assert!(row.contains("class=\"selected\""), "{row}");
    assert!(row.contains("href=\"/search?q=arse\""), "{row}");
    assert!(!row.contains("class=\"others\""), "{row}");
}

#[test]
fn facets_are_a_fragment_that_grows_while_the_search_runs() {
    let fake = Fake::new("one", shards(1, 2));
    let site = Site::new(vec![fake.backend()]);
    // The search has ended then.
    site.search("arse");
    let finished = site.get("/search/facets?q=arse");
    assert_eq!(finished.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(finished.header("cache-control"), "no-store");
    assert!(finished.text().starts_with("<aside class=\"facets\""));
    assert!(!finished.text().contains("data-next-href"));
    fake.set(Fault::Gate);
    let running = site.get("/search?q=parse").text();
    let next = between(&running, "data-next-href=\"", "\"").replace("&#38;", "&");
    assert!(next.starts_with("/search/facets?q=parse&run="), "{next}");
    assert!(site.get(&next).text().contains("data-next-href"));
    fake.open_gate();
    crate::site::eventually("final counts", || {
        let text = site.get(&next).text();
        !text.contains("data-next-href") && text.contains("by-package")
    });
    assert_eq!(site.get("/search/facets?q=%28&mode=regexp").status, 400);
}

#[test]
fn filters_that_are_typed_are_ticked_and_can_be_unticked() {
    let page = site().get("/search?q=arse+lang:C+-path:zz").text();
    let aside = between(&page, "<aside", "</aside>");
    let row = between(aside, "id=\"by-lang\"", "</li>");
    assert!(
        row.contains("name=\"lang\" value=\"C\" aria-label=\"C\" checked>"),
        "{row}"
    );
    let rest = "<input type=\"hidden\" name=\"q\" value=\"arse -path:zz\">";
    assert!(aside.contains(rest), "{aside}");
    let all = between(aside, "class=\"all\" href=\"", "\"");
    assert_eq!(all, "/search?q=arse%20-path%3Azz");
    let page = site()
        .get("/search?q=arse+package:package+-kind:tests")
        .text();
    let aside = between(&page, "<aside", "</aside>");
    for ticked in [
        "name=\"package\" value=\"package\" aria-label=\"package\" checked>",
        "name=\"kind\" value=\"-tests\" aria-label=\"not tests\" checked>",
    ] {
        assert!(aside.contains(ticked), "{ticked} in {aside}");
    }
}

#[test]
fn several_values_of_a_list_are_alternatives_and_the_others_stay_in_the_list() {
    let site = site();
    let facets: Facets = site.read("/api/v2/facets?q=arse");
    let [one, other] = [&facets.packages[0], &facets.packages[1]];
    let query = format!(
        "q=arse&package=%3D{}&package=%3D{}",
        one.package, other.package
    );
    let both: Facets = site.read(&format!("/api/v2/facets?{query}"));
    assert_eq!(both.total, one.total + other.total);
    let page = site.get(&format!("/search?{query}")).text();
    let next = between(&page, "data-next-href=\"", "\"").replace("&#38;", "&");
    let packages = |page: &str| between(page, "id=\"by-package\"", "</section>").to_owned();
    assert_eq!(packages(&page).matches("<li").count(), 2);
    let counted = site.get(&next).text();
    let list = packages(&counted);
    assert_eq!(list.matches(" checked>").count(), 2, "{list}");
    assert_eq!(
        list.matches("<li").count(),
        facets.packages_total.min(24),
        "{list}"
    );
    assert!(!counted.contains("data-next-href"), "{counted}");
}

#[test]
fn a_page_of_results_has_one_line_before_the_first_box() {
    let page = site().get("/search?q=arse").text();
    let before = between(&page, "<main", "<article");
    for once in [
        "class=\"counts\"",
        "class=\"summary\"",
        "class=\"tabs\"",
        "class=\"menu\"",
    ] {
        assert_eq!(before.matches(once).count(), 1, "{once} in {before}");
    }
    assert!(!before.contains("<code>arse</code>"), "{before}");
}

#[test]
fn an_empty_answer_says_without_which_part_there_are_matches() {
    let site = site();
    let page = site.get("/search?q=arse+kind:tests").text();
    let help = between(&page, "<section class=\"nothing\"", "</section>");
    let without = between(help, "without <code>", "</span>");
    assert!(without.starts_with("kind:tests</code>"), "{without}");
    assert!(without.ends_with("157 matches"), "{without}");
    let some = site.get("/search?q=arse").text();
    assert!(!some.contains("class=\"nothing\""));
}

#[test]
fn an_empty_answer_says_how_else_to_read_what_was_typed() {
    let site = site();
    let page = site.get("/search?q=arse+lang:C&mode=literal").text();
    let help = between(&page, "<section class=\"nothing\"", "</section>");
    let link = between(help, "<li><a href=\"", "</li>");
    assert!(
        link.starts_with("/search?q=arse%20lang%3AC\">as words and filters</a>"),
        "{link}"
    );
    assert!(link.contains("157 matches"), "{link}");
}

#[test]
fn an_empty_answer_names_packages_that_do_not_exist() {
    let site = site();
    let list: serde_json::Value = site.read("/api/v2/index/packages");
    let known = list["packages"][0]["package"].as_str().unwrap().to_owned();
    let name = known
        .rsplit_once('_')
        .map_or(&known[..], |(name, _)| name)
        .to_owned();
    let page = site.get(&format!("/search?q=arse+package:{name}x")).text();
    let help = between(&page, "<section class=\"nothing\"", "</section>");
    assert!(
        help.contains(&format!("No package matches <code>{name}x</code>")),
        "{help}"
    );
    assert!(help.contains("Did you mean <a href="), "{help}");
}

#[test]
fn a_query_is_completed_with_keys_and_values() {
    let site = site();
    let complete = |query: &str| -> (u64, Vec<String>) {
        let found: serde_json::Value = site.read(&format!("/api/v2/complete?{query}"));
        let texts = found["completions"].as_array().unwrap().iter();
        let texts = texts.map(|each| each["text"].as_str().unwrap().to_owned());
        (found["from"].as_u64().unwrap(), texts.collect())
    };
    let check = |query: &str, from: u64, expected: &[&str]| {
        let expected = expected.iter().map(|text| (*text).to_owned());
        assert_eq!(complete(query), (from, expected.collect()), "{query}");
    };
    check("q=arse+pa", 5, &["package:", "path:", "parent:"]);
    check("q=x+-kind:t", 8, &["tests", "type", "target", "table"]);
    assert!(complete("q=lang:pyt").1.contains(&"Python".to_owned()));
    let (from, packages) = complete("q=package:pack+x&at=12");
    assert_eq!(from, 8);
    assert!(
        packages.iter().all(|name| name.starts_with("=pack")),
        "{packages:?}"
    );
    assert!(!packages.is_empty());
    assert!(complete("q=%22lang:p").1.is_empty());
    for bad in ["q=a&at=2", "q=%C3%BC&at=1", "q=a&at=x", "q=a&page=1"] {
        assert_eq!(
            site.get(&format!("/api/v2/complete?{bad}")).status,
            400,
            "{bad}"
        );
    }
}
