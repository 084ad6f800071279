//! The workspace is tidy, and violations are found.

use crate::prose::Prose;
use crate::rules::{self, Crate};
use crate::{files, imports};
use std::fs;
use std::path::Path;

#[test]
fn the_workspace_is_tidy() {
    let violations = rules::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[test]
fn the_prose_is_plain() {
    let prose = Prose::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let violations = &prose.violations;
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[test]
fn comments_are_checked_outside_of_examples() {
    let mut prose = Prose::default();
    let long = format!("/// {}\n", "x".repeat(100));
    prose.add_source("a.rs", &long);
    prose.add_source("b.rs", &format!("/// ```\n{long}/// ```\n"));
    prose.add_source("c.rs", "// As Nobody said\nlet nobody = 1;\n");
    assert_eq!(
        prose.violations,
        [
            "a.rs:1: a comment beyond 100 columns",
            "c.rs:1: Nobody is no subject: name the thing",
        ]
    );
}

const TOY: Crate = Crate {
    name: "toy",
    uses: &["schema"],
    never: &["axum"],
    layers: &["page", "query text", "order"],
    shared_names: &[],
};

/// Violations of these files, with the layers of [`TOY`].
fn check(files: &[(&str, &str)]) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    let given = [
        ("Cargo.toml", ""),
        ("src/lib.rs", "mod order; mod page; mod query; mod text;"),
    ];
    let empty = ["order", "page", "query", "text"].map(|name| (format!("src/{name}.rs"), ""));
    let empty = empty.iter().map(|(name, text)| (name.as_str(), *text));
    for (name, text) in given.into_iter().chain(empty).chain(files.iter().copied()) {
        let file = root.path().join("toy").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let modules = files::modules(root.path(), "toy");
    let mut violations = rules::check_dependencies(root.path(), &TOY);
    violations.extend(rules::check_modules(
        &TOY,
        &modules,
        &imports::arrows(&modules),
    ));
    violations.extend(rules::check_names(&TOY, &modules));
    violations
}

#[test]
fn accepts_arrows_down_and_re_exports() {
    let violations = check(&[
        (
            "src/page.rs",
            "use crate::query::Query; fn f(_: Query) { crate::order::sort(); }",
        ),
        (
            "src/query.rs",
            "mod lex; pub use lex::Query; use lex::Token;",
        ),
        ("src/query/lex.rs", "pub struct Query; pub struct Token;"),
        (
            "src/order.rs",
            "pub fn sort() {} #[cfg(test)] mod tests { use crate::page; }",
        ),
    ]);
    assert_eq!(violations, Vec::<String>::new());
}

#[test]
fn finds_circles_within_a_folder() {
    let violations = check(&[
        (
            "src/query.rs",
            "mod lex; pub struct Query; fn f() { lex::run() }",
        ),
        ("src/query/lex.rs", "use super::Query; pub fn run() {}"),
    ]);
    let expected = "circle in toy:\n    toy/src/query.rs -> toy/src/query/lex.rs: lex::run\n    \
        toy/src/query/lex.rs -> toy/src/query.rs: super::Query";
    assert_eq!(violations, [expected]);
}

#[test]
fn finds_arrows_that_run_back() {
    let up = (
        "src/order.rs",
        "fn f() { println!(\"{}\", crate::page::NUMBER); }",
    );
    let violations = check(&[up, ("src/page.rs", "pub const NUMBER: u32 = 7;")]);
    let expected = "arrow that runs back: toy/src/order.rs -> toy/src/page.rs: crate::page::NUMBER";
    assert_eq!(violations, [expected]);
    let beside = ("src/text.rs", "use crate::query::Query;");
    let violations = check(&[beside, ("src/query.rs", "pub struct Query;")]);
    assert!(violations[0].starts_with("arrow that runs back: toy/src/text.rs"));
    let violations = check(&[("src/order.rs", "use crate::Options;")]);
    assert!(violations[0].starts_with("arrow that runs back: toy/src/order.rs -> toy/src/lib.rs"));
}

#[test]
fn finds_forbidden_crates() {
    let violations = check(&[(
        "Cargo.toml",
        "[dependencies]\nindex = '1'\naxum = '1'\nschema = '1'\n",
    )]);
    assert_eq!(
        violations,
        [
            "forbidden crate arrow: toy -> index; allowed: schema",
            "forbidden dependency: toy -> axum"
        ]
    );
}

#[test]
fn finds_one_name_for_two_types() {
    let violations = check(&[
        ("src/order.rs", "pub struct Place; struct Private;"),
        ("src/page.rs", "pub(crate) enum Place {} struct Private;"),
    ]);
    let expected = "2 types of toy are called Place: toy/src/order.rs, toy/src/page.rs";
    assert_eq!(violations, [expected]);
}
