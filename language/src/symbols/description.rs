//! Heads of definitions, and comments above.

use super::{Class, Definition, Symbols};

const HEAD_LINES_MAX: usize = 8;

const COMMENT_LINES_MAX: usize = 20;

const LINE_BYTES_MAX: usize = 200;

const FENCE: &str = "```";

/// Beginnings of lines that continue a head.
const CONTINUED: &str = "{ where -> : throws extends implements =>";

/// Signs before the words of a comment.
const SIGNS: [char; 9] = ['/', '*', '!', '#', ';', '-', '%', '<', '"'];

impl Symbols {
    pub fn class_at(&self, byte: usize) -> Class {
        let after = (self.runs).partition_point(|run| run.range.end as usize <= byte);
        let run = self.runs.get(after);
        let run = run.filter(|run| run.range.start as usize <= byte);
        run.map_or(self.class, |run| run.class)
    }

    /// Lines of a definition up to its body.
    pub fn head(&self, text: &[u8], it: &Definition) -> Vec<String> {
        let (mut lines, mut depth) = (Vec::new(), 0);
        let (mut start, end) = (line_start(text, it), it.name.end as usize);
        for _ in 0..HEAD_LINES_MAX {
            let line = first_line(&text[start..]);
            let body = line.iter().enumerate().position(|(at, byte)| {
                let is_code = start + at >= end && self.class_at(start + at) == Class::Code;
                match byte {
                    b'(' | b'[' if is_code => depth += 1,
                    b')' | b']' if is_code => depth -= 1,
                    b'{' if is_code && depth <= 0 => return true,
                    _ => {}
                }
                false
            });
            lines.push(shown(&line[..body.unwrap_or(line.len())]));
            start = (start + line.len() + 1).min(text.len());
            let next = first_line(&text[start..]).trim_ascii();
            let mut continued = CONTINUED.split(' ');
            let is_continued = depth > 0 || continued.any(|it| next.starts_with(it.as_bytes()));
            if body.is_some() || !is_continued {
                break;
            }
        }
        if lines.last().is_some_and(|last| last.trim().is_empty()) {
            lines.pop();
        }
        lines
    }

    /// Words of the comment directly above a definition. Attributes may be between.
    pub fn comment(&self, text: &[u8], it: &Definition) -> Vec<String> {
        let (mut lines, mut end) = (Vec::new(), line_start(text, it));
        for _ in 0..COMMENT_LINES_MAX {
            let Some(above) = text[..end].strip_suffix(b"\n") else {
                break;
            };
            let line = above.rsplit(|&byte| byte == b'\n').next().unwrap_or(above);
            end = above.len() - line.len();
            let begin = line.trim_ascii_start();
            if begin.is_empty() {
                break;
            }
            if self.class_at(above.len() - begin.len()) == Class::Comment {
                lines.push(words(&shown(begin)).to_owned());
            } else if !begin.starts_with(b"#[") && !begin.starts_with(b"@") {
                break;
            }
        }
        let fences = lines.iter().filter(|line| line.starts_with(FENCE)).count();
        if fences % 2 == 1 {
            // The opening one is above the last line.
            lines.push(FENCE.to_owned());
        }
        lines.reverse();
        lines
    }
}

fn line_start(text: &[u8], it: &Definition) -> usize {
    let before = &text[..it.name.start as usize];
    memchr::memrchr(b'\n', before).map_or(0, |end| end + 1)
}

fn first_line(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())]
}

/// Words of a line of a comment.
fn words(line: &str) -> &str {
    let words = line.trim_start_matches(SIGNS);
    let words = words.strip_prefix(' ').unwrap_or(words);
    let words = words.trim_end_matches("-->").trim_end_matches("*/");
    words.trim_end()
}

fn shown(line: &[u8]) -> String {
    let line = &line[..line.len().min(LINE_BYTES_MAX)];
    String::from_utf8_lossy(line).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;

    #[test]
    fn heads_end_at_the_body_and_comments_lose_their_signs() {
        let check = |language: &str, text: &str, head: &[&str], comment: &[&str]| {
            let symbols = Symbols::of(Language::named(language), text.as_bytes());
            let it = &symbols.definitions[0];
            assert_eq!(symbols.head(text.as_bytes(), it), head, "{text}");
            assert_eq!(symbols.comment(text.as_bytes(), it), comment, "{text}");
        };
        let text = "x;\n\n/// # A\n///     b;\n#[c]\nfn d(\n    e: F, // {\n) -> G\n{\n}";
        let head = ["fn d(", "    e: F, // {", ") -> G"];
        check("Rust", text, &head, &["# A", "    b;"]);
        check(
            "C",
            "/**\n * An *a*. */\nint a(int b) { }",
            &["int a(int b)"],
            &["", "An *a*."],
        );
        check("C", "int a; int b", &["int a; int b"], &[]);
        check("Rust", "/// ```\nfn a() {", &["fn a()"], &["```", "```"]);
        check("Lua", "-- A\r\nfunction a()", &["function a()"], &["A"]);
    }
}
