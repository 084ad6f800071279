//! Precise places of SCIP files, across updates.

use super::*;
use crate::precise::{Imported, Place};
use protobuf::{EnumOrUnknown, Message};
use scip::types::Index as ScipIndex;
use scip::types::{Document, Metadata, Occurrence, PositionEncoding, SymbolInformation};
use std::panic::{AssertUnwindSafe, catch_unwind};

const TEXT: &str = "'🦀'; function add(a) {}\nadd(1);\n";
const ADD: &str = "npm p 1 src/`a.ts`/add().";

fn occurrence(range: [i32; 3], symbol: &str, roles: i32) -> Occurrence {
    Occurrence {
        range: range.to_vec(),
        symbol: symbol.to_owned(),
        symbol_roles: roles,
        ..Occurrence::default()
    }
}

fn document(path: &str, occurrences: Vec<Occurrence>) -> Document {
    Document {
        relative_path: path.to_owned(),
        occurrences,
        symbols: vec![SymbolInformation {
            symbol: ADD.to_owned(),
            documentation: vec!["Adds.".to_owned()],
            ..SymbolInformation::default()
        }],
        ..Document::default()
    }
}

/// Document with [`TEXT`], in UTF-16.
fn adds(path: &str) -> Document {
    let encoding = PositionEncoding::UTF16CodeUnitOffsetFromLineStart;
    Document {
        position_encoding: EnumOrUnknown::new(encoding),
        ..document(
            path,
            vec![
                occurrence([0, 15, 18], ADD, 1),
                occurrence([0, 19, 20], "local 0", 1),
                occurrence([1, 0, 3], ADD, 0),
                occurrence([0, 0, 0], "npm p 1 src/`a.ts`/", 1),
                occurrence([1, 4, 5], "npm p 1 src/`a.ts`/one0:", 1),
                occurrence([1, 5, 6], "npm p 1 src/`a.ts`/two0:", 1),
            ],
        )
    }
}

fn scip(root: &str, documents: Vec<Document>) -> Vec<u8> {
    let index = ScipIndex {
        metadata: Some(Metadata {
            project_root: root.to_owned(),
            ..Metadata::default()
        })
        .into(),
        documents,
        ..ScipIndex::default()
    };
    index.write_to_bytes().unwrap()
}

impl There {
    fn import(&mut self, packages: &[&str], bytes: &[u8]) -> Imported {
        self.write("scip", "given.scip", bytes);
        let changes = Changes {
            scip: vec![self.path("scip/given.scip")],
            ..Changes::default()
        };
        self.change(packages, &changes).unwrap().imported.remove(0)
    }

    fn places(&self, symbol: &str) -> Vec<(String, u32, u32, bool)> {
        let index = self.index();
        let row = |it: Place<'_>| {
            let name = text(&[it.package, it.path].join(&b'/'));
            (name, it.line, it.column, it.is_definition)
        };
        let precise = index.precise.iter();
        precise
            .flat_map(|it| it.places(symbol.as_bytes()).map(row).collect::<Vec<_>>())
            .collect()
    }
}

fn there() -> There {
    let mut there = There::new();
    there.write("p", "src/a.ts", TEXT);
    there.write("p", "src/b.ts", "other\n");
    there
}

fn found() -> Vec<(String, u32, u32, bool)> {
    let place =
        |line, column, is_definition| ("p/src/a.ts".to_owned(), line, column, is_definition);
    vec![place(1, 17, true), place(2, 0, false)]
}

#[test]
fn an_import_has_the_documents_that_fit_their_texts() {
    let mut there = there();
    let outside = ["../p/src/a.ts", "/src/a.ts", "gone.ts", "src/b.ts"].map(adds);
    let of_other_text = Document {
        text: format!("{TEXT}\n"),
        ..adds("src/a.ts")
    };
    let mut documents = Vec::from(outside);
    documents.extend([of_other_text, adds("src/a.ts")]);
    let imported = there.import(&["p"], &scip("", documents));
    assert_eq!((imported.documents, imported.stale), (6, 5));
    assert_eq!(imported.stale_paths[0], "../p/src/a.ts");
    assert_eq!(there.places(ADD), found());
    let index = there.index();
    let precise = index.precise.as_ref().unwrap();
    let hash = blake3::hash(TEXT.as_bytes());
    let at = |line, column| precise.symbol_at(hash.as_bytes(), b"p", line, column);
    assert_eq!(at(2, 3), Some(ADD.as_bytes()));
    assert_eq!(at(1, 16), None);
    assert!(at(1, 21).unwrap().starts_with(b"local 0 "));
    assert_eq!(precise.symbol_at(hash.as_bytes(), b"q", 1, 21), None);
    assert_eq!(precise.documentation(ADD.as_bytes()), b"Adds.");
    assert!(!precise.has_text(blake3::hash(b"other\n").as_bytes()));
}

