//! JSON: keys of the first object, and of objects in it; later ones are records.

use crate::symbols::{Kind, Line, Outline, Parser, Role, Token};

const DEPTH_MAX: usize = 2;

#[derive(Default)]
pub(crate) struct Json {
    depth: usize,
    /// Depth of the outermost array.
    array: Option<usize>,
    key: Option<u32>,
    is_done: bool,
}

impl Parser for Json {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        for token in line.tokens {
            if self.is_done {
                return;
            }
            self.token(*token, outline);
        }
    }
}

impl Json {
    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        match token.role {
            Role::Key if self.depth <= DEPTH_MAX && self.array.is_none() => {
                let is_quoted = outline.bytes(token.range()).starts_with(b"\"");
                let name = match is_quoted {
                    true => token.start + 1..token.end.saturating_sub(1),
                    false => token.range(),
                };
                self.key = outline.define(name, Kind::Key);
            }
            Role::Sign(sign @ (b'{' | b'[')) => {
                if sign == b'[' && self.array.is_none() {
                    self.array = Some(self.depth);
                }
                self.depth += 1;
                outline.enter(self.key.take());
            }
            Role::Sign(b'}' | b']') => {
                self.is_done = self.depth == 1;
                self.depth = self.depth.saturating_sub(1);
                self.array = self.array.filter(|array| *array < self.depth);
                outline.leave(token.end);
            }
            Role::Sign(b',') => self.key = None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn keys_of_two_levels_are_found() {
        check(
            "json",
            "{\n  \"a\": 1, // \"x\": 1\n  \"b c\": {\"d\": {\"e\": 2},\n    \"f\": [{\"g\": 1}, 2]},\n  \"\": 1, \"h\": [\n  [{\"i\": {}}]\n  ], \"j\": \"k: {\"\n}\n{\"l\": 1}\n",
            "key a 2
             key b c 3-4
             key b c.d 3
             key b c.f 4
             key h 5-7
             key j 7",
        );
    }

    #[test]
    fn hostile_text_has_keys_at_worst() {
        check("json", "]}{\"a\":\n]\"b\":{{{\"c", "key a 1");
        check("json", "[{\"a\": 1}]", "");
    }
}
