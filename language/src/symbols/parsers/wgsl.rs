//! WGSL.

use crate::symbols::{Kind, Line, Outline, Parser, Role, Token};

#[derive(Default)]
pub(crate) struct Wgsl {
    /// Kind of the next word.
    kind: Option<Kind>,
    /// Definition before its body.
    definition: Option<u32>,
    brackets: usize,
    last: Option<Token>,
}

impl Parser for Wgsl {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        for token in line.tokens {
            self.token(*token, outline);
            self.last = Some(*token);
        }
    }
}

impl Wgsl {
    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        match token.role {
            Role::Sign(b'(' | b'[' | b'<') => self.brackets += 1,
            Role::Sign(b'>') if self.last.is_some_and(|last| last.is(b'-')) => {}
            Role::Sign(b')' | b']' | b'>') => self.brackets = self.brackets.saturating_sub(1),
            Role::Sign(b'{') => {
                outline.enter(self.definition.take());
                self.brackets = 0;
            }
            Role::Sign(b'}') => {
                outline.leave(token.end);
                self.brackets = 0;
            }
            Role::Sign(b';') => (self.kind, self.definition, self.brackets) = (None, None, 0),
            Role::Sign(b':') if self.brackets == 0 => {
                let is_field = outline.innermost_kind() == Some(Kind::Struct);
                if let Some(name) = self.last.filter(|last| is_field && last.is_word()) {
                    outline.define(name.range(), Kind::Field);
                }
            }
            _ if token.is_word() && self.brackets == 0 => self.word(token, outline),
            _ => {}
        }
    }

    fn word(&mut self, token: Token, outline: &mut Outline<'_>) {
        if let Some(kind) = self.kind.take() {
            self.definition = outline.define(token.range(), kind);
        } else if outline.depth() == 0 && token.role == Role::Keyword {
            self.kind = match token.text(outline) {
                b"fn" => Some(Kind::Function),
                b"struct" => Some(Kind::Struct),
                b"alias" => Some(Kind::Type),
                b"const" | b"override" => Some(Kind::Constant),
                b"var" => Some(Kind::Variable),
                _ => None,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn declarations_of_wgsl() {
        check(
            "WGSL",
            r#"struct Camera {
    view: mat4x4<f32>,
    @location(0) colour: vec3<f32>,
};
@group(0) @binding(0) var<uniform> camera: Camera;
const PI: f32 = 3.14;
override scale: f32 = 1.0;
alias Number = f32;
@vertex fn vs_main(@location(0) p: vec3<f32>) -> @builtin(position) vec4<f32> {
    let x = 1; var y: f32 = 2.0;
    for (var i = 0; i < 3; i++) { }
    return vec4<f32>(p, 1.0);
}
fn helper() { }
"#,
            "struct Camera 1-4
         field Camera.view 2
         field Camera.colour 3
         variable camera 5
         constant PI 6
         constant scale 7
         type Number 8
         function vs_main 9-13
         function helper 14",
        );
    }
}
