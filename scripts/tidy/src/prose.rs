//! Rules of prose: comments of Rust files, and pages of documentation.
//!
//! A comment is a line that begins with `//`; examples between fences are not prose. Trailing
//! comments are too few to count.

use std::fs;
use std::path::{Path, PathBuf};

const COLUMNS_MAX: usize = 100;

/// Words in the comments of all Rust files.
const COMMENT_WORDS_MAX: usize = 108_000;

/// Words of the README, the changelog and all pages of `docs`.
const DOC_WORDS_MAX: usize = 30_250;

/// Comment lines per 1,000 words that begin with one of [`OPENERS`].
const OPENERS_MAX: usize = 3;

const OPENERS: [&str; 9] = [
    "What", "Who", "Whose", "Which", "Whether", "How", "Where", "Why", "When",
];

/// Words for actors that are not in the code.
const ACTORS: [&str; 5] = ["nobody", "somebody", "everybody", "anybody", "whoever"];

/// Files that `scripts/tools/generate` writes.
pub(crate) const GENERATED: [&str; 2] = [
    "schema/src/trawl_capnp.rs",
    "web/src/zoekt/grpc/messages.rs",
];

/// Directories without prose of this project.
const FOREIGN: [&str; 3] = ["target", "node_modules", ".git"];

/// Figures of the workspace's prose, and violations of the rules.
#[derive(Debug, Default)]
pub(crate) struct Prose {
    comment_words: usize,
    doc_words: usize,
    openers: usize,
    pub(crate) violations: Vec<String>,
}

impl Prose {
    pub(crate) fn read(root: &Path) -> Prose {
        let mut prose = Prose::default();
        for path in files(root) {
            let Ok(text) = fs::read_to_string(&path) else {
                continue;
            };
            let name = path.strip_prefix(root).unwrap_or(&path).display();
            match path.extension().and_then(|it| it.to_str()) {
                Some("rs") if GENERATED.iter().any(|it| path.ends_with(it)) => {}
                Some("rs") => prose.add_source(&name.to_string(), &text),
                Some("md") => prose.add_page(&name.to_string(), &text),
                _ => {}
            }
        }
        prose.check_figures();
        prose
    }

    pub(crate) fn figures(&self) -> String {
        format!(
            "comments: {} words, {} openers; documentation: {} words",
            self.comment_words, self.openers, self.doc_words
        )
    }

    pub(crate) fn add_source(&mut self, name: &str, text: &str) {
        let mut is_example = false;
        for (line, number) in text.lines().zip(1..) {
            let Some(comment) = comment(line) else {
                is_example = false;
                continue;
            };
            if comment.starts_with("```") {
                is_example = !is_example;
            }
            if is_example {
                continue;
            }
            self.comment_words += comment.split_whitespace().count();
            let first = comment.split(|letter: char| !letter.is_alphabetic()).next();
            self.openers += usize::from(first.is_some_and(|first| OPENERS.contains(&first)));
            if line.chars().count() > COLUMNS_MAX {
                let violation = format!("{name}:{number}: a comment beyond {COLUMNS_MAX} columns");
                self.violations.push(violation);
            }
            self.check_actors(name, number, comment);
        }
    }

    fn add_page(&mut self, name: &str, text: &str) {
        let is_page = ["README.md", "CHANGELOG.md"].contains(&name) || name.starts_with("docs/");
        if !is_page {
            return;
        }
        self.doc_words += text.split_whitespace().count();
        for (line, number) in text.lines().zip(1..) {
            self.check_actors(name, number, line);
        }
    }

    fn check_actors(&mut self, name: &str, number: usize, text: &str) {
        let words = text.split(|letter: char| !letter.is_alphabetic());
        for word in words.filter(|word| ACTORS.contains(&&word.to_lowercase()[..])) {
            let violation = format!("{name}:{number}: {word} is no subject: name the thing");
            self.violations.push(violation);
        }
    }

    fn check_figures(&mut self) {
        for (what, is, max) in [
            ("words in comments", self.comment_words, COMMENT_WORDS_MAX),
            ("words of documentation", self.doc_words, DOC_WORDS_MAX),
            (
                "comment lines that begin with a question word",
                self.openers,
                OPENERS_MAX * self.comment_words / 1_000,
            ),
        ] {
            if is > max {
                self.violations.push(format!("{is} {what}, at most {max}"));
            }
        }
    }
}

fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.trim_start_matches(['/', '!']).trim())
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_ours = |path: &PathBuf| !FOREIGN.iter().any(|name| path.ends_with(name));
    let paths = entries.map(|entry| entry.path()).filter(is_ours);
    paths
        .flat_map(|path| {
            if path.is_dir() && !path.is_symlink() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}
