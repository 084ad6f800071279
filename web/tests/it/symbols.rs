//! Definitions of files, and definitions and uses of names.

use crate::site::{AsBackend, Site};
use testkit::backend::{Document, Fake};
use web::model::{FileOutline, PlaceReason, SymbolPlaces, TotalRelation};

const LIBRARY: &str = "\
struct list {
    int length;
};
int list_add(struct list *to);
/* list_add is fast */
int list_add(struct list *to)
{
    return ++to->length;
}
";

const PROGRAM: &str = "\
#include <list/list.h>
int main(void)
{
    // list_add
    puts(\"list_add\");
    list_add(0); list_adder(0);
    return list_add(0);
}
";

fn document(package: &str, path: &str, text: &str) -> Document {
    Document {
        package: package.as_bytes().to_vec(),
        path: path.as_bytes().to_vec(),
        lines: text.lines().map(|line| line.as_bytes().to_vec()).collect(),
        split: false,
    }
}

/// A library, a program that includes it, and a package with a function of the same name.
fn site() -> Site {
    let documents = [
        document("list_1.0", "src/list.c", LIBRARY),
        document(
            "list_1.0",
            "test.c",
            "void test(void)\n{\n    list_add(0);\n}\n",
        ),
        document(
            "other_1.0",
            "a.c",
            "int list_add(int a)\n{\n    return a;\n}\n",
        ),
        document("program_1.0", "main.c", PROGRAM),
    ];
    let fakes = documents.chunks(2).zip(1..);
    let fakes = fakes.map(|(shard, id)| {
        Fake::new(&format!("backend {id}"), vec![(id, shard.to_vec())]).backend()
    });
    Site::new(fakes.collect())
}

fn places(site: &Site, path: &str) -> SymbolPlaces {
    site.read(&format!("/api/v2/{path}"))
}

fn shown(places: &SymbolPlaces) -> Vec<(PlaceReason, String, Option<&str>, Option<bool>)> {
    let shown = places.places.iter().map(|it| {
        let at = format!("{}/{}:{}:{}", it.package, it.path, it.line, it.column);
        (it.reason, at, it.kind.as_deref(), it.declaration)
    });
    shown.collect()
}

#[test]
fn definitions_of_a_file_are_listed_with_bodies_and_parents() {
    let site = site();
    let file = "package=list&path=src/list.c";
    let answer = site.get(&format!("/api/v2/symbols?{file}"));
    let outline: FileOutline = serde_json::from_value(answer.json()).unwrap();
    let found = outline.definitions.iter().map(|it| {
        let parent = (it.parent.as_deref(), it.parent_index);
        let kind = (&it.kind[..], it.declaration);
        (
            &it.name[..],
            kind,
            (it.line, it.column, it.end_line),
            parent,
        )
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            ("list", ("struct", false), (1, 7, 3), (None, None)),
            (
                "length",
                ("field", false),
                (2, 8, 2),
                (Some("list"), Some(0))
            ),
            ("list_add", ("function", true), (4, 4, 4), (None, None)),
            ("list_add", ("function", false), (6, 4, 9), (None, None)),
        ]
    );
    assert_eq!(
        (&outline.package[..], outline.complete, outline.missing),
        ("list_1.0", true, None)
    );
    let alias = site.get(&format!("/api/v2/outline?{file}"));
    assert_eq!(alias.json(), answer.json());
    for (parameters, status) in [
        ("package=list&path=b.c", 404),
        ("package=beta&path=src/list.c", 404),
        ("package=list", 400),
        ("package=list&path=src/list.c&line=2", 400),
    ] {
        let answer = site.get(&format!("/api/v2/symbols?{parameters}"));
        assert_eq!(answer.status, status, "{parameters}: {}", answer.text());
    }
}

#[test]
fn definitions_of_a_name_come_by_nearness() {
    let site = site();
    let expected = |reason: [PlaceReason; 3]| {
        let at = |at: &str| at.to_owned();
        vec![
            (
                reason[0],
                at("list_1.0/src/list.c:6:4"),
                Some("function"),
                Some(false),
            ),
            (
                reason[1],
                at("list_1.0/src/list.c:4:4"),
                Some("function"),
                Some(true),
            ),
            (
                reason[2],
                at("other_1.0/a.c:1:4"),
                Some("function"),
                Some(false),
            ),
        ]
    };
    use PlaceReason::{Elsewhere, Imported, SameFile, SamePackage};
    let found = places(
        &site,
        "definitions?package=program&path=main.c&line=6&column=4",
    );
    assert_eq!(shown(&found), expected([Imported, Imported, Elsewhere]));
    assert_eq!((&found.name[..], found.complete), ("list_add", true));
    let first = &found.places[0];
    assert_eq!((first.end_line, first.precise), (Some(9), false));
    assert_eq!(first.text, "int list_add(struct list *to)");
    // The end of a name is a position of it.
    let on_definition = "definitions?package=list&path=src/list.c&line=6&column=12";
    let found = places(&site, on_definition);
    assert_eq!(shown(&found), expected([SameFile, SameFile, Elsewhere]));
    let by_name = "definitions?package=list&path=test.c&name=list_add";
    let found = places(&site, by_name);
    assert_eq!(
        shown(&found),
        expected([SamePackage, SamePackage, Elsewhere])
    );
    assert_eq!(places(&site, &format!("{by_name}&limit=1")).places.len(), 1);
    let found = places(&site, "definitions?name=list_add");
    assert!(found.places.iter().all(|it| it.reason == Elsewhere) && found.total == 3);
    let found = places(&site, "definitions?name=list_add&package=list_1.0");
    assert_eq!(
        shown(&found),
        expected([SamePackage, SamePackage, Elsewhere])
    );
}

#[test]
fn bodies_come_before_declarations_in_many_files() {
    let texts = ["int many(int);\n", "int many(int a) { return a; }\n"];
    let documents = (0..40).map(|at| document("p_1", &format!("{at}.c"), texts[at % 2]));
    let fake = Fake::new("backend", vec![(1, documents.collect())]);
    let site = Site::new(vec![fake.backend()]);
    let found = places(&site, "definitions?name=many");
    let declarations = found.places.iter().map(|it| it.declaration);
    let expected = [Some(false); 20].into_iter().chain([Some(true); 20]);
    assert!(declarations.eq(expected), "{:?}", shown(&found));
}

#[test]
fn near_places_are_not_lost_among_better_matches() {
    let mut documents = vec![document(
        "near_1",
        "z.c",
        "#include <middle.h>\nvoid z(void) { f(); }\n",
    )];
    for at in 0..40 {
        let package = ["far_1", "middle_1"][usize::from(at > 38)];
        documents.push(document(
            package,
            &format!("{at}.c"),
            "void g(void) {\n    f();\n}\n",
        ));
    }
    let fake = Fake::new("backend", vec![(1, documents)]);
    let site = Site::new(vec![fake.backend()]);
    let found = places(&site, "references?name=f&package=near_1&path=z.c&limit=3");
    let reasons: Vec<_> = found.places.iter().map(|it| it.reason).collect();
    use PlaceReason::{Elsewhere, Imported, SameFile};
    assert_eq!(
        (reasons, found.total),
        (vec![SameFile, Imported, Elsewhere], 41)
    );
}

#[test]
fn uses_of_a_name_are_in_code() {
    use PlaceReason::{Elsewhere, SamePackage};
    let found = places(
        &site(),
        "references?package=list&path=src/list.c&line=4&column=5&limit=2",
    );
    let at = |at: &str| at.to_owned();
    assert_eq!(
        shown(&found),
        [
            (SamePackage, at("list_1.0/test.c:3:4"), None, None),
            (Elsewhere, at("program_1.0/main.c:6:4"), None, None),
        ]
    );
    assert_eq!((found.total, found.total_relation), (3, TotalRelation::Eq));
}

#[test]
fn a_position_without_a_name_is_an_error() {
    let site = site();
    let file = "package=program&path=main.c";
    for (parameters, status) in [
        ("line=3&column=0", 404),
        ("line=9&column=0", 404),
        ("line=6&column=99", 404),
        ("line=0&column=0", 400),
        ("line=6", 400),
        ("column=6", 400),
        ("", 400),
        ("name=", 400),
        ("name=a&line=1&column=0", 400),
        ("name=a&limit=1001", 400),
        ("name=a&rev=", 200),
        ("name=a&q=b", 400),
    ] {
        for endpoint in ["definitions", "references"] {
            let answer = site.get(&format!("/api/v2/{endpoint}?{file}&{parameters}"));
            assert_eq!(answer.status, status, "{parameters}: {}", answer.text());
        }
    }
    let answer = site.get("/api/v2/definitions?package=program&path=b.c&name=a");
    assert_eq!(answer.status, 404);
}

#[test]
fn a_page_of_a_file_has_its_outline() {
    let site = site();
    let page = site.get("/show?package=list_1.0&path=src/list.c").text();
    for part in [
        "<li class=\"d0\" data-end=\"3\"><a class=\"outline-kind c-t\" href=\"/symbol?package=list_1.0&#38;path=src/list.c&#38;line=1&#38;column=7\"",
        "<a href=\"#L1\" title=\"struct, line 1\">list</a>",
        "<li class=\"d1\"><a class=\"outline-kind c-s\"",
        "title=\"declaration of a function, line 4\"",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
}

#[test]
fn the_page_of_a_name_has_its_definitions_and_searches() {
    let site = site();
    let file = "/symbol?package=program_1.0&path=main.c";
    let page = site.get(&format!("{file}&line=6&column=5")).text();
    let definition = |place: &str, kind: &str| {
        let at = page.find(&format!(
            "{place}<wbr></a> <span class=\"muted\">{kind}, by name"
        ));
        at.unwrap_or_else(|| panic!("{place} {kind} in {page}"))
    };
    let list = "list_<wbr>1.0/<wbr>src/<wbr>list.c:<wbr>";
    let imported = definition(&format!("{list}6"), "function");
    let declared = definition(&format!("{list}4"), "declaration of a function");
    let elsewhere = definition("other_<wbr>1.0/<wbr>a.c:<wbr>1", "function");
    assert!(imported < declared && declared < elsewhere);
    for part in [
        "href=\"/show?package=list_1.0&#38;path=src/list.c&#38;line=6#L6\"",
        "<mark>list_add</mark>",
        "3 lines with uses:",
        ">in program</a>",
        "package=%3Dprogram_1.0\">in program_1.0</a>",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let page = site.get(&format!("{file}&q=list_add&uses=false")).text();
    assert!(page.contains("<p>Uses:"), "{page}");
    let page = site.get(&format!("{file}&q=nothing")).text();
    assert!(
        page.contains("No definition of this name is known"),
        "{page}"
    );
    for (parameters, status) in [
        ("", 400),
        ("line=0", 400),
        ("line=3&column=0", 404),
        ("line=99&column=0", 404),
    ] {
        let answer = site.get(&format!("{file}&{parameters}"));
        assert_eq!(answer.status, status, "{parameters}: {}", answer.text());
    }
}