#[test]
fn names_that_moved_make_a_document_stale() {
    let mut there = there();
    there.write("p", "src/a.ts", format!("// new\n{TEXT}"));
    let imported = there.import(&["p"], &scip("", vec![adds("src/a.ts")]));
    assert_eq!((imported.stale, there.places(ADD)), (1, Vec::new()));
}

#[test]
fn columns_of_an_unknown_encoding_are_those_that_fit() {
    let mut there = there();
    let in_utf32 = vec![
        occurrence([0, 14, 17], ADD, 1),
        occurrence([1, 0, 3], ADD, 0),
    ];
    there.import(&["p"], &scip("", vec![document("src/a.ts", in_utf32)]));
    assert_eq!(there.places(ADD), found());
}

#[test]
fn updates_keep_the_places_and_an_import_replaces_those_of_its_package() {
    let mut there = there();
    there.write("q", "src/a.ts", TEXT);
    let both = ["p", "q"];
    let root = |there: &There, package| format!("file://{}", there.path(package).display());
    let of_p = scip(&format!("{}/src", root(&there, "p")), vec![adds("a.ts")]);
    there.import(&both, &of_p);
    let of_q = scip(&root(&there, "q"), vec![adds("src/a.ts")]);
    there.import(&both, &of_q);
    assert_eq!(there.places(ADD).len(), 4);
    there.write("p", "src/c.ts", "new");
    there.update(&both).unwrap();
    assert_eq!(there.places(ADD).len(), 4);
    there.import(&both, &scip(&root(&there, "q"), vec![]));
    assert_eq!(there.places(ADD), found());
    let error = there.change(
        &both,
        &Changes {
            scip: vec![there.path("scip/given.scip")],
            remove: vec![b"q".to_vec()],
            ..Changes::default()
        },
    );
    assert!(error.is_err());
    check_files(&there.path("out"), &there.index().manifest);
}

#[test]
fn a_new_index_scip_of_a_package_is_imported_once() {
    let mut there = there();
    there.write("p", "index.scip", scip("", vec![adds("src/a.ts")]));
    assert_eq!(there.update(&["p"]).unwrap().imported.len(), 1);
    assert_eq!(there.places(ADD), found());
    assert_eq!(there.update(&["p"]).unwrap().imported, []);
    assert_eq!(there.places(ADD), found());
    there.write("p", "index.scip", b"\x12\x7fcut off");
    let problems = there.update(&["p"]).unwrap().problems;
    assert!(problems[0].0.ends_with("index.scip"), "{problems:?}");
    assert_eq!(there.update(&["p"]).unwrap().problems, []);
}

#[test]
fn a_damaged_file_of_places_is_an_error_and_the_next_update_drops_it() {
    let mut there = there();
    there.import(&["p"], &scip("", vec![adds("src/a.ts")]));
    let named = there.index().manifest.precise.unwrap();
    let path = there.path("out").join(named.file);
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(Index::open(&there.path("out")).is_err());
    assert_eq!(there.update(&["p"]).unwrap().problems.len(), 1);
    assert!(there.index().precise.is_none());
}

#[test]
fn damaged_scip_files_never_panic() {
    let mut there = there();
    let whole = scip("", vec![adds("src/a.ts"), adds("src/b.ts")]);
    let mut check = |bytes: &[u8]| {
        there.write("p", "index.scip", bytes);
        let updated = catch_unwind(AssertUnwindSafe(|| there.update(&["p"])));
        updated.unwrap().unwrap();
    };
    for cut in (0..whole.len()).step_by(7) {
        check(&whole[..cut]);
    }
    for byte in (0..whole.len()).step_by(5) {
        let mut flipped = whole.clone();
        flipped[byte] ^= 1 << (byte % 8);
        check(&flipped);
    }
    check(b"\x12\xff\xff\xff\xff\x07");
    check(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}
