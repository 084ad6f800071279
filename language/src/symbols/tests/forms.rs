//! Definitions that are found without the context around them.

use super::*;

/// Form of a definition, and a use of its name.
struct Form {
    path: String,
    definition: String,
    usage: String,
}

/// Reads the table: an extension, a definition and a use of `NAME`, with ` | ` between.
fn forms() -> impl Iterator<Item = Form> {
    include_str!("forms.txt").lines().map(|line| {
        let [extension, definition, usage] = line
            .split(" | ")
            .collect::<Vec<_>>()
            .try_into()
            .unwrap_or_else(|_| panic!("three columns: {line}"));
        let text = |column: &str| {
            let column = column.replace("\\n", "\n").replace("\\t", "\t");
            column.replace("\\|", "|").replace("NAME", "frobnicate") + "\n"
        };
        Form {
            path: format!("zdef.{}", extension.trim()),
            definition: "\n".repeat(20) + &text(definition),
            usage: "\n".repeat(3) + &text(usage),
        }
    })
}

#[test]
fn definitions_are_found_without_their_context() {
    let mut wrong = String::new();
    for form in forms() {
        let defines = |text: &str| {
            let language = Language::of(form.path.as_bytes(), text.as_bytes());
            let symbols = Symbols::of(language, text.as_bytes());
            let is_it = |it: &Definition| {
                let name = it.word(text.as_bytes());
                name == Some(b"frobnicate") && !it.is_declaration
            };
            symbols.definitions.iter().any(is_it)
        };
        if !defines(&form.definition) {
            wrong += &format!("missed in {}: {}\n", form.path, form.definition.trim());
        }
        if defines(&form.usage) {
            wrong += &format!("found in {}: {}\n", form.path, form.usage.trim());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
