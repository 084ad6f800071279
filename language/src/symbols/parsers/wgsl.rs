//! WGSL.

use crate::symbols::blocks::{Grammar, Open, Scope, Statement};
use crate::symbols::{Kind, Outline};

pub(crate) struct Wgsl;

impl Grammar for Wgsl {
    const COMMAS: &'static [Scope] = &[Scope::Record];

    fn open(&mut self, it: &Statement, outline: &mut Outline<'_>) -> Open {
        let definition = define(it, outline);
        if it.tokens().iter().any(|it| it.text(outline) == b"struct") {
            Open::Scope(definition, Scope::Record)
        } else {
            Open::Ignored(definition)
        }
    }

    fn end(&mut self, it: &Statement, _sign: u8, outline: &mut Outline<'_>) {
        if it.scope == Scope::Top {
            define(it, outline);
        } else {
            outline.define_token(it.word_before(it.find(b":").unwrap_or(0)), Kind::Field);
        }
    }
}

/// `@group(0) var<uniform> name`
fn define(it: &Statement, outline: &mut Outline<'_>) -> Option<u32> {
    let mut kinds = it.tokens().iter().enumerate().filter_map(|(at, token)| {
        let kind = match token.text(outline) {
            b"fn" => Kind::Function,
            b"struct" => Kind::Struct,
            b"alias" => Kind::Type,
            b"const" | b"override" => Kind::Constant,
            b"var" => Kind::Variable,
            _ => return None,
        };
        Some((at, kind))
    });
    let (at, kind) = kinds.next()?;
    outline.define_token(it.name(it.behind(at + 1)), kind)
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
