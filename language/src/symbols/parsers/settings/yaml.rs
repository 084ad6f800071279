//! YAML: keys, nested by column.

use super::super::super::Kind;
use super::super::super::outline::Outline;
use super::super::super::parser::{Line, Parser};
use std::ops::Range;

/// Keys around a key.
const DEPTH_MAX: usize = 32;

#[derive(Default)]
pub(crate) struct Yaml {
    columns: Vec<usize>,
    end: u32,
}

impl Parser for Yaml {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let text = outline.bytes(line.range.clone());
        if !line.is_begin || text.trim_ascii().is_empty() {
            return;
        }
        if !line.begins_inside && !text.trim_ascii_start().starts_with(b"#") {
            self.text(text, line.range.start, outline);
        }
        self.end = line.range.end;
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        outline.leave_to(0, self.end);
    }
}

impl Yaml {
    fn text(&mut self, text: &[u8], start: u32, outline: &mut Outline<'_>) {
        let mut column = text.iter().take_while(|byte| **byte == b' ').count();
        if text.starts_with(b"---") {
            self.close(0, outline);
        }
        while let [b'-', rest @ ..] = &text[column..]
            && rest.first().is_none_or(|byte| *byte == b' ')
        {
            self.close(column + 1, outline);
            column += 1 + rest.iter().take_while(|byte| **byte == b' ').count();
        }
        if self.columns.len() == DEPTH_MAX {
            return;
        }
        if let Some(name) = key(&text[column..]) {
            self.close(column, outline);
            let at = start + column as u32;
            if let Some(index) = outline.define(at + name.start..at + name.end, Kind::Key) {
                outline.enter(Some(index));
                self.columns.push(column);
            }
        }
    }

    fn close(&mut self, column: usize, outline: &mut Outline<'_>) {
        while self.columns.last().is_some_and(|last| *last >= column) {
            self.columns.pop();
            outline.leave(self.end);
        }
    }
}

fn key(text: &[u8]) -> Option<Range<u32>> {
    let (start, end) = match text {
        [quote @ (b'"' | b'\''), rest @ ..] => {
            let end = 1 + rest.iter().position(|byte| byte == quote)?;
            let behind = text[end + 1..].trim_ascii_start();
            return is_end(behind).then_some(1..end as u32);
        }
        [
            b'{' | b'}' | b'[' | b']' | b'!' | b'%' | b'@' | b'|' | b'>' | b'?' | b'&' | b'*'
            | b'#' | b',',
            ..,
        ] => {
            return None;
        }
        _ => {
            let mut ends = memchr::memchr_iter(b':', text);
            (0, ends.find(|end| is_end(&text[*end..]))?)
        }
    };
    let name = text[..end].trim_ascii_end();
    let has_comment = memchr::memmem::find(name, b" #").is_some();
    (!has_comment && !name.is_empty()).then_some(start..name.len() as u32)
}

fn is_end(text: &[u8]) -> bool {
    matches!(text, [b':'] | [b':', b' ' | b'\t', ..])
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn keys_are_nested_by_columns() {
        check(
            "yaml",
            "# a: b\n--- # c\nname: \"d: e\"\non:\n  push:\n    branches: [ main ]\n\njobs:\n  a-b c: &x\n    steps:\n    - uses: y@v1\n      with: {z: 1}\n    - run: |\n        echo: 1 'x\n\n        # 'y\n      \"q r\": s\n- k: l\n---\nlast: http://m\n",
            "key name 3
             key on 4-6
             key on.push 5-6
             key on.push.branches 6
             key jobs 8-18
             key jobs.a-b c 9-17
             key jobs.a-b c.steps 10-17
             key jobs.a-b c.steps.uses 11
             key jobs.a-b c.steps.with 12
             key jobs.a-b c.steps.run 13-16
             key jobs.a-b c.steps.q r 17
             key jobs.k 18
             key last 20",
        );
    }

    #[test]
    fn texts_over_lines_have_no_keys() {
        check(
            "yaml",
            "a: 'b\n  c: d\ne: \"f\n  g: h\"\ni: it's \"j\nk: >-\n  l: m\nn: - \"o\n{{ p: q }}\n: r\n\t- s\n- - t: u\n    v: w\n",
            "key a 1-2
             key e 3-4
             key i 5
             key k 6-7
             key n 8-13
             key n.t 12
             key n.v 13",
        );
    }
}
