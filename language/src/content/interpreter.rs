//! Interpreter in a `#!` line.

use crate::table::Language;

/// Lines in which a shell script may `exec tclsh "$0"`.
const EXEC_LINES: usize = 5;

pub(super) fn language(head: &[u8]) -> Option<&'static Language> {
    let rest = head.strip_prefix(b"#!")?;
    let mut words = words(rest.split(|&byte| byte == b'\n').next()?);
    let mut program = base_name(words.next()?);
    if program == b"env" {
        program = words.find_map(argument_of_env)?;
    }
    match find(program)? {
        "Shell" => executed(head).or_else(|| Language::canonical("Shell")),
        name => Language::canonical(name),
    }
}

/// Skips options and variables.
fn argument_of_env(word: &[u8]) -> Option<&[u8]> {
    let split = [&b"--split-string="[..], b"-S"];
    let word = split
        .iter()
        .find_map(|option| word.strip_prefix(*option))
        .unwrap_or(word);
    let is_program = !word.is_empty() && word[0] != b'-' && !word.contains(&b'=');
    is_program.then(|| base_name(word))
}

fn executed(head: &[u8]) -> Option<&'static Language> {
    let mut commands = head.split(|&byte| byte == b'\n').skip(1).take(EXEC_LINES);
    commands.find_map(|line| {
        let command = line.trim_ascii().strip_prefix(b"exec ")?;
        memchr::memmem::find(command, b"$0")?;
        Language::canonical(find(base_name(words(command).next()?))?)
    })
}

fn find(program: &[u8]) -> Option<&'static str> {
    let is_version = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
    let end = program.iter().rposition(|byte| !is_version(byte));
    let unversioned = &program[..end.map_or(0, |last| last + 1)];
    let by_name = |name: &[u8]| {
        let has_name = |names: &str| names.split(' ').any(|it| it.as_bytes() == name);
        let row = PROGRAMS.iter().find(|(names, _)| has_name(names));
        row.map(|&(_, language)| language)
    };
    by_name(program).or_else(|| by_name(unversioned).filter(|_| !unversioned.is_empty()))
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = line.split(u8::is_ascii_whitespace);
    words.filter(|word| !word.is_empty())
}

fn base_name(program: &[u8]) -> &[u8] {
    crate::path::split_name(program).1
}

#[rustfmt::skip]
pub(super) const PROGRAMS: &[(&str, &str)] = &[
    ("sh bash dash ash ksh mksh pdksh zsh rbash bats openrc-run runscript", "Shell"),
    ("python pypy ipython pytest", "Python"),
    ("perl cperl", "Perl"),
    ("ruby jruby macruby rake", "Ruby"),
    ("node nodejs bun gjs rhino d8 qjs", "JavaScript"),
    ("deno ts-node tsx", "TypeScript"),
    ("lua luajit texlua", "Lua"),
    ("php hhvm", "PHP"),
    ("awk gawk mawk nawk", "Awk"),
    ("sed gsed", "Sed"),
    ("tclsh wish expect jimsh", "Tcl"),
    ("Rscript littler", "R"),
    ("make gmake bmake", "Makefile"),
    ("csh tcsh", "Tcsh"),
    ("fish", "fish"),
    ("perl6 raku rakudo", "Raku"),
    ("escript", "Erlang"),
    ("elixir", "Elixir"),
    ("groovy", "Groovy"),
    ("scala", "Scala"),
    ("kotlin", "Kotlin"),
    ("julia", "Julia"),
    ("runhaskell runghc", "Haskell"),
    ("ocaml ocamlrun ocamlscript", "OCaml"),
    ("guile gosh csi scheme scsh", "Scheme"),
    ("racket", "Racket"),
    ("sbcl clisp ecl lisp", "Common Lisp"),
    ("emacs", "Emacs Lisp"),
    ("clojure bb", "Clojure"),
    ("swipl yap", "Prolog"),
    ("pwsh powershell", "PowerShell"),
    ("osascript", "AppleScript"),
    ("crystal", "Crystal"),
    ("dart", "Dart"),
    ("swift", "Swift"),
    ("rdmd", "D"),
    ("rust-script", "Rust"),
    ("coffee", "CoffeeScript"),
    ("gforth", "Forth"),
    ("instantfpc", "Pascal"),
    ("gst", "Smalltalk"),
    ("m4", "M4"),
    ("cmake", "CMake"),
    ("octave octave-cli", "MATLAB"),
];
