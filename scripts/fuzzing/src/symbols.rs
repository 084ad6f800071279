//! Definitions and classes of bytes of texts.

use language::Language;
use language::lexer::{Colour, Syntax, Tokens};
use language::symbols::{Class, Parent, Symbols};
use std::ops::Range;

/// Similar parsers. The last family has all other languages.
#[rustfmt::skip]
const FAMILIES: [&[&str]; 10] = [
    &["C", "C++", "Objective-C", "Objective-C++", "Cuda", "GLSL", "HLSL", "Yacc", "Lex", "SWIG", "Perl XS",
      "Devicetree", "WGSL"],
    &["Java", "C#", "Kotlin", "Scala", "Dart", "Groovy", "D", "Vala", "Swift", "Haxe", "Solidity"],
    &["JavaScript", "TypeScript", "TSX", "QML", "Vue", "Svelte", "CoffeeScript", "PHP"],
    &["Go", "Rust", "Zig", "Nim", "ANTLR", "SQL", "HCL", "Puppet", "Nix", "Protocol Buffer", "Thrift",
      "Cap'n Proto", "FlatBuffers", "WebIDL", "GraphQL"],
    &["Python", "Cython", "Starlark", "Meson", "Ruby", "Crystal", "Elixir", "Lua", "Julia", "fish"],
    &["Perl", "Pod", "Raku", "Shell", "RPM Spec", "Awk", "Tcl", "PowerShell", "R"],
    &["Makefile", "QMake", "Ninja", "Kconfig", "CMake", "M4", "Dockerfile", "Batchfile", "Vim Script", "Tcsh"],
    &["Agda", "Idris", "Elm", "Haskell", "PureScript", "Clojure", "Common Lisp", "Emacs Lisp", "Racket", "Scheme",
      "WebAssembly", "F#", "OCaml", "ReasonML", "Standard ML", "Erlang", "Prolog"],
    &["Assembly", "COBOL", "Fortran", "MATLAB", "ASP.NET", "VBScript", "Visual Basic .NET", "Ada", "VHDL", "Pascal",
      "SystemVerilog", "Verilog", "Eiffel", "Forth", "PostScript"],
    &[],
];

fn languages(family: usize) -> Vec<&'static Language> {
    let names = FAMILIES[family];
    let is_of = |it: &&Language| {
        if names.is_empty() {
            FAMILIES.iter().all(|names| !names.contains(&it.name))
        } else {
            names.contains(&it.name)
        }
    };
    Language::all().iter().filter(is_of).collect()
}

/// Runs and definitions must ascend within the text, and runs equal those of lines.
///
/// Input: number of the language, text.
pub(crate) fn symbols<const FAMILY: usize>(data: &[u8]) {
    let Some((&number, text)) = data.split_first() else {
        return;
    };
    let languages = languages(FAMILY);
    let language = languages[usize::from(number) % languages.len()];
    let symbols = Symbols::of(Some(language), text);
    check_definitions(&symbols, text);
    let mut end = 0;
    for run in &symbols.runs {
        assert!(end <= run.range.start && run.range.start < run.range.end);
        end = run.range.end;
    }
    assert!(end as usize <= text.len());
    if let Some(syntax) = Syntax::of(language.name)
        && !text.starts_with(BYTE_ORDER_MARK)
    {
        check_classes(syntax, &symbols, text);
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn check_definitions(symbols: &Symbols, text: &[u8]) {
    let all = &symbols.definitions;
    assert!(all.is_sorted_by_key(|it| it.name.start));
    for it in all {
        let name = &text[it.name.start as usize..it.name.end as usize];
        assert!(!name.is_empty() && !name.contains(&b'\n'));
        assert!(it.name.end <= it.end && it.end as usize <= text.len());
        if let Parent::Definition(parent) = it.parent {
            assert!((parent as usize) < all.len());
        }
    }
}

/// Runs may span blanks.
fn check_classes(syntax: &Syntax, symbols: &Symbols, text: &[u8]) {
    let mut lexed = Lexed {
        classes: vec![syntax.class(); text.len()],
        is_text: syntax.class() == Class::Text,
        ..Lexed::default()
    };
    let mut state = syntax.begin_of(text);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        lexed.end = lexed.line;
        state = syntax.line(content, state, &mut lexed);
        assert!(lexed.end <= lexed.line + content.len());
        lexed.line += line.len();
    }
    let mut classes = vec![syntax.class(); text.len()];
    for run in &symbols.runs {
        classes[run.range.start as usize..run.range.end as usize].fill(run.class);
    }
    for (at, (run, part)) in classes.iter().zip(&lexed.classes).enumerate() {
        assert!(run == part || text[at].is_ascii_whitespace(), "byte {at}");
    }
}

/// Classes by tokens: each has a byte, so their number is linear.
#[derive(Default)]
struct Lexed {
    classes: Vec<Class>,
    is_text: bool,
    line: usize,
    end: usize,
}

impl Lexed {
    fn take(&mut self, part: Range<usize>) -> Range<usize> {
        let part = self.line + part.start..self.line + part.end;
        assert!(self.end <= part.start && part.start < part.end);
        self.end = part.end;
        part
    }
}

impl Tokens for Lexed {
    fn coloured(&mut self, part: Range<usize>, colour: Colour) {
        let part = self.take(part);
        match colour {
            Colour::Comment => self.classes[part].fill(Class::Comment),
            Colour::String if !self.is_text => self.classes[part].fill(Class::String),
            _ => {}
        }
    }

    fn word(&mut self, word: Range<usize>) {
        self.take(word);
    }

    fn sign(&mut self, at: usize, _: u8) {
        self.take(at..at + 1);
    }
}

pub(crate) fn seeds<const FAMILY: usize>() -> Vec<Vec<u8>> {
    let text = [
        "#!/bin/a\n/* a */ // b\n# c\n-- d\n; e\n% f\n=head1 g\n\n=cut\n<!-- h -->\n",
        "#include <i.h>\nclass A extends B { def c(self): x = f\"{d['e']!r:>{g}}\" }\n",
        "fn h<'a>(i: &'a str) -> J { r#\"k\"# }\n\"\"\"l\"\"\" '''m''' `n ${o(`p`)} q`\n",
        "cat <<EOF; r=\"$(s \"t ${u:-v}\")\"\nw\nEOF\ns{x}{y}e; qw(z) %w[a] /[/]b/ ~r|c|\n",
        "[==[ d ]==] R\"e(f)e\" $$g$$ {- h -} (* i *)\n<?php j(\"{$k['l']}\"); ?>\n__END__\n",
    ]
    .concat();
    let numbers = 0..languages(FAMILY).len();
    let seed = |number: usize| [&[number as u8], text.as_bytes()].concat();
    numbers.map(seed).collect()
}
