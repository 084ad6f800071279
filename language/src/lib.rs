//! Languages: the table of them, the lexer of their colours, and definitions of their texts.
//!
//! A [`Language`] is declared once, in [`table`]: names, extensions, file names, and the family
//! that describes it to the [`lexer`]; [`content`] tells the language of a text. [`symbols`] lists
//! the definitions of a text, and tells code from comments and strings.
//!
//! **Invariants:** pure: no clock, file or socket. Every answer depends on the arguments alone, and
//! hostile text costs a bounded number of reads of each byte.
//!
//! ```
//! use language::lexer::{Colour, Syntax};
//! use language::symbols::{Kind, Symbols};
//! use language::Language;
//!
//! let c = Language::of_path(b"src/main.c").unwrap();
//! assert_eq!((c.name, Language::named("golang").unwrap().name), ("C", "Go"));
//!
//! let line = b"int add(int a)";
//! let (syntax, mut parts) = (Syntax::of(c.name).unwrap(), Vec::new());
//! syntax.line(line, syntax.begin(), &mut parts);
//! assert_eq!(parts, [(0..3, Colour::Type), (8..11, Colour::Type)]);
//!
//! let symbols = Symbols::of(Some(c), b"int add(int a) { return a; }");
//! let add = &symbols.definitions[0];
//! assert_eq!((add.name.clone(), add.kind), (4..7, Kind::Function));
//! ```

#![deny(clippy::disallowed_methods)]

pub mod content;
pub mod diff;
pub mod lexer;
pub mod name;
pub mod path;
pub mod symbols;
pub mod table;
pub mod words;

pub use table::Language;
