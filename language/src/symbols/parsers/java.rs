//! Java and its relatives: statements with modifiers, a word or a type, a name, and a body in
//! braces. The head of a statement is kept as a few facts ([`Head`]), which a brace suspends. Only
//! types and functions are found in bodies.

mod branch;
mod lines;
mod statement;
#[cfg(test)]
mod tests;
mod words;

use crate::symbols::{Kind, Line, Outline, Parser, Role, SCOPES_MAX, Token};
use branch::Branches;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[default]
    Java,
    CSharp,
    Kotlin,
    Scala,
    Dart,
    Groovy,
    D,
    Vala,
    Swift,
    Haxe,
    Solidity,
}

impl Dialect {
    /// True if `Type name` defines.
    fn has_types_first(self) -> bool {
        !matches!(self, Self::Kotlin | Self::Scala | Self::Swift | Self::Haxe)
    }

    fn has_globals(self) -> bool {
        !matches!(self, Self::Java | Self::CSharp)
    }

    fn has_lines(self) -> bool {
        matches!(
            self,
            Self::Kotlin | Self::Scala | Self::Swift | Self::Groovy
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Top,
    Type,
    /// Enumerators; members may follow.
    Enum,
    /// Statements, or unknown.
    Body,
}

struct Scope {
    place: Place,
    head: Head,
    /// False if indentation closes it.
    has_brace: bool,
}

#[derive(Default)]
pub(crate) struct Java {
    dialect: Dialect,
    scopes: Vec<Scope>,
    /// Open braces beyond [`SCOPES_MAX`].
    deeper: usize,
    head: Head,
    last: Option<Token>,
    next: Option<Token>,
    branches: Branches,
    /// True behind a brace in column 0 that closes an indented scope.
    is_suspect: bool,
}

impl Java {
    pub(crate) fn new(dialect: Dialect) -> Java {
        Java {
            dialect,
            ..Java::default()
        }
    }

    fn place(&self) -> Place {
        match self.scopes.last() {
            _ if self.deeper > 0 => Place::Body,
            Some(scope) => scope.place,
            None => Place::Top,
        }
    }

    fn last_is(&self, sign: u8) -> bool {
        self.last.is_some_and(|last| last.is(sign))
    }

    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        match token.role {
            Role::Sign(b'{') => self.open(outline),
            Role::Sign(b'}') => self.close(token, outline),
            Role::Sign(b'(' | b'[') => {
                if self.head.is_outside() {
                    self.open_bracket(token, outline);
                }
                self.head.brackets = self.head.brackets.saturating_add(1);
            }
            Role::Sign(b')' | b']') => self.head.close_bracket(),
            Role::Sign(b';') if self.head.brackets == 0 => self.end_statement(true, outline),
            Role::Sign(sign) if self.head.brackets == 0 => self.sign(token, sign, outline),
            Role::Sign(b'-' | b'>') => self.head.created = 0,
            Role::Word | Role::Keyword | Role::Type => self.word(token, outline),
            Role::Meta => self.meta(token, outline),
            _ => {}
        }
    }

    fn open(&mut self, outline: &mut Outline<'_>) {
        self.end_name(b'{', outline);
        let place = self.place_of_body(outline);
        let is_own = self.head.brackets == 0;
        let definition = self.head.definition.filter(|_| is_own);
        self.push(place, definition, true, outline);
    }

    fn push(&mut self, place: Place, of: Option<u32>, has_brace: bool, outline: &mut Outline<'_>) {
        if self.scopes.len() == SCOPES_MAX {
            self.deeper += usize::from(has_brace);
            return;
        }
        let inside = Head::at(self.head.indent.saturating_add(1));
        let head = std::mem::replace(&mut self.head, inside);
        self.scopes.push(Scope {
            place,
            head,
            has_brace,
        });
        outline.enter(of);
    }

    fn place_of_body(&mut self, outline: &mut Outline<'_>) -> Place {
        let (dialect, outer, head) = (self.dialect, self.place(), &self.head);
        if head.created == head.brackets + 1 && self.is_anonymous_class() {
            return Place::Type;
        }
        if head.brackets > 0 || head.in_value {
            return Place::Body;
        }
        match head.form {
            Form::Type(Kind::Enum) if matches!(dialect, Dialect::Swift | Dialect::Scala) => {
                Place::Type
            }
            Form::Type(Kind::Enum) => Place::Enum,
            Form::Type(Kind::Module) => Place::Top,
            Form::Type(_) => Place::Type,
            Form::Plain if outer == Place::Enum => Place::Type,
            Form::Plain if outer != Place::Body => {
                if head.is_function() {
                    self.define_function(true, outline);
                } else if head.name.is_some() {
                    self.define_property(outline);
                } else if dialect == Dialect::D {
                    return outer;
                }
                Place::Body
            }
            _ => Place::Body,
        }
    }

    /// True behind `new Name(…)` or `object : Name`.
    fn is_anonymous_class(&self) -> bool {
        match self.dialect {
            Dialect::Java | Dialect::Groovy => self.last_is(b')'),
            Dialect::Kotlin | Dialect::Scala | Dialect::D => true,
            _ => false,
        }
    }

    fn close(&mut self, token: Token, outline: &mut Outline<'_>) {
        self.end_statement(false, outline);
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        self.pop_indented(None, outline);
        if self.scopes.len() > self.branches.floor() {
            self.pop(token.end, outline);
        }
        if self.head.brackets == 0 && !self.head.in_value && self.place() != Place::Enum {
            self.head = Head::at(self.head.indent);
        }
    }

    fn pop(&mut self, end: u32, outline: &mut Outline<'_>) {
        if let Some(scope) = self.scopes.pop() {
            outline.leave(end);
            self.head = scope.head;
        }
    }

    fn meta(&mut self, token: Token, outline: &mut Outline<'_>) {
        match token.text(outline) {
            b"@interface" => self.head.form = Form::Type(Kind::Interface),
            b"@Field" => self.head.is_final = true,
            _ => {}
        }
    }

    fn directive(&mut self, token: Token, text: &[u8], outline: &mut Outline<'_>) {
        let depth = self.scopes.len();
        let Some(depth) = self.branches.directive(text, depth) else {
            return;
        };
        self.deeper = 0;
        while self.scopes.len() > depth {
            self.pop(token.start, outline);
            self.head = Head::at(self.head.indent);
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// `Type name`, or only modifiers so far.
    #[default]
    Plain,
    Type(Kind),
    Function,
    Value(Kind),
    Case,
    /// Defines nothing: `import`.
    Other,
}

#[derive(Clone, Copy, Default)]
struct Head {
    form: Form,
    name: Option<Token>,
    /// Name before the last `.`.
    qualifier: Option<Token>,
    definition: Option<u32>,
    /// True behind a type, or a word in its place.
    has_type: bool,
    is_call: bool,
    is_accessor: bool,
    in_value: bool,
    /// True behind a word such as `private`.
    is_member: bool,
    is_static: bool,
    is_record: bool,
    is_final: bool,
    kind: Option<Kind>,
    brackets: u32,
    angles: u32,
    /// Brackets around the last `new`, plus 1.
    created: u32,
    indent: usize,
    tick: Option<u32>,
}

impl Head {
    fn is_function(&self) -> bool {
        self.is_call || self.is_accessor
    }

    fn is_outside(&self) -> bool {
        self.brackets == 0 && self.angles == 0
    }

    fn close_bracket(&mut self) {
        self.brackets = self.brackets.saturating_sub(1);
        if self.brackets + 1 < self.created {
            self.created = 0;
        }
    }

    fn at(indent: usize) -> Head {
        Head {
            indent,
            ..Head::default()
        }
    }

    fn next_name(&mut self) {
        *self = Head {
            form: self.form,
            has_type: true,
            is_member: self.is_member,
            is_static: self.is_static,
            is_final: self.is_final,
            kind: self.kind,
            indent: self.indent,
            ..Head::default()
        };
    }
}

impl Parser for Java {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if let Some(first) = line.begin() {
            let text = first.text(outline);
            if first.role == Role::Meta && branch::is_directive(text) {
                return self.directive(*first, text, outline);
            }
            self.next = line.tokens.get(1).copied();
            self.begin_line(*first, line.indent(outline), outline);
        }
        for (at, token) in line.tokens.iter().enumerate() {
            self.next = line.tokens.get(at + 1).copied();
            self.token(*token, outline);
            self.last = Some(*token);
        }
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        self.end_statement(false, outline);
    }
}
