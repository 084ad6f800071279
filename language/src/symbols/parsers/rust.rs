//! Rust: a word such as `fn` begins an item, its name follows, and braces have its body.

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role, Token};

#[derive(Default)]
pub(in super::super) struct Rust {
    /// Item whose body or `;` has not come.
    item: Option<Item>,
    /// Open round and square brackets.
    brackets: usize,
    last: Option<Token>,
}

struct Item {
    kind: Kind,
    /// `None`: its name has not come.
    definition: Option<u32>,
    /// Type of an `impl`, defined where its body opens.
    implemented: Option<Token>,
    /// Open `<`, in `impl<T> Trait for Type<T>`.
    angles: usize,
}

impl Parser for Rust {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        for token in line.tokens {
            self.token(*token, outline);
            self.last = Some(*token);
        }
    }
}

impl Rust {
    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        match token.role {
            Role::Sign(b'(' | b'[') => self.brackets += 1,
            Role::Sign(b')' | b']') => self.brackets = self.brackets.saturating_sub(1),
            Role::Sign(b'{') => {
                let definition = self.item.take().and_then(|item| match item.implemented {
                    Some(name) => outline.define(name.range(), item.kind),
                    None => item.definition,
                });
                outline.enter(definition);
                self.brackets = 0;
            }
            Role::Sign(b'}') => {
                self.item = None;
                self.brackets = 0;
                outline.leave(token.end);
            }
            Role::Sign(b';') if self.brackets == 0 => self.end_without_body(outline),
            Role::Sign(sign) => self.sign(sign),
            Role::Word | Role::Keyword | Role::Type => self.word(token, outline),
            _ => {}
        }
    }

    fn sign(&mut self, sign: u8) {
        let is_arrow = self.last.is_some_and(|last| last.is(b'-'));
        if let Some(item) = &mut self.item {
            match sign {
                b'<' => item.angles += 1,
                b'>' if !is_arrow => item.angles = item.angles.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn end_without_body(&mut self, outline: &mut Outline<'_>) {
        let Some(item) = self.item.take() else { return };
        if let Some(index) = item.definition
            && matches!(item.kind, Kind::Function | Kind::Method | Kind::Module)
        {
            outline.definition(index).is_declaration = true;
        }
    }

    fn word(&mut self, token: Token, outline: &mut Outline<'_>) {
        let text = token.text(outline);
        match &mut self.item {
            Some(item) if item.kind == Kind::Implementation => {
                match text {
                    b"where" => item.angles += 1,
                    // The last word of a path names the type.
                    _ if item.angles == 0 && token.role != Role::Keyword => {
                        item.implemented = Some(token);
                    }
                    _ => {}
                }
                return;
            }
            Some(item) if item.definition.is_none() => {
                if !matches!(text, b"mut" | b"unsafe" | b"fn") {
                    item.definition = outline.define(token.range(), item.kind);
                } else if text == b"fn" {
                    item.kind = Kind::Function;
                }
                return;
            }
            _ => {}
        }
        if self.brackets > 0 || token.role != Role::Keyword {
            return;
        }
        let in_type = outline.innermost_kind();
        let in_type = matches!(in_type, Some(Kind::Implementation | Kind::Interface));
        let kind = match text {
            b"fn" if in_type => Kind::Method,
            b"fn" => Kind::Function,
            b"struct" => Kind::Struct,
            b"enum" => Kind::Enum,
            b"union" => Kind::Union,
            b"trait" => Kind::Interface,
            b"impl" => Kind::Implementation,
            b"mod" => Kind::Module,
            b"type" => Kind::Type,
            b"const" | b"static" => Kind::Constant,
            b"macro_rules" => Kind::Macro,
            _ => return,
        };
        self.item = Some(Item {
            kind,
            definition: None,
            implemented: None,
            angles: 0,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn items_have_kinds_bodies_and_parents() {
        check(
            "rust",
            "pub struct A<T> {\n    a: [T; 3],\n}\nimpl<T> Display for a::A<T> {\n    fn f(&self) -> u8 {\n        1\n    }\n}\nextern fn g();\nconst C: u8 = 1;\nmacro_rules! m { () => {} }\n",
            "struct A 1-3
             implementation A 4-8
             method A.f 5-7
             function g; 9
             constant C 10
             macro m 11",
        );
    }
}
