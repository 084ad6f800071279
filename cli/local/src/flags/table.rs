//! Table of the flags, by name.

use super::Flag;
use super::value::{memory, number, owned, separator, size, text};
use crate::arguments::{
    Arguments, Binary, Boundary, Buffer, Case, Color, ContextSeparator, Logging, Mmap, Mode,
    Output, PatternSource, Sort, SortKey, TextEncoding, TypeChange,
};
use anyhow::{Context, Result, bail};
use grep::searcher::Encoding;
use std::ffi::OsStr;
use std::path::PathBuf;

const PCRE2: &str = "PCRE2 is not built in; write the pattern without look-around and \
    backreferences, or call rg -P";

/// A row has the names of a flag, its effect on [`Arguments`], and its line of the help.
macro_rules! flags {
    ($($kind:ident $long:literal $([$value:literal])? $(.$method:ident($name:literal))*,
        |$to:pat_param, $with:pat_param| $effect:expr; $help:literal)*) => {
        &[$(flags!(@$kind $long $($value)?, |$to, $with| $effect; $help)$(.$method($name))*),*]
    };
    (@switch $long:literal, |$to:pat_param, $yes:pat_param| $effect:expr; $help:literal) => {
        Flag::switch($long, |$to, $yes| $effect, $help)
    };
    (@value $long:literal $value:literal, |$to:pat_param, $text:pat_param| $effect:expr; $help:literal) => {
        Flag::value($long, $value, |$to, $text| { $effect; Ok(()) }, $help)
    };
    (@refused $long:literal, |$to:pat_param, $_:pat_param| $reason:expr; $help:literal) => {
        Flag::refused($long, $reason)
    };
}

