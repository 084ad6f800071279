//! Languages, generated and vendored files by `.gitattributes`, with git's patterns and macros.
//!
//! Not the attribute files of system, user or repository (`info/attributes`).

use gix::bstr::ByteSlice;
use gix::glob::pattern::Case;
use gix_attributes::search::{MetadataCollection, Outcome};
use gix_attributes::{Search, StateRef};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const LANGUAGE: &str = "linguist-language";

const NAMES: [&str; 3] = ["linguist-generated", "linguist-vendored", LANGUAGE];

/// Each rule is compared with each path. Later files have no effect.
const BYTES_MAX: usize = 256 << 10;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileAttributes {
    /// True for generated or vendored files; `None` without a rule.
    pub is_foreign: Option<bool>,
    pub language: Option<String>,
}

#[derive(Default)]
pub struct Attributes {
    files: Vec<(PathBuf, Vec<u8>)>,
    bytes: usize,
    search: Search,
    collection: MetadataCollection,
}

impl Attributes {
    pub fn add(&mut self, path: &[u8], text: &[u8]) {
        let is_macro = |line: &[u8]| line.trim_start().starts_with(b"[attr]");
        let counts = text.find(b"linguist-").is_some()
            || self
                .files
                .iter()
                .any(|(_, text)| text.lines().any(is_macro));
        if !counts || self.bytes + text.len() > BYTES_MAX {
            return;
        }
        self.bytes += text.len();
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        self.files.push((path.to_owned(), text.to_vec()));
    }

    /// Deeper directories take precedence, as in git.
    pub fn finish(&mut self) {
        let mut files = std::mem::take(&mut self.files);
        files.sort_by_key(|(path, _)| path.components().count());
        for (path, text) in files {
            let is_top = path.components().count() == 1;
            // Memory only, so adding cannot fail.
            let (base, collection) = (Some(Path::new("")), &mut self.collection);
            let _ = self
                .search
                .add_patterns_buffer(&text, path, base, collection, is_top);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.search.num_pattern_lists() == 0
    }

    pub fn of(&self, path: &[u8]) -> FileAttributes {
        let mut of_file = FileAttributes::default();
        if self.is_empty() {
            return of_file;
        }
        let mut outcome = Outcome::default();
        outcome.initialize_with_selection(&self.collection, NAMES);
        let path = path.as_bstr();
        let case = Case::Sensitive;
        self.search
            .pattern_matching_relative_path(path, case, Some(false), &mut outcome);
        for found in outcome.iter_selected() {
            let state = found.assignment.state;
            if found.assignment.name.as_str() == LANGUAGE {
                if let StateRef::Value(value) = state {
                    of_file.language = Some(value.as_bstr().to_string());
                }
            } else if let Some(is_foreign) = truth(state) {
                of_file.is_foreign = Some(is_foreign || of_file.is_foreign == Some(true));
            }
        }
        of_file
    }
}

fn truth(state: StateRef<'_>) -> Option<bool> {
    match state {
        StateRef::Set => Some(true),
        StateRef::Unset => Some(false),
        StateRef::Value(value) if value.as_bstr() == "true" => Some(true),
        StateRef::Value(value) if value.as_bstr() == "false" => Some(false),
        StateRef::Value(_) | StateRef::Unspecified => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_deeper_directories_and_later_lines_count_first() {
        let mut rules = Attributes::default();
        rules.add(b".gitattributes", b"[attr]made linguist-generated\n*.pb.c made\nlib/** linguist-vendored\n/*.x linguist-generated=true\n");
        rules.add(b"lib/own/.gitattributes", b"* -linguist-vendored\n");
        rules.add(b"src/.gitattributes", b"*.c text\ngen.c made\n");
        rules.finish();
        for (path, said) in [
            ("a.pb.c", Some(true)),
            ("src/a.pb.c", Some(true)),
            ("src/gen.c", Some(true)),
            ("gen.c", None),
            ("lib/z.c", Some(true)),
            ("lib/own/z.c", Some(false)),
            ("a.x", Some(true)),
            ("src/a.x", None),
        ] {
            assert_eq!(rules.of(path.as_bytes()).is_foreign, said, "{path}");
        }
        assert!(Attributes::default().is_empty());
    }

    #[test]
    fn languages_are_values_of_an_attribute() {
        let mut rules = Attributes::default();
        rules.add(b".gitattributes", b"*.inc linguist-language=C++\nx.inc -linguist-language linguist-vendored\n*.y linguist-language\n");
        rules.add(b"b/.gitattributes", b"*.inc linguist-language=PHP\n");
        rules.finish();
        for (path, language) in [
            ("a.inc", Some("C++")),
            ("b/a.inc", Some("PHP")),
            ("x.inc", None),
            ("a.y", None),
            ("a.c", None),
        ] {
            let found = rules.of(path.as_bytes()).language;
            assert_eq!(found.as_deref(), language, "{path}");
        }
        assert_eq!(rules.of(b"x.inc").is_foreign, Some(true));
    }
}
