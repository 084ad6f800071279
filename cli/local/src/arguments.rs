//! Values of the flags, before they are combined.

use bstr::ByteVec;
use grep::printer::{HyperlinkFormat, UserColorSpec};
use grep::searcher::Encoding;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) special: Option<Special>,
    pub(crate) mode: Mode,
    pub(crate) positional: Vec<OsString>,
    pub(crate) patterns: Vec<PatternSource>,
    pub(crate) binary: Binary,
    pub(crate) boundary: Option<Boundary>,
    pub(crate) buffer: Buffer,
    pub(crate) byte_offset: bool,
    pub(crate) case: Case,
    pub(crate) color: Color,
    pub(crate) colors: Vec<UserColorSpec>,
    pub(crate) column: Option<bool>,
    pub(crate) context: Context,
    pub(crate) context_separator: ContextSeparator,
    pub(crate) crlf: bool,
    pub(crate) dfa_size_limit: Option<usize>,
    pub(crate) encoding: TextEncoding,
    pub(crate) field_context_separator: Option<Vec<u8>>,
    pub(crate) field_match_separator: Option<Vec<u8>>,
    pub(crate) fixed_strings: bool,
    pub(crate) follow: bool,
    pub(crate) glob_case_insensitive: bool,
    pub(crate) globs: Vec<String>,
    pub(crate) heading: Option<bool>,
    pub(crate) hidden: bool,
    pub(crate) hostname_bin: Option<PathBuf>,
    pub(crate) hyperlink_format: HyperlinkFormat,
    pub(crate) iglobs: Vec<String>,
    pub(crate) ignore_file: Vec<PathBuf>,
    pub(crate) ignore_file_case_insensitive: bool,
    pub(crate) include_zero: bool,
    pub(crate) invert_match: bool,
    pub(crate) line_number: Option<bool>,
    pub(crate) logging: Option<Logging>,
    pub(crate) max_columns: Option<u64>,
    pub(crate) max_columns_preview: bool,
    pub(crate) max_count: Option<u64>,
    pub(crate) max_depth: Option<usize>,
    pub(crate) max_filesize: Option<u64>,
    pub(crate) mmap: Mmap,
    pub(crate) multiline: bool,
    pub(crate) multiline_dotall: bool,
    pub(crate) no_config: bool,
    pub(crate) no_ignore_dot: bool,
    pub(crate) no_ignore_exclude: bool,
    pub(crate) no_ignore_files: bool,
    pub(crate) no_ignore_global: bool,
    pub(crate) no_ignore_messages: bool,
    pub(crate) no_ignore_parent: bool,
    pub(crate) no_ignore_vcs: bool,
    pub(crate) no_index: bool,
    pub(crate) no_messages: bool,
    pub(crate) no_require_git: bool,
    pub(crate) no_unicode: bool,
    pub(crate) null: bool,
    pub(crate) null_data: bool,
    pub(crate) one_file_system: bool,
    pub(crate) only_matching: bool,
    pub(crate) path_separator: Option<u8>,
    pub(crate) pre: Option<PathBuf>,
    pub(crate) pre_glob: Vec<String>,
    pub(crate) quiet: bool,
    pub(crate) regex_size_limit: Option<usize>,
    pub(crate) replace: Option<Vec<u8>>,
    pub(crate) search_zip: bool,
    pub(crate) sort: Option<Sort>,
    pub(crate) stats: bool,
    pub(crate) stop_on_nonmatch: bool,
    pub(crate) threads: Option<usize>,
    pub(crate) trim: bool,
    pub(crate) type_changes: Vec<TypeChange>,
    pub(crate) unrestricted: usize,
    pub(crate) vimgrep: bool,
    pub(crate) with_filename: Option<bool>,
}

/// Requests that are answered instead of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    ShortHelp,
    LongHelp,
    ShortVersion,
    LongVersion,
    Pcre2Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Search(Output),
    Files,
    Types,
}

impl Default for Mode {
    fn default() -> Mode {
        Mode::Search(Output::Lines)
    }
}

impl Mode {
    /// The last one wins, but no kind of output undoes `--files` or `--type-list`.
    pub(crate) fn update(&mut self, new: Mode) {
        let is_search = |mode| matches!(mode, Mode::Search(_));
        if is_search(*self) || !is_search(new) {
            *self = new;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Lines,
    FilesWithMatches,
    FilesWithoutMatch,
    Count,
    CountMatches,
    Json,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Binary {
    /// Files found by walking end at the first NUL byte.
    #[default]
    Auto,
    SearchAndSuppress,
    AsText,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundary {
    Line,
    Word,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Buffer {
    /// By line on a terminal.
    #[default]
    Auto,
    Line,
    Block,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Case {
    #[default]
    Sensitive,
    Insensitive,
    Smart,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Color {
    Never,
    #[default]
    Auto,
    Always,
    Ansi,
}

/// Lines around a match. `-A` and `-B` override `-C` in any order, and `--passthru` ends with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Context {
    before: Option<usize>,
    after: Option<usize>,
    both: Option<usize>,
    pub(crate) is_passthru: bool,
}

impl Context {
    pub(crate) fn set_before(&mut self, lines: usize) {
        self.unless_passthru().before = Some(lines);
    }

    pub(crate) fn set_after(&mut self, lines: usize) {
        self.unless_passthru().after = Some(lines);
    }

    pub(crate) fn set_both(&mut self, lines: usize) {
        self.unless_passthru().both = Some(lines);
    }

    pub(crate) fn set_passthru(&mut self) {
        *self = Context {
            is_passthru: true,
            ..Context::default()
        };
    }

    fn unless_passthru(&mut self) -> &mut Context {
        self.is_passthru = false;
        self
    }

    pub(crate) fn lines(self) -> (usize, usize) {
        let both = self.both.unwrap_or(0);
        (self.before.unwrap_or(both), self.after.unwrap_or(both))
    }
}

/// Line between groups of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContextSeparator(pub(crate) Option<Vec<u8>>);

impl Default for ContextSeparator {
    fn default() -> ContextSeparator {
        ContextSeparator(Some(b"--".to_vec()))
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) enum TextEncoding {
    /// By byte-order mark.
    #[default]
    Auto,
    Named(Encoding),
    Disabled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logging {
    Debug,
    Trace,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mmap {
    /// For at most ten named files.
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PatternSource {
    Regexp(String),
    File(PathBuf),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sort {
    pub(crate) is_reverse: bool,
    pub(crate) key: SortKey,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortKey {
    Path,
    Modified,
    Accessed,
    Created,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypeChange {
    Clear(String),
    Add(String),
    Select(String),
    Negate(String),
}

/// Bytes of a value with escapes such as `\t` and `\xFF`.
pub(crate) fn unescaped(value: &str) -> Vec<u8> {
    Vec::unescape_bytes(value)
}