pub(crate) const FLAGS: &[Flag] = flags! {
    value "after-context"["NUM"].short('A'), |to, value| to.context.set_after(number(value)?); "Show NUM lines after each match"
    refused "auto-hybrid-regex", |_, _| PCRE2; ""
    switch "no-auto-hybrid-regex", |_, _| (); ""
    value "before-context"["NUM"].short('B'), |to, value| to.context.set_before(number(value)?); "Show NUM lines before each match"
    switch "binary".negated("no-binary"), |to, yes| to.binary = if yes { Binary::SearchAndSuppress } else { Binary::Auto }; "Search binary files to their end"
    switch "block-buffered".negated("no-block-buffered"), |to, yes| to.buffer = if yes { Buffer::Block } else { Buffer::Auto }; "Write output in blocks"
    switch "byte-offset".short('b').negated("no-byte-offset"), |to, yes| to.byte_offset = yes; "Print the byte offset of each match"
    switch "case-sensitive".short('s'), |to, _| to.case = Case::Sensitive; "Distinguish case (default)"
    value "color"["WHEN"], |to, value| to.color = color(value)?; "Colours: never, auto, always or ansi"
    value "colors"["SPEC"], |to, value| to.colors.push(text(value)?.parse()?); "Colour of a part, as in match:fg:red"
    switch "column".negated("no-column"), |to, yes| to.column = Some(yes); "Print the column of the first match of a line"
    value "context"["NUM"].short('C'), |to, value| to.context.set_both(number(value)?); "Show NUM lines before and after each match"
    value "context-separator"["SEP"], |to, value| to.context_separator = ContextSeparator(Some(separator(value)?)); "Line between groups of lines (default --)"
    switch "no-context-separator", |to, _| to.context_separator = ContextSeparator(None); ""
    switch "count".short('c'), |to, _| to.mode.update(Mode::Search(Output::Count)); "Print the number of matching lines of each file"
    switch "count-matches", |to, _| to.mode.update(Mode::Search(Output::CountMatches)); "Print the number of matches of each file"
    switch "crlf".negated("no-crlf"), |to, yes| { to.crlf = yes; to.null_data &= !yes; }; "Take CRLF for a line end as well"
    switch "debug", |to, _| to.logging = Some(Logging::Debug); "Log, among others, why files are left out"
    value "dfa-size-limit"["SIZE"], |to, value| to.dfa_size_limit = Some(memory(value)?); "Memory of the regex engine's cache"
    value "encoding"["ENCODING"].short('E'), |to, value| to.encoding = encoding(value)?; "Encoding of the files; none searches the bytes"
    switch "no-encoding", |to, _| to.encoding = TextEncoding::Auto; ""
    value "engine"["ENGINE"], |_, value| check_engine(value)?; "Regex engine: default"
    value "field-context-separator"["SEP"], |to, value| to.field_context_separator = Some(separator(value)?); "Separator after path and line number of a line of context (default -)"
    value "field-match-separator"["SEP"], |to, value| to.field_match_separator = Some(separator(value)?); "Separator after path and line number of a match (default :)"
    value "file"["FILE"].short('f'), |to, value| to.patterns.push(PatternSource::File(PathBuf::from(value))); "Search for the patterns in FILE, one a line"
    switch "files", |to, _| to.mode.update(Mode::Files); "Print the paths that would be searched"
    switch "files-with-matches".short('l'), |to, _| to.mode.update(Mode::Search(Output::FilesWithMatches)); "Print the paths with a match"
    switch "files-without-match", |to, _| to.mode.update(Mode::Search(Output::FilesWithoutMatch)); "Print the paths without a match"
    switch "fixed-strings".short('F').negated("no-fixed-strings"), |to, yes| to.fixed_strings = yes; "Take patterns literally"
    switch "follow".short('L').negated("no-follow"), |to, yes| to.follow = yes; "Follow symbolic links"
    refused "generate", |_, _| "call trawl man or trawl completions"; ""
    value "glob"["GLOB"].short('g'), |to, value| to.globs.push(owned(value)?); "Search paths that match GLOB only; with ! before it, leave them out"
    switch "glob-case-insensitive".negated("no-glob-case-insensitive"), |to, yes| to.glob_case_insensitive = yes; "Ignore case in all globs"
    switch "heading".negated("no-heading"), |to, yes| to.heading = Some(yes); "Print each path once, above its matches"
    switch "hidden".short('.').negated("no-hidden"), |to, yes| to.hidden = yes; "Search hidden files and directories"
    value "hostname-bin"["COMMAND"], |to, value| to.hostname_bin = path(value); "Command that prints the host name for hyperlinks"
    value "hyperlink-format"["FORMAT"], |to, value| to.hyperlink_format = text(value)?.parse().context("invalid hyperlink format")?; "Hyperlinks of paths on a terminal"
    value "iglob"["GLOB"], |to, value| to.iglobs.push(owned(value)?); "As --glob, ignoring case"
    switch "ignore-case".short('i'), |to, _| to.case = Case::Insensitive; "Ignore case"
    value "ignore-file"["PATH"], |to, value| to.ignore_file.push(PathBuf::from(value)); "Ignore file of lower precedence than those in directories"
    switch "ignore-file-case-insensitive".negated("no-ignore-file-case-insensitive"), |to, yes| to.ignore_file_case_insensitive = yes; "Ignore case in ignore files"
    switch "include-zero".negated("no-include-zero"), |to, yes| to.include_zero = yes; "Print counts of 0"
    switch "invert-match".short('v').negated("no-invert-match"), |to, yes| to.invert_match = yes; "Print lines that do not match"
    switch "json".negated("no-json"), |to, yes| set_json(to, yes); "Print JSON lines"
    switch "line-buffered".negated("no-line-buffered"), |to, yes| to.buffer = if yes { Buffer::Line } else { Buffer::Auto }; "Write output line by line"
    switch "line-number".short('n'), |to, _| to.line_number = Some(true); "Print line numbers"
    switch "no-line-number".short('N'), |to, _| to.line_number = Some(false); "Print no line numbers"
    switch "line-regexp".short('x'), |to, _| to.boundary = Some(Boundary::Line); "Match whole lines only"
    value "max-columns"["NUM"].short('M'), |to, value| to.max_columns = Some(number(value)?).filter(|&columns| columns > 0); "Print no lines longer than NUM bytes"
    switch "max-columns-preview".negated("no-max-columns-preview"), |to, yes| to.max_columns_preview = yes; "Print the start of such lines"
    value "max-count"["NUM"].short('m'), |to, value| to.max_count = Some(number(value)?); "Stop after NUM matching lines of a file"
    value "max-depth"["NUM"].short('d').alias("maxdepth"), |to, value| to.max_depth = Some(number(value)?); "Descend NUM directories at most"
    value "max-filesize"["SIZE"], |to, value| to.max_filesize = Some(size(value)?); "Leave out larger files; suffixes K, M and G"
    switch "mmap".negated("no-mmap"), |to, yes| to.mmap = if yes { Mmap::Always } else { Mmap::Never }; "Map files into memory"
    switch "multiline".short('U').negated("no-multiline"), |to, yes| { to.multiline = yes; to.stop_on_nonmatch &= !yes; }; "Let patterns match line ends"
    switch "multiline-dotall".negated("no-multiline-dotall"), |to, yes| to.multiline_dotall = yes; "Let . match line ends with -U"
    switch "no-config", |to, _| to.no_config = true; "Do not read RIPGREP_CONFIG_PATH"
    switch "no-ignore".negated("ignore"), |to, yes| set_no_ignore(to, yes); "Search files that ignore files exclude"
    switch "no-ignore-dot".negated("ignore-dot"), |to, yes| to.no_ignore_dot = yes; "Do not read .ignore and .rgignore"
    switch "no-ignore-exclude".negated("ignore-exclude"), |to, yes| to.no_ignore_exclude = yes; "Do not read .git/info/exclude"
    switch "no-ignore-files".negated("ignore-files"), |to, yes| to.no_ignore_files = yes; "Disregard --ignore-file"
    switch "no-ignore-global".negated("ignore-global"), |to, yes| to.no_ignore_global = yes; "Do not read git's global ignore file"
    switch "no-ignore-messages".negated("ignore-messages"), |to, yes| to.no_ignore_messages = yes; "Do not report mistakes in ignore files"
    switch "no-ignore-parent".negated("ignore-parent"), |to, yes| to.no_ignore_parent = yes; "Do not read ignore files of parent directories"
    switch "no-ignore-vcs".negated("ignore-vcs"), |to, yes| to.no_ignore_vcs = yes; "Do not read .gitignore"
    switch "no-index".negated("index"), |to, yes| to.no_index = yes; "Search without the index process"
    switch "no-messages".negated("messages"), |to, yes| to.no_messages = yes; "Do not report files that cannot be read"
    switch "no-pcre2-unicode".negated("pcre2-unicode"), |to, yes| to.no_unicode = yes; ""
    switch "no-require-git".negated("require-git"), |to, yes| to.no_require_git = yes; "Read .gitignore outside of repositories"
    switch "no-unicode".negated("unicode"), |to, yes| to.no_unicode = yes; "Match ASCII classes and case only"
    switch "null".short('0'), |to, _| to.null = true; "End paths with a NUL byte"
    switch "null-data", |to, _| { to.null_data = true; to.crlf = false; }; "Take NUL bytes for line ends"
    switch "one-file-system".negated("no-one-file-system"), |to, yes| to.one_file_system = yes; "Stay on the file system of each path"
    switch "only-matching".short('o'), |to, _| to.only_matching = true; "Print the matching parts of lines"
    value "path-separator"["SEP"], |to, value| to.path_separator = path_separator(value)?; "Byte between the parts of printed paths"
    switch "passthru".alias("passthrough"), |to, _| to.context.set_passthru(); "Print all lines"
    refused "pcre2".short('P'), |_, _| PCRE2; ""
    switch "no-pcre2", |_, _| (); ""
    value "pre"["COMMAND"], |to, value| { to.pre = path(value); to.search_zip &= to.pre.is_none(); }; "Search the output of COMMAND PATH instead of each file"
    switch "no-pre", |to, _| to.pre = None; ""
    value "pre-glob"["GLOB"], |to, value| to.pre_glob.push(owned(value)?); "Use --pre for these paths only"
    switch "pretty".short('p'), |to, _| { to.color = Color::Always; to.heading = Some(true); to.line_number = Some(true); }; "Print as on a terminal"
    switch "quiet".short('q'), |to, _| to.quiet = true; "Print nothing; the exit status says it"
    value "regex-size-limit"["SIZE"], |to, value| to.regex_size_limit = Some(memory(value)?); "Size of a compiled pattern"
    value "regexp"["PATTERN"].short('e'), |to, value| to.patterns.push(PatternSource::Regexp(owned(value)?)); "Search for PATTERN; may be given several times"
    value "replace"["TEXT"].short('r'), |to, value| to.replace = Some(owned(value)?.into_bytes()); "Print TEXT instead of each match; $1 is a group"
    switch "search-zip".short('z').negated("no-search-zip"), |to, yes| { to.search_zip = yes; to.pre = to.pre.take().filter(|_| !yes); }; "Search inside gz, bz2, xz, lz4, lzma, br, zst and Z files"
    switch "smart-case".short('S'), |to, _| to.case = Case::Smart; "Ignore case unless a pattern has a capital"
    value "sort"["KEY"], |to, value| to.sort = sort(value, false)?; "Sort by path, modified, accessed or created"
    switch "sort-files".negated("no-sort-files"), |to, yes| to.sort = yes.then_some(Sort { is_reverse: false, key: SortKey::Path }); ""
    value "sortr"["KEY"], |to, value| to.sort = sort(value, true)?; "As --sort, in reverse"
    switch "stats".negated("no-stats"), |to, yes| to.stats = yes; "Print counts and times at the end"
    switch "stop-on-nonmatch", |to, _| { to.stop_on_nonmatch = true; to.multiline = false; }; "Leave a file at the first line without a match after one with"
    switch "text".short('a').negated("no-text"), |to, yes| to.binary = if yes { Binary::AsText } else { Binary::Auto }; "Search binary files as text"
    value "threads"["NUM"].short('j'), |to, value| to.threads = Some(number(value)?).filter(|&threads| threads > 0); "Threads; 0 is the default"
    switch "trace", |to, _| to.logging = Some(Logging::Trace); "Log more"
    switch "trim".negated("no-trim"), |to, yes| to.trim = yes; "Print lines without leading blanks"
    value "type"["TYPE"].short('t'), |to, value| to.type_changes.push(TypeChange::Select(owned(value)?)); "Search files of TYPE only"
    value "type-add"["SPEC"], |to, value| to.type_changes.push(TypeChange::Add(owned(value)?)); "Add a glob to a type, as in foo:*.foo"
    value "type-clear"["TYPE"], |to, value| to.type_changes.push(TypeChange::Clear(owned(value)?)); "Forget the globs of a type"
    switch "type-list", |to, _| to.mode.update(Mode::Types); "Print all types and their globs"
    value "type-not"["TYPE"].short('T'), |to, value| to.type_changes.push(TypeChange::Negate(owned(value)?)); "Leave out files of TYPE"
    switch "unrestricted".short('u'), |to, _| restrict_less(to); "-u is --no-ignore, -uu with --hidden, -uuu with --binary"
    switch "vimgrep", |to, _| to.vimgrep = true; "Print each match on a line of its own, with line and column"
    switch "with-filename".short('H'), |to, _| to.with_filename = Some(true); "Print paths"
    switch "no-filename".short('I'), |to, _| to.with_filename = Some(false); "Print no paths"
    switch "word-regexp".short('w'), |to, _| to.boundary = Some(Boundary::Word); "Match whole words only"
};

