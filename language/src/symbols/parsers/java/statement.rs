//! Signs of a statement, and definitions from its head.

use super::{Dialect, Form, Head, Java, Place};
use crate::symbols::{Kind, Outline, Role, Token};

impl Java {
    pub(super) fn sign(&mut self, token: Token, sign: u8, outline: &mut Outline<'_>) {
        let is_arrow = self.last_is(b'-') || self.last_is(b'=');
        match sign {
            _ if self.head.form == Form::Other => {}
            b'<' if !self.head.in_value || self.touches_word(token) => {
                self.head.angles = self.head.angles.saturating_add(1);
            }
            b'>' if !is_arrow => self.head.angles = self.head.angles.saturating_sub(1),
            b'`' => self.tick(token),
            _ if self.head.angles > 0 || self.head.tick.is_some() => {}
            b'.' => {
                if self.dialect != Dialect::D || self.head.is_call {
                    self.head.qualifier = self.head.name;
                }
            }
            b',' if self.place() != Place::Body || self.head.form == Form::Case => {
                self.comma(outline);
            }
            // `where Self == A`
            b'=' if matches!(self.head.form, Form::Type(_)) && self.dialect == Dialect::Swift => {}
            b'=' => {
                self.end_name(sign, outline);
                self.assign(outline);
            }
            b':' if self.head.form == Form::Plain
                && self.head.name.is_none()
                && self.head.created == 0 =>
            {
                self.head = Head::at(self.head.indent);
            }
            b'?' | b'!' | b'*' | b'>' | b'-' | b'~' => {}
            _ => self.end_name(sign, outline),
        }
    }

    fn touches_word(&self, token: Token) -> bool {
        let last = self.last.filter(Token::is_word);
        last.is_some_and(|last| last.end == token.start)
    }

    /// Takes a backtick, which quotes names in Kotlin, Scala and Swift.
    fn tick(&mut self, tick: Token) {
        match self.head.tick.take() {
            None => self.head.tick = Some(tick.end),
            Some(start) if self.head.form != Form::Plain => {
                self.head.name = Some(Token::new(start..tick.start, Role::Word));
            }
            Some(_) => {}
        }
    }

    fn comma(&mut self, outline: &mut Outline<'_>) {
        match self.head.form {
            Form::Case | Form::Value(_) => {
                self.end_name(b',', outline);
                self.head.next_name();
            }
            Form::Plain if self.place() == Place::Enum => self.head = Head::at(self.head.indent),
            Form::Plain if !self.head.is_call => {
                self.define_variable(outline);
                self.head.next_name();
            }
            _ => {}
        }
    }

    /// Takes `=`, also of `=>`.
    fn assign(&mut self, outline: &mut Outline<'_>) {
        if self.head.in_value {
            return;
        }
        if self.head.form == Form::Plain && self.place() != Place::Body {
            if self.head.is_function() {
                self.define_function(true, outline);
            } else {
                self.define_variable(outline);
            }
        }
        self.head.in_value = true;
        self.head.angles = 0;
    }

    pub(super) fn open_bracket(&mut self, token: Token, outline: &mut Outline<'_>) {
        if self.head.form != Form::Plain {
            return self.end_name(b'(', outline);
        }
        let (name, last) = (self.head.name, self.last);
        if self.dialect == Dialect::CSharp && name.is_none() && token.is(b'(') {
            self.head.has_type = true;
        }
        let is_behind_name = name.is_some() && (name == last || self.last_is(b'>'));
        self.head.is_call |= token.is(b'(') && is_behind_name && !self.head.in_value;
    }

    /// Defines a name behind a word such as `class`, before `sign`.
    pub(super) fn end_name(&mut self, sign: u8, outline: &mut Outline<'_>) {
        let head = &self.head;
        let (Some(name), None) = (head.name, head.definition) else {
            return;
        };
        let place = self.place();
        let kind = match head.form {
            Form::Type(Kind::Enum) if sign == b'=' && self.dialect == Dialect::D => Kind::Constant,
            Form::Type(kind) => kind,
            // `using Name =`, not `using Name;`
            Form::Value(Kind::Type) if sign != b'=' && self.dialect == Dialect::CSharp => return,
            Form::Function if place == Place::Type => Kind::Method,
            Form::Function => Kind::Function,
            Form::Value(kind) if kind != Kind::Variable => kind,
            Form::Value(_) if head.is_static && head.is_final => Kind::Constant,
            Form::Value(_) if matches!(place, Place::Type | Place::Enum) => Kind::Field,
            Form::Value(_) => Kind::Variable,
            Form::Case => Kind::Enumerator,
            Form::Plain | Form::Other => return,
        };
        let kind = head.kind.unwrap_or(kind);
        let has_receiver = matches!(head.form, Form::Function | Form::Value(_));
        let of = head.qualifier.filter(|_| has_receiver);
        self.head.definition = outline.define_of(of.map(|of| of.range()), name.range(), kind);
    }

