//! Definitions, at the sign that proves them.

use super::super::super::Kind;
use super::super::super::outline::Outline;
use super::super::super::parser::Token;
use super::item::is_upper;
use super::{Body, Form, Layout};
use std::ops::Range;

impl Layout {
    pub(super) fn first_of_dependent(&mut self, text: &[u8], outline: &mut Outline<'_>) -> Form {
        let kind = match text {
            b"record" => Kind::Struct,
            b"interface" => Kind::Interface,
            b"implementation" => Kind::Implementation,
            b"export" | b"public" | b"total" | b"partial" | b"covering" | b"constructor" => {
                return Form::Begin;
            }
            b"mutual" | b"postulate" | b"private" | b"abstract" | b"field" => {
                if self.body.is_none() {
                    outline.enter(None);
                }
                let is_field = text == b"field";
                let kind = if is_field { Kind::Struct } else { Kind::Module };
                self.body = Some(Body { kind, column: None });
                return Form::Begin;
            }
            _ => return Form::Binding,
        };
        Form::Head {
            kind,
            has_values: true,
            is_named: false,
        }
    }

    pub(super) fn module(&mut self, tokens: &[Token], outline: &mut Outline<'_>) -> usize {
        let is_part = |token: &&Token| token.is_word() || token.is(b'.');
        let parts = tokens.iter().take_while(is_part);
        let parts = parts.take_while(|token| token.text(outline) != b"where");
        let count = parts
            .take_while(|token| token.text(outline) != b"exposing")
            .count();
        if let Some(last) = tokens[..count].last() {
            outline.define(tokens[0].start..last.end, Kind::Module);
        }
        self.form = Form::Skip;
        tokens.len()
    }

    pub(super) fn end_is(&self, byte: u8, offset: u32, outline: &Outline<'_>) -> bool {
        offset > 0 && outline.bytes(offset - 1..offset) == [byte]
    }

    pub(super) fn signature(&mut self, outline: &mut Outline<'_>) {
        match &self.body {
            Some(body) if body.kind == Kind::Type => self.define_names(Kind::Enumerator, outline),
            Some(body) if body.kind == Kind::Struct => self.define_names(Kind::Field, outline),
            _ => {
                for name in std::mem::take(&mut self.names) {
                    let kind = self.kind_of(&name, outline);
                    outline.declare(name, kind);
                }
            }
        }
        self.form = Form::Skip;
    }

    pub(super) fn define_names(&mut self, kind: Kind, outline: &mut Outline<'_>) {
        for name in self.names.drain(..) {
            outline.define(name, kind);
        }
        self.expects_name = false;
    }

    pub(super) fn kind_of(&self, name: &Range<u32>, outline: &Outline<'_>) -> Kind {
        let is_method = self.is_in(Kind::Interface) || self.is_in(Kind::Implementation);
        match () {
            () if is_method => Kind::Method,
            () if is_upper(outline.bytes(name.clone()))
                || outline.bytes(name.clone()).starts_with(b":") =>
            {
                Kind::Enumerator
            }
            () => Kind::Function,
        }
    }

    pub(super) fn is_in(&self, kind: Kind) -> bool {
        self.body.as_ref().is_some_and(|body| body.kind == kind)
    }

    pub(super) fn equation(&mut self, outline: &mut Outline<'_>) {
        let is_pattern = self.form == Form::Pattern;
        self.form = Form::Skip;
        let first = (self.names.len() == 1).then(|| self.names[0].clone());
        let Some(name) = self.candidate.take().or(first) else {
            return;
        };
        let kind = self.kind_of(&name, outline);
        if kind == Kind::Enumerator && !is_pattern {
            return;
        }
        let last = self.function.take().filter(|(last, of)| {
            let is_same = outline.definition(*of).kind == kind;
            is_same && outline.bytes(last.clone()) == outline.bytes(name.clone())
        });
        let index = match last {
            Some((_, index)) => Some(index),
            None => outline.define(name.clone(), kind),
        };
        outline.enter(index);
        self.function = index.map(|index| (name, index));
    }

    /// `type Name :: kind`
    pub(super) fn declare_type(&mut self, outline: &mut Outline<'_>) {
        self.form = Form::Skip;
        if let Some(name) = self.candidate.take() {
            outline.declare(name, Kind::Type);
        }
    }

    pub(super) fn define_type(&mut self, outline: &mut Outline<'_>) {
        let Form::Head { kind, .. } = self.form else {
            return;
        };
        let candidate = self.candidate.take();
        if let Some(name) = self.of_type.take().or(candidate) {
            let index = outline.define(name, kind);
            outline.enter(index);
        }
    }

    pub(super) fn open_where(&mut self, kind: Kind, outline: &mut Outline<'_>) {
        self.define_type(outline);
        self.body = Some(Body { kind, column: None });
        self.function = None;
        self.begin_item();
    }

    pub(super) fn define_constructor(&mut self, outline: &mut Outline<'_>) {
        if let Some(name) = self.candidate.take() {
            outline.define(name, Kind::Enumerator);
        }
        self.expects_name = true;
    }
}
