//! JavaScript, TypeScript and QML: declarations, and functions as values of a name. A brace
//! suspends the statement around it ([`Head`]); the token before tells objects from blocks.
//! Variables count at the top of a file only.

mod lines;
mod statement;
#[cfg(test)]
mod tests;
mod values;

use crate::symbols::{Kind, Line, Outline, Parser, Role, SCOPES_MAX, Token, is_of};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[default]
    JavaScript,
    TypeScript,
    Qml,
    /// Scripts between tags: Vue, Svelte.
    Tagged,
}

struct Scope {
    place: Place,
    head: Head,
    /// True if it ends the statement.
    is_end: bool,
    /// Name that an object is assigned to, if not defined.
    owner: Option<Token>,
}

#[derive(Default)]
pub(crate) struct JavaScript {
    dialect: Dialect,
    scopes: Vec<Scope>,
    /// Open braces beyond [`SCOPES_MAX`].
    deeper: usize,
    head: Head,
    last: Option<Token>,
    next: Option<Token>,
    is_arrow: bool,
    in_script: bool,
}

impl JavaScript {
    pub(crate) fn new(dialect: Dialect) -> JavaScript {
        JavaScript {
            dialect,
            in_script: dialect != Dialect::Tagged,
            ..JavaScript::default()
        }
    }

    fn place(&self) -> Place {
        match self.scopes.last() {
            _ if self.deeper > 0 => Place::Body,
            Some(scope) => scope.place,
            None if self.dialect == Dialect::Qml => Place::Component,
            None => Place::Top,
        }
    }

    fn last_is(&self, sign: u8) -> bool {
        self.last.is_some_and(|last| last.is(sign))
    }

