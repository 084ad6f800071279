//! Words of a statement's head.

use super::{Dialect, Form, Head, Java, Place};
use crate::symbols::{Kind, Outline, Parent, Role, Token};

impl Java {
    pub(super) fn word(&mut self, token: Token, outline: &mut Outline<'_>) {
        if self.head.tick.is_some() {
            return;
        }
        if token.role == Role::Keyword {
            let text = token.text(outline);
            let is_extension = text == b"extension" && self.dialect == Dialect::Scala;
            let is_keyword = self.next.is_some_and(|next| next.is_word()) || is_extension;
            if is_keyword || !is_contextual(text) {
                return self.keyword(token, text, outline);
            }
        }
        if self.head.brackets == 1 {
            self.parameter(token, outline);
        } else if self.head.is_outside() && !self.head.in_value {
            self.name(token, outline);
        }
    }

    fn name(&mut self, token: Token, outline: &mut Outline<'_>) {
        let is_in_path = self.last_is(b'.');
        let is_type = token.role == Role::Type
            || self.dialect == Dialect::Dart && token.text(outline) == b"Function";
        let head = &mut self.head;
        match head.form {
            Form::Plain if self.scopes.last().is_some_and(|it| it.place == Place::Enum) => {
                if head.name.is_none() {
                    head.name = Some(token);
                    head.definition = outline.define(token.range(), Kind::Enumerator);
                }
            }
            Form::Plain if is_type && !is_in_path => head.has_type = true,
            Form::Plain if !self.dialect.has_types_first() => {}
            Form::Plain if !head.is_call => {
                head.has_type |= head.name.is_some() && !is_in_path;
                head.name = Some(token);
            }
            Form::Plain | Form::Other => {}
            Form::Type(Kind::Module) if is_in_path => {
                if let Some(name) = &mut head.name {
                    name.end = token.end;
                }
            }
            Form::Type(_) if is_in_path && self.dialect == Dialect::Dart => {}
            _ if head.name.is_none()
                || is_in_path
                || matches!(self.dialect, Dialect::D | Dialect::Dart)
                || head.form == Form::Value(Kind::Type) =>
            {
                if head.definition.is_none() {
                    head.name = Some(token);
                }
            }
            _ => self.end_name(b' ', outline),
        }
    }

    fn keyword(&mut self, token: Token, text: &[u8], outline: &mut Outline<'_>) {
        let created = self.head.brackets + 1;
        let is_anonymous = || self.next.is_none_or(|next| !next.is_word());
        let is_name = self.head.form == Form::Function && self.head.name.is_none();
        if is_name && text == b"new" {
            self.head.name = Some(token);
            return;
        }
        if text == b"new" || text == b"object" && is_anonymous() {
            self.head.created = created;
            return;
        }
        let is_in_path = self.last_is(b':') || self.last_is(b'.');
        if !self.head.is_outside() || self.head.in_value || is_in_path {
            return;
        }
        if self.head.name.is_some() && self.head.form != Form::Plain {
            // Haxe has bodies without braces.
            self.head.in_value |= text == b"return";
            return self.end_name(b' ', outline);
        }
        let is_template = text == b"template" && self.head.form == Form::Other;
        let Head { form, has_type, .. } = self.head;
        // An unknown modifier: `base class A`.
        let is_unknown =
            form == Form::Plain && !has_type && self.next.is_some_and(|next| next.is_word());
        let is_begin = self.head.name.is_none() || is_unknown;
        let is_form = is_begin && form != Form::Other || is_template;
        if is_form && let Some(form) = self.form(text) {
            self.begin(form, token, text, outline);
        } else if self.dialect == Dialect::D
            && text == b"this"
            && self.next.is_some_and(|it| it.is(b'('))
        {
            self.head.name = Some(token);
        } else {
            self.modifier(text);
        }
    }

    fn form(&self, text: &[u8]) -> Option<Form> {
        use Dialect::{CSharp, D, Dart, Haxe, Kotlin, Scala, Solidity, Swift};
        let (dialect, before) = (self.dialect, self.head.form);
        let is_enum = before == Form::Type(Kind::Enum);
        let form = match text {
            b"class" | b"record" | b"object" | b"actor" | b"contract" if is_enum => return None,
            b"class" | b"record" | b"object" | b"actor" | b"contract" => Form::Type(Kind::Class),
            b"abstract" if dialect == Haxe => {
                let is_type = !is_enum && self.next.is_some_and(|next| next.role == Role::Word);
                return is_type.then_some(Form::Type(Kind::Type));
            }
            b"interface" | b"trait" | b"protocol" => Form::Type(Kind::Interface),
            b"enum" | b"errordomain" => Form::Type(Kind::Enum),
            b"struct" => Form::Type(Kind::Struct),
            b"union" => Form::Type(Kind::Union),
            b"extension" => Form::Type(Kind::Implementation),
            b"mixin" if dialect == Dart => Form::Type(Kind::Class),
            b"operator" if dialect != Kotlin => Form::Other,
            b"mixin" | b"import" | b"unittest" | b"invariant" => Form::Other,
            b"using" if dialect == CSharp && self.place() == Place::Top => Form::Value(Kind::Type),
            b"using" if matches!(self.place(), Place::Top | Place::Type) => Form::Other,
            b"library" if dialect == Dart => Form::Type(Kind::Module),
            b"namespace" | b"package" | b"module" | b"template" | b"library" => {
                Form::Type(Kind::Module)
            }
            b"fun" | b"func" => Form::Function,
            b"def" if dialect == Scala => Form::Function,
            b"function" if dialect != D => Form::Function,
            b"event" | b"modifier" | b"error" if dialect == Solidity => Form::Function,
            b"init" | b"deinit" | b"subscript" if dialect == Swift => Form::Function,
            b"typealias" | b"type" | b"alias" | b"associatedtype" | b"typedef" => {
                Form::Value(Kind::Type)
            }
            b"let" if dialect == Swift && self.place() == Place::Top => Form::Value(Kind::Constant),
            b"let" | b"val" => Form::Value(Kind::Variable),
            b"var" if matches!(dialect, Kotlin | Scala | Swift | Haxe) => {
                Form::Value(Kind::Variable)
            }
            b"final" if dialect == Haxe => Form::Value(Kind::Variable),
            b"given" => Form::Value(Kind::Variable),
            b"case" if matches!(self.place(), Place::Type | Place::Enum) => Form::Case,
            _ => return None,
        };
        Some(form)
    }

