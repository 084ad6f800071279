//! CoffeeScript.

use super::*;

impl Indented {
    pub(super) fn coffeescript(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        if let Some(definition) = statement(tokens, outline) {
            self.open(Some(definition), outline);
        }
    }
}

/// Returns the definition if it has a body.
fn statement(tokens: &[Token], outline: &mut Outline<'_>) -> Option<u32> {
    let class = tokens
        .iter()
        .position(|token| token.role == Role::Keyword && outline.bytes(token.range()) == b"class");
    if let Some(at) = class {
        let (_, name, _) = path(&tokens[at + 1..], outline)?;
        return outline.define(name.range(), Kind::Class);
    }
    let (of, name, length) = path(tokens, outline)?;
    let (sign, value) = tokens[length..].split_first()?;
    let is_key = sign.is(b':');
    if !is_key && (!sign.is(b'=') || touches(value, b'=', sign.end)) {
        return None;
    }
    let in_class = outline.innermost_kind() == Some(Kind::Class);
    let is_inner = is_key || of.is_some() || in_class;
    if is_function(value) {
        return outline.define_of(of, name.range(), Kind::of_function(is_inner));
    }
    match outline.innermost() {
        Some(_) if in_class => outline.define_of(of, name.range(), Kind::Field),
        None if !is_key && of.is_none() => outline.define(name.range(), Kind::Variable),
        _ => None,
    }
}

/// Parent, name, and number of tokens of `a.b::c`, `@a` or `'a'`.
fn path(tokens: &[Token], outline: &Outline<'_>) -> Option<(Option<Range<u32>>, Token, usize)> {
    let (mut parent, mut name, mut length) = (None, *tokens.first()?, 1);
    match name.role {
        Role::Word => {}
        Role::Keyword if tokens.get(1)?.is(b':') => {}
        Role::Meta | Role::String if name.end - name.start > 1 => {
            name.end -= u32::from(name.role == Role::String);
            name.start += 1;
        }
        _ => return None,
    }
    loop {
        let dots = match &tokens[length..] {
            [dot, ..] if dot.is(b'.') => 1,
            [first, second, ..] if first.is(b':') && second.is(b':') => 2,
            _ => return Some((parent, name, length)),
        };
        let of = name;
        name = *tokens.get(length + dots)?;
        length += dots + 1;
        if !name.is_word() {
            return None;
        }
        parent = match of.text(outline) {
            b"exports" | b"window" | b"module" | b"global" | b"root" => None,
            b"prototype" => parent,
            _ => Some(of.range()),
        };
    }
}

fn is_function(value: &[Token]) -> bool {
    let mut depth = 0_usize;
    let behind = value.iter().position(|token| {
        match token.role {
            Role::Sign(b'(') => depth += 1,
            Role::Sign(b')') => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    });
    let rest = behind.map_or(&[][..], |at| &value[at..]);
    match rest {
        [sign, rest @ ..] if sign.is(b'-') || sign.is(b'=') => touches(rest, b'>', sign.end),
        _ => false,
    }
}

fn touches(tokens: &[Token], sign: u8, end: u32) -> bool {
    tokens
        .first()
        .is_some_and(|token| token.is(sign) && token.start == end)
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn names_of_functions_and_classes_have_bodies_by_indentation() {
        check(
            "CoffeeScript",
            "fs = require 'fs'
square = (x) -> x * x
exports.run = (a, {b}) =>
  local = 1
  inner = ->
    2
  if a == b then c
Foo::bar = -> 1
class App.Widget extends Base
  count: 0
  constructor: (@name = 'x') ->
    super()
  draw: =>
    @x = 1
  @create = (o) -> new Widget o
  'on-click': (e) ->
obj =
  key: 1
  go: -> 2
",
            "variable fs 1
             function square 2
             function run 3-7
             function run.inner 5-6
             method Foo.bar 8
             class Widget 9-16
             field Widget.count 10
             method Widget.constructor 11-12
             method Widget.draw 13-14
             method Widget.create 15
             method Widget.on-click 16
             variable obj 17-19
             method obj.go 19",
        );
    }
}
