//! Pages of packages and directories.

use crate::site::{AsBackend, Site};
use testkit::backend::{Document, Fake};

fn document(package: &str, path: &[u8], text: &str) -> Document {
    Document {
        package: package.as_bytes().to_vec(),
        path: path.to_vec(),
        lines: text.lines().map(|line| line.as_bytes().to_vec()).collect(),
        split: false,
    }
}

fn site() -> Site {
    let documents = vec![
        document(
            "alpha_1.0",
            b"README.md",
            "# Alpha\n<script>alert(1)</script>",
        ),
        document("alpha_1.0", b"src/main.c", "int main"),
        document("alpha_1.0", b"src/<b>\xff.c", "x"),
        document("alpha_1.0", b"image.bin", "x"),
        document("alpha_0.9", b"src/main.c", "int main"),
        document("beta_2", b"a.c", "x"),
    ];
    Site::new(vec![Fake::new("one", vec![(1, documents)]).backend()])
}

#[test]
fn packages_are_listed_by_a_part_of_their_names_those_that_begin_with_it_first() {
    let site = site();
    let page = site.get("/packages").text();
    for link in [
        "href=\"/p/alpha_1.0/\"",
        "href=\"/p/alpha_0.9/\"",
        "href=\"/p/beta_2/\"",
    ] {
        assert!(page.contains(link), "{link} in {page}");
    }
    assert!(page.contains("2023-11-14 22:13 UTC"), "{page}");
    let page = site.get("/packages?prefix=b").text();
    assert!(
        page.contains("beta_2") && !page.contains("alpha_1.0"),
        "{page}"
    );
    let page = site.get("/packages?prefix=ET").text();
    assert!(
        page.contains("/p/beta_2/") && !page.contains("alpha_1.0"),
        "{page}"
    );
    let page = site.get("/packages?prefix=a").text();
    let at = |name: &str| {
        page.find(name)
            .unwrap_or_else(|| panic!("{name} in {page}"))
    };
    assert!(at("/p/alpha_1.0/") < at("/p/beta_2/"));
    let page = site.get("/packages?prefix=%3Cb%3E").text();
    assert!(page.contains("No package has <code>&#60;b&#62;"), "{page}");
    for bad in ["after=*", "prefx=a"] {
        assert_eq!(site.get(&format!("/packages?{bad}")).status, 400, "{bad}");
    }
}

#[test]
fn a_package_shows_its_files_versions_readme_and_what_was_skipped() {
    let page = site().get("/p/alpha_1.0/").text();
    for part in [
        "<h1>alpha_1.0</h1>",
        "href=\"/p/alpha_1.0/src/\">src/</a>",
        "href=\"/p/alpha_0.9/\">alpha_0.9</a>",
        "<h3 id=\"md-alpha\">Alpha</h3>",
        "<code>image.bin</code></td><td>excluded by .gitignore:1:*.bin",
        "href=\"/packages\"",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(
        !page.contains("<script>") && !page.contains("alert"),
        "{page}"
    );
}

#[test]
fn a_package_without_its_version_is_the_newest_one() {
    let site = site();
    let page = site.get("/p/alpha/").text();
    assert!(page.contains("<h1>alpha_1.0</h1>"), "{page}");
    let page = site.get("/p/alpha_0.5/src/").text();
    assert!(
        page.contains("alpha_0.5 is not indexed, or no longer; this is alpha_1.0"),
        "{page}"
    );
    let answer = site.get_without_following("/p/alpha_1.0");
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, "/p/alpha_1.0/")
    );
}

#[test]
fn a_directory_lists_its_files_and_a_file_has_its_own_page() {
    let site = site();
    let page = site.get("/p/alpha_1.0/src/").text();
    assert!(
        page.contains("/show?package=alpha_1.0&#38;path=src/main.c"),
        "{page}"
    );
    assert!(
        page.contains("path=src/%3Cb%3E%FF.c") && !page.contains("<b>"),
        "{page}"
    );
    assert!(
        !page.contains("md-alpha"),
        "only the package has the README"
    );
    let answer = site.get_without_following("/p/alpha_1.0/src/main.c");
    assert_eq!(answer.status, 303);
    assert_eq!(
        answer.header("location"),
        "/show?package=alpha_1.0&path=src/main.c"
    );
}