    fn begin(&mut self, form: Form, token: Token, text: &[u8], outline: &mut Outline<'_>) {
        let place = self.place();
        let is_case = self.last.is_some_and(|last| last.text(outline) == b"case");
        self.head.is_record = text == b"record" || is_case;
        let is_name = matches!(text, b"init" | b"deinit" | b"subscript");
        self.head.name = is_name.then_some(token);
        let form = match form {
            Form::Value(Kind::Type) | Form::Type(_) | Form::Function => form,
            _ if place == Place::Body => Form::Other,
            form => form,
        };
        let is_special = self.dialect == Dialect::Solidity && matches!(text, b"event" | b"error");
        if is_special {
            self.head.kind = Some(Kind::Function);
        }
        if self.head.indent == 0 && self.head.brackets == 0 && form != Form::Other {
            self.close_nested(matches!(form, Form::Type(_)), outline);
        }
        self.head.form = form;
    }

    fn modifier(&mut self, text: &[u8]) {
        let head = &mut self.head;
        match text {
            b"const" | b"constant" | b"immutable" | b"enum" => {
                (head.is_static, head.is_final, head.has_type) = (true, true, true);
            }
            b"var" | b"def" | b"auto" | b"late" => head.has_type = true,
            b"static" => head.is_static = true,
            b"public" | b"protected" | b"private" | b"internal" => head.is_member = true,
            b"final" | b"readonly" => {
                (head.is_final, head.has_type) = (true, true);
            }
            b"delegate" => head.kind = Some(Kind::Type),
            b"signal" => head.kind = Some(Kind::Method),
            b"get" | b"set" if self.dialect == Dialect::Dart => head.is_accessor = true,
            b"operator" if self.dialect != Dialect::Kotlin => head.form = Form::Other,
            b"mapping" | b"dynamic" => head.has_type = true,
            _ => {}
        }
    }

    /// Takes a field in the brackets of a head: `class A(val b: Int)`.
    fn parameter(&mut self, token: Token, outline: &mut Outline<'_>) {
        let (Form::Type(_), Some(of), Role::Word) =
            (self.head.form, self.head.definition, token.role)
        else {
            return;
        };
        let (last, is_next) = (self.last, |sign| {
            self.next.is_some_and(|next| next.is(sign))
        });
        let is_word = |last: Token| last.is_word() || last.is(b'>') || last.is(b']');
        let is_field = match self.dialect {
            Dialect::Kotlin | Dialect::Scala => {
                let text = last.map_or(&b""[..], |last| last.text(outline));
                let is_first = matches!(text, b"(" | b",") && self.head.is_record;
                is_next(b':') && (is_first || matches!(text, b"val" | b"var"))
            }
            _ => {
                let ends = is_next(b',') || is_next(b')');
                self.head.is_record && ends && last.is_some_and(is_word)
            }
        };
        if is_field {
            outline.define_in(Parent::Definition(of), token.range(), Kind::Field);
        }
    }
}

/// True for words that only another word behind them makes keywords.
#[rustfmt::skip]
fn is_contextual(text: &[u8]) -> bool {
    matches!(
        text,
        b"record" | b"sealed" | b"permits" | b"yield" | b"def" | b"in" | b"as" | b"value"
            | b"get" | b"set" | b"add" | b"remove" | b"partial" | b"where" | b"when" | b"global"
            | b"async" | b"await" | b"event" | b"alias" | b"error" | b"modifier" | b"module"
            | b"package" | b"library" | b"mixin" | b"extension" | b"on" | b"part" | b"type"
            | b"given" | b"inline" | b"open" | b"infix" | b"data" | b"inner" | b"internal"
            | b"external" | b"annotation" | b"out" | b"delegate" | b"signal" | b"emit" | b"from"
            | b"of" | b"show" | b"is" | b"native" | b"override" | b"body" | b"debug" | b"actual"
            | b"expect" | b"reified" | b"vararg" | b"some" | b"any" | b"left" | b"export"
    )
}
