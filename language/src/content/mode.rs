//! Mode lines of Emacs and Vim.

use crate::table::Language;
use memchr::memmem;

/// Lines at the head with a mode line, and at the end.
const LINES: usize = 5;

pub(super) fn language(head: &[u8], is_whole: bool) -> Option<&'static Language> {
    let has = |mark: &&[u8]| memmem::find(head, mark).is_some();
    if ![&b"-*-"[..], b"vim:", b"vi:"].iter().any(has) {
        return None;
    }
    let first = head
        .split(|&byte| byte == b'\n')
        .take(LINES)
        .find_map(of_line);
    first.or_else(|| {
        let last = head.rsplit(|&byte| byte == b'\n').take(LINES + 1);
        last.filter(|_| is_whole)
            .find_map(|line| named(of_vim(line)?))
    })
}

fn of_line(line: &[u8]) -> Option<&'static Language> {
    named(of_emacs(line).or_else(|| of_vim(line))?)
}

fn of_emacs(line: &[u8]) -> Option<&[u8]> {
    const MARK: &[u8] = b"-*-";
    let (_, rest) = line.split_at(memmem::find(line, MARK)? + MARK.len());
    let variables = &rest[..memmem::find(rest, MARK)?];
    if !variables.contains(&b':') {
        return Some(variables.trim_ascii());
    }
    variables.split(|&byte| byte == b';').find_map(|variable| {
        let colon = memchr::memchr(b':', variable)?;
        let is_mode = variable[..colon].trim_ascii().eq_ignore_ascii_case(b"mode");
        is_mode.then(|| variable[colon + 1..].trim_ascii())
    })
}

fn of_vim(line: &[u8]) -> Option<&[u8]> {
    let options = memmem::find_iter(line, b"vim:")
        .map(|at| (at, at + 4))
        .chain(memmem::find_iter(line, b"vi:").map(|at| (at, at + 3)))
        .find(|&(at, _)| at == 0 || line[at - 1].is_ascii_whitespace())
        .map(|(_, end)| &line[end..])?;
    let mut options = options.split(|&byte| byte == b':' || byte.is_ascii_whitespace());
    options.find_map(|option| {
        let equals = memchr::memchr(b'=', option)?;
        let is_type = matches!(&option[..equals], b"ft" | b"filetype" | b"syntax" | b"syn");
        is_type.then(|| &option[equals + 1..])
    })
}

fn named(mode: &[u8]) -> Option<&'static Language> {
    let mode = std::str::from_utf8(mode).ok()?.to_ascii_lowercase();
    let mode = mode.strip_suffix("-mode").unwrap_or(&mode);
    let mode = mode.strip_suffix("-ts").unwrap_or(mode);
    let listed = MODES
        .iter()
        .find(|(modes, _)| modes.split(' ').any(|it| it == mode));
    Language::named(listed.map_or(mode, |&(_, language)| language))
}

/// Modes not named like their language.
#[rustfmt::skip]
pub(super) const MODES: &[(&str, &str)] = &[
    ("autoconf config", "M4"),
    ("bison", "Yacc"),
    ("caml tuareg", "OCaml"),
    ("conf-unix dosini", "INI"),
    ("cperl", "Perl"),
    ("dosbatch", "Batchfile"),
    ("emacs-lisp lisp-interaction", "Emacs Lisp"),
    ("flex", "Lex"),
    ("gas", "Assembly"),
    ("html-helper mhtml", "HTML"),
    ("indented-text outline", "Text"),
    ("javascriptreact js2", "JavaScript"),
    ("makefile-automake makefile-bsdmake makefile-gmake", "Makefile"),
    ("nroff groff troff", "Roff"),
    ("nxml sgml", "XML"),
    ("objcpp", "Objective-C++"),
    ("perl6", "Raku"),
    ("plain-tex plaintex", "TeX"),
    ("typescriptreact", "TSX"),
];
