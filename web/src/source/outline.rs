//! Outline of a file: lines that look like definitions of functions, types, macros and modules.
//!
//! It is the same heuristic over single lines as for ranking, without comments and strings. In
//! doubt a line is omitted. False positives are possible.

use crate::model::{DefinitionKind, OutlineDefinition};
use crate::source::colours::{ColouredParts, Syntax};
use language::definition;

/// Listed definitions. A header of registers has a hundred thousand.
const DEFINITIONS_MAX: usize = 2000;

/// Longer lines are generated.
const LINE_BYTES_MAX: usize = 300;

const NAME_BYTES_MAX: usize = 100;

const LEVEL_MIN: u8 = 3;

#[derive(Clone, Default)]
pub(crate) struct Outline {
    syntax: Option<&'static Syntax>,
    pub(crate) definitions: Vec<OutlineDefinition>,
    /// True if there are more.
    pub(crate) is_cut: bool,
}

impl Outline {
    /// Stays empty without a syntax.
    pub(crate) fn new(language: &str) -> Outline {
        Outline {
            syntax: Syntax::of(language),
            ..Outline::default()
        }
    }

    pub(crate) fn add(&mut self, number: u32, line: &[u8], coloured: &ColouredParts) {
        let Some((name, kind)) = self.syntax.and_then(|of| definition(of, line, coloured)) else {
            return;
        };
        if self.definitions.len() == DEFINITIONS_MAX {
            self.is_cut = true;
            return;
        }
        self.definitions.push(OutlineDefinition {
            name: name.to_owned(),
            kind,
            line: number,
        });
    }
}

fn definition<'a>(
    syntax: &Syntax,
    line: &'a [u8],
    coloured: &ColouredParts,
) -> Option<(&'a str, DefinitionKind)> {
    if line.len() > LINE_BYTES_MAX {
        return None;
    }
    words(line).find_map(|(start, end)| {
        // Keywords, comments and strings have no names.
        let is_coloured = coloured
            .iter()
            .any(|(range, _)| range.start < end && start < range.end);
        if is_coloured {
            return None;
        }
        let is_likely = definition::level(line, start, end) >= LEVEL_MIN;
        let is_indented = line.first().is_some_and(u8::is_ascii_whitespace);
        let kind = is_likely.then(|| kind_of(syntax, line, start, end));
        let kind = match kind.flatten() {
            None if (is_indented || !is_likely) && is_method(line, start, end) => {
                DefinitionKind::Function
            }
            kind => kind?,
        };
        let name = str::from_utf8(&line[start..end]).ok()?;
        (name.len() <= NAME_BYTES_MAX).then_some((name, kind))
    })
}

fn words(line: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += line[at..].iter().position(|byte| is_word(*byte))?;
            let length = line[at..].iter().take_while(|byte| is_word(**byte)).count();
            let start = at;
            at += length;
            if !line[start].is_ascii_digit() {
                return Some((start, at));
            }
        }
    })
}

fn kind_of(syntax: &Syntax, line: &[u8], start: usize, end: usize) -> Option<DefinitionKind> {
    let (before, behind) = (line[..start].trim_ascii(), line[end..].trim_ascii());
    let word =
        before.rsplit(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte != b'!');
    match word.clone().next().unwrap_or_default() {
        b"fn" | b"func" | b"function" | b"def" | b"defun" | b"defn" | b"sub" | b"proc" => {
            return Some(DefinitionKind::Function);
        }
        b"define" | b"defmacro" | b"macro_rules!" => return Some(DefinitionKind::Macro),
        b"class" | b"struct" | b"enum" | b"union" | b"type" | b"trait" | b"interface"
        | b"record" | b"newtype" | b"data" | b"object" => return Some(DefinitionKind::Type),
        b"module" => return Some(DefinitionKind::Module),
        b"static" | b"const" if matches!(behind.first(), Some(b':' | b'=' | b'[')) => {
            return (!behind.starts_with(b"::")).then_some(DefinitionKind::Constant);
        }
        b"let" | b"var" | b"val" => return None,
        _ => {}
    }
    let is_go_method = before.starts_with(b"func (");
    let is_shell = behind.starts_with(b"()") && before.is_empty();
    // `DEFINE_LIST(a, b)` uses a macro.
    let is_function =
        behind.starts_with(b"(") && line[start..end].iter().any(u8::is_ascii_lowercase);
    let is_typedef = before == b"}" || before.starts_with(b"typedef ");
    if is_go_method || is_shell || is_function && syntax.has_functions_without_word() {
        Some(DefinitionKind::Function)
    } else if is_typedef {
        Some(DefinitionKind::Type)
    } else {
        None
    }
}