#[test]
fn a_file_leads_to_itself_in_other_versions_that_have_it() {
    let site = site();
    let page = site
        .get("/show?package=alpha_1.0&path=src/main.c&q=int")
        .text();
    let link = "href=\"/show?package=alpha_0.9&#38;path=src/main.c&#38;q=int&#38;from=alpha_1.0\" data-keeps=\"parameter\">alpha_0.9</a>";
    assert!(page.contains(link), "{page}");
    let page = site.get("/show?package=alpha_1.0&path=README.md").text();
    assert!(!page.contains("<details class=\"versions\""), "{page}");
    let moved =
        site.get_without_following("/show?package=alpha_0.9&path=src/main.c&from=alpha_1.0&line=1");
    let location = moved.header("location");
    assert_eq!(
        location,
        "/show?package=alpha_0.9&path=src/main.c&line=1#L1"
    );
}

#[test]
fn what_is_not_searched_is_listed_with_reasons_and_counts() {
    let site = site();
    for address in ["/skipped", "/skipped?package=alpha", "/skipped?package="] {
        let page = site.get(address).text();
        for part in [
            "<td>excluded by a rule</td><td>1</td>",
            "<code>image.bin</code></td><td>excluded by .gitignore:1:*.bin</td>",
            "href=\"/p/alpha_1.0/\">alpha_1.0</a>",
        ] {
            assert!(page.contains(part), "{address}: {part} in {page}");
        }
    }
    let page = site.get("/skipped?package=beta_2").text();
    assert!(page.contains("Nothing was left out"), "{page}");
    let nothing = site.get("/search?q=nosuchword").text();
    assert!(nothing.contains("href=\"/skipped\""), "{nothing}");
}

#[test]
fn a_long_list_of_what_is_not_searched_comes_in_pages() {
    let documents = (0..1200).map(|number| {
        let path = format!("{number:04}.bin");
        document("alpha_1.0", path.as_bytes(), "x")
    });
    let site = Site::new(vec![
        Fake::new("one", vec![(1, documents.collect())]).backend(),
    ]);
    let mut address = "/skipped".to_owned();
    for first in ["0000.bin", "0500.bin", "1000.bin"] {
        let page = site.get(&address).text();
        let listed = page.find("<code>").unwrap() + "<code>".len();
        assert!(page[listed..].starts_with(first), "{address}");
        let counts = page.contains("<td>excluded by a rule</td><td>1,200</td>");
        assert_eq!(counts, first == "0000.bin", "the first page has the counts");
        let Some((_, next)) = page.split_once("rel=\"next\" href=\"") else {
            assert_eq!(first, "1000.bin");
            return;
        };
        let next = next.split('"').next().unwrap();
        address = next.replace("&#38;", "&");
    }
    panic!("there are three pages");
}

#[test]
fn an_unknown_package_or_directory_is_a_problem_that_says_so() {
    let site = site();
    for (address, status, word) in [
        ("/p/nosuch/", 404, "no package nosuch is indexed"),
        ("/p/nosuch_1.0/", 404, "no package nosuch_1.0 is indexed"),
        (
            "/p/alpha_1.0/nowhere/",
            404,
            "alpha_1.0 has no directory nowhere/",
        ),
        ("/p//x", 404, "names no package"),
        ("/p/alpha_1.0/?after=*", 400, "after is malformed"),
        ("/p/alpha_1.0/?page=2", 400, "unknown parameter page"),
        ("/p/alpha_1.0/%", 400, "two hexadecimal digits"),
        (
            "/skipped?package=nosuch",
            404,
            "no package nosuch is indexed",
        ),
        ("/skipped?after=*", 400, "after is malformed"),
        ("/skipped?path=x", 400, "unknown parameter path"),
    ] {
        let answer = site.get(address);
        assert_eq!(answer.status, status, "{address}");
        assert!(answer.text().contains(word), "{address}: {}", answer.text());
    }
}