    fn last_is_of(&self, signs: &[u8]) -> bool {
        self.last.is_some_and(|last| last.is_of(signs))
    }

    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        match token.role {
            Role::Sign(b'{') => self.open(outline),
            Role::Sign(b'}') => self.close(token, outline),
            Role::Sign(b'(' | b'[') => {
                if self.head.brackets == 0 {
                    self.open_bracket(token, outline);
                }
                self.head.brackets = self.head.brackets.saturating_add(1);
            }
            Role::Sign(b')' | b']') => self.head.brackets = self.head.brackets.saturating_sub(1),
            Role::Sign(b';') if self.head.brackets == 0 => self.end_statement(outline),
            Role::Word if self.head.brackets > 0 && self.head.awaited.is_none() => {}
            Role::Word | Role::Keyword | Role::Type => self.word(token, outline),
            _ if self.head.brackets > 0 => {}
            Role::Sign(sign) => self.sign(token, sign, outline),
            _ => self.literal(token, outline),
        }
    }

    fn open(&mut self, outline: &mut Outline<'_>) {
        let is_in_type = self.last_is_of(b":|&<,.=") && !self.is_arrow || self.head.angles > 0;
        let brackets = self.head.brackets;
        let is_here = |it: &Awaited| it.brackets == brackets && !is_in_type;
        if let Some(awaited) = self.head.awaited.take_if(|it| is_here(it)) {
            let is_end = self.head.is_outside_value();
            return self.push(awaited.place, awaited.definition, is_end, outline);
        }
        let is_outside = brackets == 0;
        let value = self.head.value;
        if self.is_arrow {
            let definition = self.head.definition;
            let definition = definition.filter(|_| is_outside && value == Value::Arrow);
            return self.push(Place::Body, definition, false, outline);
        }
        if is_outside && self.head.is_call && !is_in_type {
            let definition = self.method(true, outline);
            let is_end = self.place() != Place::Object;
            return self.push(Place::Body, definition, is_end, outline);
        }
        let is_type = is_outside && self.is_before_type();
        if is_type {
            self.define_variable(outline);
        }
        self.open_object(is_type, is_outside && value == Value::Start, outline);
    }

    fn is_before_type(&self) -> bool {
        let is_annotation = self.last_is(b':') && self.head.is_outside_value();
        let is_name = is_annotation && self.head.angles == 0 && !self.head.is_call;
        match self.head.form {
            Form::Alias => self.head.value != Value::None && self.last_is_of(b"=&|"),
            Form::Variable(_) => is_name,
            Form::Statement => is_name && matches!(self.place(), Place::Class | Place::Interface),
            _ => false,
        }
    }

    fn open_object(&mut self, is_type: bool, is_value: bool, outline: &mut Outline<'_>) {
        let definition = self.head.definition.filter(|_| is_value || is_type);
        let is_object = self.last_is_of(b"=([,:?&|.") || self.last_is_operator(outline);
        let outer = self.place();
        let is_parameter = self.dialect == Dialect::TypeScript && self.head.brackets > 0;
        let place = match self.head.form {
            _ if is_parameter && self.last_is(b':') => Place::Body,
            _ if is_type && definition.is_some() => Place::Interface,
            Form::Case => Place::Body,
            _ if outer == Place::Component && self.last_is_word() => Place::Component,
            Form::Statement if outer == Place::Component && !is_value => Place::Body,
            _ if !is_object => Place::Body,
            _ if definition.is_some() && outer == Place::Top => Place::NamedObject,
            _ if matches!(outer, Place::Class | Place::Interface) && !is_value => Place::Body,
            _ => Place::Object,
        };
        let has_owner = is_value && definition.is_none();
        let owner = self.owner(outline).filter(|_| has_owner);
        let is_open = self.head.awaited.is_some() || is_object || self.head.angles > 0;
        let is_end = place == Place::Body && !is_open && self.head.is_outside_value();
        self.push(place, definition, is_end, outline);
        if let Some(scope) = self.scopes.last_mut().filter(|_| self.deeper == 0) {
            scope.owner = owner;
        }
    }

    fn last_is_operator(&self, outline: &Outline<'_>) -> bool {
        let last = self.last.filter(|last| last.role == Role::Keyword);
        let words = "return default yield export import await new in of typeof";
        last.is_some_and(|last| is_of(words, last.text(outline)))
    }

    fn last_is_word(&self) -> bool {
        self.last.is_some_and(|last| last.role == Role::Word)
    }

    fn push(&mut self, place: Place, of: Option<u32>, is_end: bool, outline: &mut Outline<'_>) {
        if self.scopes.len() == SCOPES_MAX {
            self.deeper += 1;
            return;
        }
        let inside = Head::at(self.head.indent.saturating_add(1));
        let head = std::mem::replace(&mut self.head, inside);
        self.scopes.push(Scope {
            place,
            head,
            is_end,
            owner: None,
        });
        outline.enter(of);
    }

    fn close(&mut self, token: Token, outline: &mut Outline<'_>) {
        self.end_statement(outline);
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let Some(scope) = self.scopes.pop() else {
            return;
        };
        outline.leave(token.end);
        self.head = scope.head;
        if scope.is_end {
            self.head = Head::at(self.head.indent);
        } else if self.head.value == Value::Start {
            self.head.value = Value::Other;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Top,
    /// Statements, or unknown.
    Body,
    Class,
    /// Interface or named object type.
    Interface,
    Object,
    /// Object at the top of a file, whose values are fields.
    NamedObject,
    Enum,
    Component,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Value {
    #[default]
    None,
    Start,
    /// `a.b`
    Word,
    /// `<T>` before parameters.
    Generic,
    /// `(…)`, maybe parameters.
    Group,
    /// Type behind `(…):`.
    Annotation,
    Arrow,
    Other,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// Expression or member.
    #[default]
    Statement,
    Variable(Kind),
    Declaration,
    Alias,
    Case,
    /// `property int name: 1` of QML.
    Property(Kind),
    /// Defines nothing: `import`.
    Other,
}

/// Body that follows.
#[derive(Clone, Copy)]
struct Awaited {
    place: Place,
    definition: Option<u32>,
    brackets: u32,
}

#[derive(Clone, Copy, Default)]
struct Head {
    form: Form,
    name: Option<Token>,
    /// Name before the last `.`.
    qualifier: Option<Token>,
    definition: Option<u32>,
    awaited: Option<Awaited>,
    value: Value,
    /// Path that begins the value, as in `a = b.c = …`.
    next: (Option<Token>, Option<Token>),
    is_call: bool,
    brackets: u32,
    angles: u32,
    indent: usize,
}

impl Head {
    fn at(indent: usize) -> Head {
        Head {
            indent,
            ..Head::default()
        }
    }

    fn is_outside_value(&self) -> bool {
        self.brackets == 0 && self.value == Value::None
    }
}

impl Parser for JavaScript {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if self.dialect == Dialect::Tagged && self.is_outside_script(line, outline) {
            return;
        }
        if let Some(first) = line.begin() {
            self.begin_line(*first, line.indent(outline), outline);
        }
        for (at, token) in line.tokens.iter().enumerate() {
            let is_arrow = token.is(b'>') && self.last_is(b'=');
            self.next = line.tokens.get(at + 1).copied();
            self.token(*token, outline);
            self.is_arrow = is_arrow;
            self.last = Some(*token);
        }
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        self.end_statement(outline);
    }
}