/// `public int size() {`, as in Java and the like.
fn is_method(line: &[u8], start: usize, end: usize) -> bool {
    let (before, behind) = (line[..start].trim_ascii(), line[end..].trim_ascii());
    let first = before.split(|byte| !byte.is_ascii_alphabetic()).next();
    let is_modifier = matches!(
        first.unwrap_or_default(),
        b"public"
            | b"protected"
            | b"private"
            | b"internal"
            | b"static"
            | b"final"
            | b"abstract"
            | b"override"
            | b"virtual"
            | b"synchronized"
    );
    let opens = behind.ends_with(b"{") || behind.ends_with(b",") || behind.ends_with(b")");
    behind.starts_with(b"(") && opens && !before.contains(&b'=') && is_modifier
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::colours::DocumentColours;

    fn outline(language: &str, text: &str) -> Outline {
        let (mut outline, colours) = (Outline::new(language), DocumentColours::reading(language));
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.as_bytes();
            outline.add(number, line, &colours.tokens(number, line));
        }
        outline
    }

    fn render(language: &str, text: &str) -> Vec<String> {
        let outline = outline(language, text);
        let definitions = outline.definitions.iter();
        let render = |it: &OutlineDefinition| format!("{} {:?} {}", it.line, it.kind, it.name);
        definitions.map(render).collect()
    }

    #[test]
    fn lines_that_look_like_definitions_are_the_outline() {
        let c = "#define MAX 3\n/* int hidden(void) { */\nstruct point {\n\tint x;\n} point_t;\n\
            static int\nadd(int a, int b)\n{\n\tif (a) other(b);\n}\nint add(int, int);\nwhile (1)\n";
        assert_eq!(
            render("C", c),
            [
                "1 Macro MAX",
                "3 Type point",
                "5 Type point_t",
                "7 Function add"
            ]
        );
        let python = "import x\nclass A(B):\n    def f(self):\n        g(1)\nprint(2)\n'''\ndef no():\n'''\n";
        assert_eq!(render("Python", python), ["2 Type A", "3 Function f"]);
        let rust = "pub struct A<T> {\n}\nimpl A {\n    pub fn f(&self) {\n        let x: u8 = 1;\n    }\n}\n\
            const N: u8 = 1;\n// fn no()\n";
        assert_eq!(
            render("Rust", rust),
            ["1 Type A", "4 Function f", "8 Constant N"]
        );
        let go = "func (r *Router) Handle(x int) {\n}\ntype Router struct {\n";
        assert_eq!(render("Go", go), ["1 Function Handle", "3 Type Router"]);
        let java = "public class A {\n    public static int size(String a) {\n        return other(a);\n    }\n\
            \x20   private final int x = f(1);\n}\n";
        assert_eq!(render("Java", java), ["1 Type A", "2 Function size"]);
        assert_eq!(
            render("C", "static DEFINE_LIST(a)\nDEFINE(b)\n{\n").len(),
            0
        );
        assert_eq!(
            render("Shell", "run() {\n  echo\n}\nrun x\n"),
            ["1 Function run"]
        );
    }

    #[test]
    fn an_outline_has_a_bound_and_says_so() {
        let text = "#define A 1\n".repeat(DEFINITIONS_MAX + 1);
        let outline = outline("C", &text);
        assert_eq!(
            (outline.definitions.len(), outline.is_cut),
            (DEFINITIONS_MAX, true)
        );
        assert!(render("Text", "#define A 1").is_empty());
    }
}