fn color(value: &OsStr) -> Result<Color> {
    Ok(match text(value)? {
        "never" => Color::Never,
        "auto" => Color::Auto,
        "always" => Color::Always,
        "ansi" => Color::Ansi,
        other => bail!("choice '{other}' is unrecognized"),
    })
}

fn encoding(value: &OsStr) -> Result<TextEncoding> {
    Ok(match text(value)? {
        "auto" => TextEncoding::Auto,
        "none" => TextEncoding::Disabled,
        label => TextEncoding::Named(Encoding::new(label)?),
    })
}

fn check_engine(value: &OsStr) -> Result<()> {
    match text(value)? {
        "default" => Ok(()),
        "pcre2" | "auto" => bail!(PCRE2),
        other => bail!("unrecognized regex engine '{other}'"),
    }
}

/// `None` for an empty value.
fn path(value: &OsStr) -> Option<PathBuf> {
    (!value.is_empty()).then(|| PathBuf::from(value))
}

fn path_separator(value: &OsStr) -> Result<Option<u8>> {
    match separator(value)?[..] {
        [] => Ok(None),
        [byte] => Ok(Some(byte)),
        ref bytes => bail!(
            "a path separator must be exactly one byte, but this one has {}",
            bytes.len()
        ),
    }
}

fn set_json(to: &mut Arguments, yes: bool) {
    if yes {
        to.mode.update(Mode::Search(Output::Json));
    } else if to.mode == Mode::Search(Output::Json) {
        to.mode = Mode::Search(Output::Lines);
    }
}

fn set_no_ignore(to: &mut Arguments, yes: bool) {
    to.no_ignore_dot = yes;
    to.no_ignore_exclude = yes;
    to.no_ignore_global = yes;
    to.no_ignore_parent = yes;
    to.no_ignore_vcs = yes;
}

fn restrict_less(to: &mut Arguments) {
    to.unrestricted += 1;
    match to.unrestricted {
        1 => set_no_ignore(to, true),
        2 => to.hidden = true,
        _ => to.binary = Binary::SearchAndSuppress,
    }
}

fn sort(value: &OsStr, is_reverse: bool) -> Result<Option<Sort>> {
    let key = match text(value)? {
        "none" => return Ok(None),
        "path" => SortKey::Path,
        "modified" => SortKey::Modified,
        "accessed" => SortKey::Accessed,
        "created" => SortKey::Created,
        other => bail!("choice '{other}' is unrecognized"),
    };
    Ok(Some(Sort { is_reverse, key }))
}
