//! Differences of packages and revisions, as JSON and as pages.

use crate::site::{AsBackend, Site};
use testkit::backend::{Document, Fake, FakeRepository};
use web::model::{ChangedFileKind, Diff, DiffLineKind};

fn document(package: &str, path: &[u8], text: &str) -> Document {
    Document {
        package: package.as_bytes().to_vec(),
        path: path.to_vec(),
        lines: text.lines().map(|line| line.as_bytes().to_vec()).collect(),
        split: false,
    }
}

fn site() -> Site {
    let many: String = (0..500).map(|line| format!("line {line}\n")).collect();
    let other = many.replace("line", "other");
    let documents = vec![
        document("p_1", b"src/<b>\xff.c", "<script>old</script>\nint same;\n"),
        document("p_1", b"src/gone.c", "int gone;\n"),
        document("p_1", b"src/same.c", "int same;\n"),
        document("p_1", b"was.c", "int moved;\n"),
        document("p_1", b"large.txt", &many),
        document("p_2", b"src/<b>\xff.c", "<script>new</script>\nint same;\n"),
        document("p_2", b"src/same.c", "int same;\n"),
        document("p_2", b"src/new.c", "int added;\n"),
        document("p_2", b"is.c", "int moved;\n"),
        document("p_2", b"large.txt", &other),
    ];
    let fake = Fake::new("one", vec![(1, documents)]);
    *fake.repositories.lock().unwrap() = vec![FakeRepository::new("project", 3)];
    Site::new(vec![fake.backend()])
}

fn kinds(diff: &Diff) -> Vec<(&str, ChangedFileKind)> {
    let files = diff.files.iter();
    files.map(|file| (&file.path[..], file.kind)).collect()
}

#[test]
fn two_packages_differ_in_the_files_whose_texts_differ() {
    let site = site();
    let diff: Diff = site.read("/api/v2/diff?from=p_1&to=p_2");
    assert_eq!(
        kinds(&diff),
        [
            ("is.c", ChangedFileKind::Renamed),
            ("large.txt", ChangedFileKind::Modified),
            ("src/<b>\u{fffd}.c", ChangedFileKind::Modified),
            ("src/gone.c", ChangedFileKind::Removed),
            ("src/new.c", ChangedFileKind::Added),
        ]
    );
    assert!(diff.complete && diff.next.is_none());
    assert_eq!(diff.files[0].was.as_deref(), Some("was.c"));
    assert!(diff.files[2].path_base64.is_some());
    let hunk = &diff.files[2].hunks[0];
    assert_eq!(
        (hunk.before, hunk.before_lines, hunk.after_lines),
        (1, 2, 2)
    );
    let lines = hunk
        .lines
        .iter()
        .map(|line| (line.kind, &line.text[..], &line.words[..]));
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [
            (
                DiffLineKind::Removed,
                "<script>old</script>",
                &[(8, 11)][..]
            ),
            (DiffLineKind::Added, "<script>new</script>", &[(8, 11)]),
            (DiffLineKind::Same, "int same;", &[]),
        ]
    );
}

#[test]
fn a_path_is_a_file_or_a_directory() {
    let site = site();
    let below: Diff = site.read("/api/v2/diff?from=p_1&to=p_2&path=src/");
    assert_eq!(below.files.len(), 3);
    let file: Diff = site.read("/api/v2/diff?from=p_1&to=p_2&path=large.txt&context=0");
    assert_eq!(kinds(&file), [("large.txt", ChangedFileKind::Modified)]);
    assert_eq!(
        (file.files[0].added, file.files[0].removed),
        (Some(500), Some(500))
    );
    let two: Diff = site.read("/api/v2/diff?from=p_1&to=p_2&from_path=was.c&path=src/new.c");
    assert_eq!(two.files[0].was.as_deref(), Some("was.c"));
    assert_eq!(two.files[0].hunks[0].lines[0].text, "int moved;");
}

#[test]
fn a_page_shows_differences_both_ways_and_escapes_names() {
    let site = site();
    let page = site.get("/diff?from=p_1&to=p_2").text();
    for part in [
        "5 files changed",
        "src/&#60;b&#62;",
        "&#60;script&#62;",
        "<mark>",
        "Not shown: a large difference",
        "href=\"/diff?from=p_1&#38;to=p_2&#38;path=large.txt\"",
        "href=\"/show?package=p_2&#38;path=src/new.c&#38;line=1#L1\"",
        "href=\"/diff?from=p_2&#38;to=p_1\"",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!page.contains("<script>old"), "{page}");
    let split = site.get("/diff?from=p_1&to=p_2&view=split&path=src").text();
    assert!(
        split.contains("class=\"diff split\"") && split.contains("view=split"),
        "{split}"
    );
    let alone = site.get("/diff?from=p_1&to=p_2&path=large.txt").text();
    assert!(
        alone.contains("</mark> 499</code>") && !alone.contains("Not shown"),
        "{alone}"
    );
}

#[test]
fn revisions_are_compared_by_the_repository() {
    let site = site();
    let diff: Diff = site.read("/api/v2/diff?package=project&from=HEAD~2&to=main");
    assert_eq!(diff.files[0].kind, ChangedFileKind::Added);
    assert!(diff.to.commit.is_some());
    let reason = diff.files[0].omitted.as_deref().unwrap_or_default();
    assert!(reason.contains("object 1111"), "{reason}");
    let commit = site.get("/commit?repo=project").text();
    assert!(commit.contains("As a comparison"), "{commit}");
}

#[test]
fn wrong_parameters_and_names_are_errors() {
    let site = site();
    for (query, status, says) in [
        ("", 400, "from is missing"),
        ("from=p_1", 400, "to is missing"),
        (
            "from=p_1&to=nothing_1",
            404,
            "no package nothing_1 is indexed",
        ),
        ("package=project&to=mian", 404, "no revision mian"),
        ("package=project&to=main@{1}", 400, "reflog"),
        ("from=p_1&to=p_2&view=up", 400, "view"),
        ("from=p_1&to=p_2&context=x", 400, "context"),
    ] {
        let answer = site.get(&format!("/diff?{query}"));
        assert_eq!(answer.status, status, "{query}");
        assert!(answer.text().contains(says), "{query}: {}", answer.text());
    }
}
