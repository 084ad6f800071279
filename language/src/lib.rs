//! Languages: the table of them, the lexer of their colours, and the patterns of definitions.
//!
//! A [`Language`] is declared once, in [`table`]: names, extensions, file names, and the family
//! that describes it to the [`lexer`]; [`content`] reads a text.
//! [`definition`] guesses from a line alone, so its rules have
//! no languages.
//!
//! **Invariants:** pure: no clock, file or socket. Every answer depends on the arguments alone, and
//! hostile text costs a bounded number of reads of each byte.
//!
//! ```
//! use language::lexer::{Colour, Syntax};
//! use language::{Language, definition};
//!
//! let c = Language::of_path(b"src/main.c").unwrap();
//! assert_eq!((c.name, Language::named("golang").unwrap().name), ("C", "Go"));
//!
//! let line = b"int add(int a)";
//! let (syntax, mut parts) = (Syntax::of(c.name).unwrap(), Vec::new());
//! syntax.line(line, syntax.begin(), &mut parts);
//! assert_eq!(parts, [(0..3, Colour::Type), (8..11, Colour::Type)]);
//! assert_eq!(definition::level(line, 4, 7), definition::LEVEL_MAX);
//! ```

#![deny(clippy::disallowed_methods)]

pub mod content;
pub mod definition;
pub mod lexer;
pub mod path;
pub mod symbols;
pub mod table;
pub mod words;

pub use table::Language;
