//! Checks the text behind a defined name: a body, or a `;` some lines later.
//!
//! Pure, and bounded: [`BYTES_MAX`] bytes in [`LINES_MAX`] lines. Skips comments, strings and
//! preprocessor lines. **Invariant:** a level is never raised, so that of the line alone is a
//! bound.

use super::{
    DECLARES, begins_body, begins_function, defines, has_type_keyword, is_indented, is_word,
    keyword, words,
};

/// Bytes behind a name: an argument list of 16 lines.
pub const BYTES_MAX: usize = 1024;

/// Lines behind a name. Nearly all argument lists are shorter.
const LINES_MAX: usize = 20;

/// True if text behind a line of this [`level`](super::level) may lower it.
pub fn decides(line: &[u8], (start, end): (usize, usize), level: u8) -> bool {
    level > DECLARES && Shape::of(line, start, end).is_some()
}

/// Level of a line and the text behind: [`BYTES_MAX`] bytes from the name's end, or up to the
/// document's.
pub fn level_with(line: &[u8], (start, end): (usize, usize), level: u8, text: &[u8]) -> u8 {
    let followed = match Shape::of(line, start, end) {
        None => level,
        Some(Shape::Keyword) if Code::behind(text, 0).follow() == Follow::End => DECLARES,
        Some(Shape::Keyword) => level,
        Some(Shape::Type) => of_type(level, text),
        Some(Shape::Call { depth }) => match Code::behind(text, depth).follow() {
            Follow::Body => level,
            Follow::Cut => 3,
            Follow::End => DECLARES,
            Follow::Other => u8::from(!is_indented(line)),
        },
    };
    // A method with a type before it needs its body.
    if level == 3 && is_indented(line) && followed < level {
        0
    } else {
        followed.min(level)
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Shape {
    /// `fn name(`
    Keyword,
    /// `struct name` at the line's end.
    Type,
    /// `int name(`, and with `depth` 1 `name,(arguments))` and `MACRO(name)(` within a macro.
    Call { depth: usize },
}

impl Shape {
    fn of(line: &[u8], start: usize, end: usize) -> Option<Shape> {
        let before = line[..start].trim_ascii_end();
        let behind = line[end..].trim_ascii();
        let (keyword, are_modifiers) = keyword(before);
        let is_go_method = before.starts_with(b"func (");
        if before.starts_with(b"#") || is_go_method {
            return None;
        }
        if are_modifiers && begins_function(keyword) {
            return Some(Shape::Keyword);
        }
        match behind.first() {
            None if has_type_keyword(before) && words(before).any(is_type_of_c) => {
                Some(Shape::Type)
            }
            Some(b'(') if !are_modifiers || !(defines(keyword) || begins_body(keyword)) => {
                Some(Shape::Call { depth: 0 })
            }
            Some(b',' | b')') => Some(Shape::Call { depth: 1 }),
            _ => None,
        }
    }
}

/// Also types of functions: `struct name` above the name.
fn is_type_of_c(word: &[u8]) -> bool {
    matches!(word, b"struct" | b"enum" | b"union")
}

/// A body follows `struct name`, or a function that returns it.
fn of_type(level: u8, text: &[u8]) -> u8 {
    match Code::behind(text, 0).token() {
        Some(b'(' | b'*') => 0,
        Some(byte) if is_word(byte) => 1,
        Some(b';') => 0,
        _ => level,
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Follow {
    Body,
    /// A `;` without a body.
    End,
    Other,
    /// The text ended before.
    Cut,
}

#[derive(Default)]
struct Code<'t> {
    text: &'t [u8],
    at: usize,
    lines: usize,
    /// Open brackets.
    depth: usize,
}

impl<'t> Code<'t> {
    fn behind(text: &'t [u8], depth: usize) -> Code<'t> {
        Code {
            text,
            depth,
            ..Code::default()
        }
    }

    fn rest(&self) -> &'t [u8] {
        &self.text[self.at.min(self.text.len())..]
    }

    /// Next byte that is not blank, not taken.
    fn token(&mut self) -> Option<u8> {
        let mut bytes = self.rest().iter();
        self.at += bytes.position(|byte| !byte.is_ascii_whitespace())?;
        if self.skip_comment() {
            self.token()
        } else {
            self.text.get(self.at).copied()
        }
    }

    fn follow(mut self) -> Follow {
        let first = self.at;
        // Arguments of old C without types: those follow, each with a `;`.
        let mut are_names = None;
        while let Some(&byte) = self.text.get(self.at) {
            if self.skip_comment() || self.skip_string(byte) {
                continue;
            }
            let is_outside = self.depth == 0;
            match byte {
                b'(' | b'[' => self.depth += 1,
                b')' | b']' if is_outside => return Follow::Other,
                b')' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 && are_names.is_none() {
                        are_names = Some(are_plain_names(&self.text[first..self.at]));
                    }
                }
                b'{' if is_outside => return Follow::Body,
                b';' if is_outside && are_names == Some(true) && self.lines > 0 => {}
                b';' if is_outside => return Follow::End,
                b'=' if is_outside => return self.behind_equals(),
                b'\n' => {
                    self.lines += 1;
                    if self.lines == LINES_MAX {
                        return Follow::Cut;
                    }
                    self.skip_directives();
                    if is_outside
                        && are_names.is_some()
                        && self.begins_other(are_names == Some(true))
                    {
                        return Follow::Other;
                    }
                }
                b'}' | b'.' | b'!' | b'?' | b'|' | b'+' if is_outside => return Follow::Other,
                _ => {}
            }
            self.at += 1;
        }
        Follow::Cut
    }

    fn skip_comment(&mut self) -> bool {
        let rest = self.rest();
        let length = if rest.starts_with(b"/*") {
            memchr::memmem::find(rest, b"*/").map(|end| end + 2)
        } else if rest.starts_with(b"//") {
            memchr::memchr(b'\n', rest)
        } else {
            return false;
        };
        let comment = &rest[..length.unwrap_or(rest.len())];
        self.lines += memchr::memchr_iter(b'\n', comment).count();
        self.at += comment.len();
        true
    }

    /// Skips a string within a line, or a quoted letter.
    fn skip_string(&mut self, quote: u8) -> bool {
        if !matches!(quote, b'"' | b'\'') {
            return false;
        }
        let mut at = self.at + 1;
        while let Some(&byte) = self.text.get(at) {
            match byte {
                b'\n' => break,
                b'\\' => at += 1,
                _ if byte == quote => {
                    self.at = at + 1;
                    return true;
                }
                _ => {}
            }
            at += 1;
        }
        false
    }

    fn skip_directives(&mut self) {
        while self.rest().get(1) == Some(&b'#') && self.lines < LINES_MAX {
            self.at += 1;
            self.at += memchr::memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
            self.lines += 1;
        }
    }

    /// True if the next line belongs to something else. It may declare one of the `names`.
    fn begins_other(&self, names: bool) -> bool {
        let rest = &self.rest()[1.min(self.rest().len())..];
        let end = memchr::memchr(b'\n', rest);
        let line = rest[..end.unwrap_or(rest.len())].trim_ascii_end();
        let Some(&first) = line.first() else {
            return end.is_some();
        };
        let declares =
            names && matches!(line.last(), Some(b';' | b',' | b'{')) && !line.contains(&b'(');
        first == b'}' || is_word(first) && !declares
    }

    /// Tells `= value` from `= 0;` and `== value`.
    fn behind_equals(&mut self) -> Follow {
        self.at += 1;
        let ends = [&b"0"[..], b"default", b"delete"];
        match self.token() {
            Some(b'=' | b'~' | b'>') => Follow::Other,
            _ if ends.iter().any(|word| self.rest().starts_with(word)) => Follow::End,
            Some(_) => Follow::Body,
            None => Follow::Cut,
        }
    }
}

/// True if `(a, b` has only names.
fn are_plain_names(arguments: &[u8]) -> bool {
    let names = arguments.trim_ascii_start().strip_prefix(b"(");
    names.is_some_and(|names| {
        names.split(|&byte| byte == b',').all(|name| {
            let name = name.trim_ascii();
            !name.is_empty() && name != b"void" && name.iter().all(|&byte| is_word(byte))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::level;
    use proptest::prelude::*;

    fn check(text: &str) -> u8 {
        let line = text.lines().next().unwrap();
        let start = line.find("name").unwrap();
        let words = (start, start + 4);
        let alone = level(line.as_bytes(), start, start + 4);
        if !decides(line.as_bytes(), words, alone) {
            return alone;
        }
        let behind = &text.as_bytes()[start + 4..];
        level_with(
            line.as_bytes(),
            words,
            alone,
            &behind[..behind.len().min(BYTES_MAX)],
        )
    }

    #[test]
    fn a_body_behind_some_lines_is_a_definition() {
        for text in [
            "int name(void)\n{",
            "int name(int a,\n         int b)\n{\n",
            "name (int a)\n{",
            "name (a, b)\n     int a;\n     char *b;\n{",
            "name(a, b)\nint a, b;\nregister char *c;\n{",
            "int name(int a) /* of; it */ // or;\n{",
            "int name(char a = ';', char *b = \"(;\")\n{",
            "int name(int a)\n#ifdef A\n    __attribute__((b))\n#endif\n{",
            "A::name(int a)\n    : b(a),\n      c(a)\n{",
            "void A::name() const noexcept {",
            "auto name(int a) -> std::vector<int>\n{",
            "name (Just a) = b",
            "name() {",
            "name,(int a,\n   int b), PURE)\n{",
            "  public int name(int a,\n      int b) throws E {\n",
            "pub fn name(a: &'a str,\n    b: [u8; 4],\n) -> u8\nwhere\n    A: B,\n{",
            "func name(a int) int\n\n",
            "struct name\n{",
            "class name\n  def a",
            "static struct name\n  {",
        ] {
            assert_eq!(check(text), 4, "{text}");
        }
        assert_eq!(check("    int name(int a)\n    {"), 3);
    }

    #[test]
    fn a_declaration_over_several_lines_is_none() {
        for text in [
            "int name(int a,\n         int b);\n",
            "extern int name (int a, int b)\n     __attribute__ ((nonnull (1)));\n",
            "int name(int a,\n         int b) /* { */;\nint c(void)\n{",
            "virtual int name(int a,\n    int b) = 0;",
            "name,(int a,\n   int b), PURE);\n{",
            "pub fn name(a: u8,\n    b: [u8; 4],\n) -> u8;\nfn b() {",
            "  public abstract int name(int a,\n      int b);\n",
        ] {
            assert_eq!(check(text), 2, "{text}");
        }
    }

    #[test]
    fn calls_macros_and_prose_are_none() {
        for text in [
            "name(a)\nint b(void)\n{",
            "name(a, \"b\")\n\nint b(void)\n{",
            "name(a)\nb()\n",
            "name(a).b(function() {",
            "name (as it is) and\nsomething {",
            "DEFINE name(a)\n\n{",
            "struct name\nother(int a)\n{",
        ] {
            assert_eq!(check(text), 1, "{text}");
        }
        for text in [
            "  the name (as it\n  is) and so. {",
            "  A name(a);\n  {",
            "  int name(int a,\n  int b);",
        ] {
            assert_eq!(check(text), 0, "{text}");
        }
    }

    #[test]
    fn the_text_that_is_looked_at_has_a_bound() {
        let arguments = |lines: usize| format!("int name({}int b)\n{{", "int a,\n".repeat(lines));
        assert_eq!(check(&arguments(LINES_MAX - 3)), 4);
        assert_eq!(check(&arguments(LINES_MAX)), 3);
        let long = format!("int name(\n{}\n{{", "a".repeat(BYTES_MAX));
        assert_eq!(check(&long), 3);
    }

    proptest! {
        #[test]
        fn what_is_behind_a_line_never_raises_its_level(
            line in prop::collection::vec(prop::sample::select(vec![
                "int ", "struct ", "fn ", "public ", "  ", "#define ", "type ", "template <T> ", "func (a) ", ";", "(", "*",
            ]), 0..4),
            behind in prop::collection::vec(prop::sample::select(vec![
                "(", ")", "{", "}", ";", "\n", "\n#", "a", ",", " ", "=", "\"", "'", "/*", "*/", "//", "\\", ":", "[", "]",
                "\r\n", "\n  ", "0",
            ]), 0..60),
        ) {
            let text = format!("{}name{}", line.concat(), behind.concat());
            let line = text.lines().next().unwrap().as_bytes();
            let start = text.find("name").unwrap();
            prop_assert!(check(&text) <= level(line, start, start + 4));
        }
    }
}