    pub(super) fn end_statement(&mut self, has_sign: bool, outline: &mut Outline<'_>) {
        self.end_name(b';', outline);
        let (place, head) = (self.place(), &self.head);
        match head.form {
            Form::Plain if place == Place::Enum => self.end_enumerators(has_sign),
            Form::Plain if place == Place::Body || head.in_value => {}
            Form::Plain if head.is_function() => self.define_function(false, outline),
            Form::Plain => self.define_variable(outline),
            Form::Function if !head.in_value && head.kind.is_none() => {
                outline.set_declaration(head.definition);
            }
            Form::Type(kind) if self.dialect == Dialect::D && kind.is_type() && !head.in_value => {
                outline.set_declaration(head.definition);
            }
            _ => {}
        }
        self.head = Head::at(self.head.indent);
    }

    fn end_enumerators(&mut self, has_sign: bool) {
        if has_sign
            && self.dialect != Dialect::Haxe
            && let Some(scope) = self.scopes.last_mut()
        {
            scope.place = Place::Type;
        }
    }

    pub(super) fn define_function(&mut self, has_body: bool, outline: &mut Outline<'_>) {
        let head = &self.head;
        let (Some(name), None) = (head.name, head.definition) else {
            return;
        };
        // A file may begin inside of a class.
        let is_fragment = !self.dialect.has_globals() && self.place() == Place::Top && has_body;
        let of_type = self.place() == Place::Type || is_fragment;
        let is_constructor = of_type && self.is_constructor(outline);
        let has_type = head.has_type || is_constructor;
        let is_enough = match self.dialect {
            dialect if !dialect.has_types_first() => false,
            Dialect::Groovy => has_type && (has_body || of_type),
            Dialect::Dart => has_type || has_body,
            Dialect::Java | Dialect::CSharp => has_type && of_type || is_fragment,
            _ => has_type,
        };
        if !is_enough {
            return;
        }
        let kind = head.kind.unwrap_or(Kind::of_function(of_type));
        let is_complete =
            has_body || head.kind.is_some() || is_constructor && self.dialect == Dialect::Dart;
        self.head.definition = outline.define(name.range(), kind);
        outline.set_declaration(self.head.definition.filter(|_| !is_complete));
    }

    fn is_constructor(&self, outline: &Outline<'_>) -> bool {
        let (Some(name), Some(of)) = (self.head.name, outline.innermost_name()) else {
            return false;
        };
        let is_it = |token: Token| outline.bytes(token.range()) == of;
        let is_this = self.dialect == Dialect::D && name.role == Role::Keyword;
        is_this || is_it(name) || self.head.qualifier.is_some_and(is_it)
    }

    pub(super) fn define_property(&mut self, outline: &mut Outline<'_>) {
        if matches!(self.dialect, Dialect::CSharp | Dialect::Vala) {
            self.define_variable(outline);
        }
    }

    fn define_variable(&mut self, outline: &mut Outline<'_>) {
        let (place, head) = (self.place(), &self.head);
        let (Some(name), None, true) = (head.name, head.definition, head.has_type) else {
            return;
        };
        let kind = match place {
            _ if !self.dialect.has_types_first() => return,
            Place::Top if !self.dialect.has_globals() && !head.is_member => return,
            Place::Top if self.dialect == Dialect::Groovy && !head.is_final => return,
            Place::Body | Place::Enum => return,
            _ if head.is_static && head.is_final => Kind::Constant,
            Place::Top if self.dialect.has_globals() => Kind::Variable,
            Place::Top | Place::Type => Kind::Field,
        };
        self.head.definition = outline.define(name.range(), head.kind.unwrap_or(kind));
    }
}
