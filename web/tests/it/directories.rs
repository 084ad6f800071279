//! The pages of packages and directories.

use crate::site::Site;
use fake_backend::{Document, Fake};

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
fn packages_are_listed_by_the_beginning_of_their_names() {
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
    let page = site.get("/packages?prefix=%3Cb%3E").text();
    assert!(
        page.contains("No package has a name that begins with <code>&#60;b&#62;"),
        "{page}"
    );
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
        "# Alpha\n&#60;script&#62;alert(1)",
        "<code>image.bin</code></td><td>excluded by .gitignore:1:*.bin",
        "href=\"/packages\"",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!page.contains("<script>"), "{page}");
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
    assert!(!page.contains("# Alpha"), "only the package has the README");
    let answer = site.get_without_following("/p/alpha_1.0/src/main.c");
    assert_eq!(answer.status, 303);
    assert_eq!(
        answer.header("location"),
        "/show?package=alpha_1.0&path=src/main.c"
    );
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
    ] {
        let answer = site.get(address);
        assert_eq!(answer.status, status, "{address}");
        assert!(answer.text().contains(word), "{address}: {}", answer.text());
    }
}
