//! Items.

use super::*;

type Name = Range<u32>;

const MODIFIERS_MAX: usize = 8;

/// Words before the name of a type.
pub(super) struct Head {
    pub(super) kind: Kind,
    /// Constructors follow, unlike for `type` of Haskell.
    has_values: bool,
    /// New values of an old name.
    is_named: bool,
}

impl Layout {
    pub(super) fn define(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let tokens = self.without_modifiers(tokens, outline);
        let text = |at: usize| tokens.get(at).map_or(&b""[..], |it| it.text(outline));
        let is_upper = is_upper(text(1)) || text(1) == b"(" && text(2).starts_with(b":");
        match text(0) {
            b"" => {}
            b"module" => module(&tokens[1..], outline),
            b"pattern" if is_upper => self.binding(&tokens[1..], true, outline),
            b"foreign" if text(1) == b"export" => {}
            b"foreign" if text(1) == b"import" => self.foreign(tokens, outline),
            b"import" | b"infix" | b"infixl" | b"infixr" | b"deriving" | b"derive" | b"where" => {}
            b"default" | b"else" | b"then" | b"in" | b"of" | b"$" => {}
            b"type" if self.is_in(Kind::Implementation) => {}
            b"type" if matches!(text(1), b"instance" | b"role") => {}
            _ => match self.head(tokens, outline) {
                Some(head) => self.define_head(head, &tokens[1..], outline),
                None => self.binding(tokens, false, outline),
            },
        }
    }

    fn without_modifiers<'t>(&self, tokens: &'t [Token], outline: &Outline<'_>) -> &'t [Token] {
        let is_modifier = |token: &&Token| match token.text(outline) {
            b"port" | b"effect" => self.dialect == Dialect::Elm,
            b"export" | b"public" | b"total" | b"partial" | b"covering" | b"constructor" => {
                self.dialect == Dialect::Dependent
            }
            _ => false,
        };
        let modifiers = tokens.iter().take(MODIFIERS_MAX).take_while(is_modifier);
        &tokens[modifiers.count()..]
    }

    pub(super) fn head(&self, tokens: &[Token], outline: &Outline<'_>) -> Option<Head> {
        let tokens = self.without_modifiers(tokens, outline);
        let next = tokens.get(1).map_or(&b""[..], |it| it.text(outline));
        let is_dependent = self.dialect == Dialect::Dependent;
        let is_elm = self.dialect == Dialect::Elm;
        let (kind, has_values) = match tokens.first()?.text(outline) {
            b"data" | b"newtype" => (Kind::Type, true),
            b"type" => (Kind::Type, is_elm && next != b"alias"),
            b"class" => (Kind::Interface, false),
            b"instance" => (Kind::Implementation, false),
            b"record" if is_dependent => (Kind::Struct, true),
            b"interface" if is_dependent => (Kind::Interface, true),
            b"implementation" if is_dependent => (Kind::Implementation, true),
            _ => return None,
        };
        let is_instance = self.is_in(Kind::Implementation) || next == b"instance";
        Some(Head {
            kind,
            has_values,
            is_named: kind == Kind::Type && is_instance,
        })
    }

    fn colon(&self) -> &'static [u8] {
        match self.dialect {
            Dialect::Haskell => b"::",
            _ => b":",
        }
    }

    /// `foreign import … name :: type`
    fn foreign(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let mut name = None;
        for atom in Atoms(tokens) {
            match atom {
                Atom::Word(token) => name = Some(token.range()),
                Atom::Operator(range, _) if outline.bytes(range.clone()) == self.colon() => break,
                _ => {}
            }
        }
        self.signature(name.into_iter().collect(), outline);
    }

    fn binding(&mut self, tokens: &[Token], is_pattern: bool, outline: &mut Outline<'_>) {
        let (mut names, mut infix, mut expects_name) = (Vec::<Name>::new(), None, true);
        for atom in Atoms(tokens) {
            match atom {
                Atom::Word(token) if expects_name => names.push(token.range()),
                Atom::Name(range, b'(') if expects_name => names.push(range),
                Atom::Name(range, b'`') => infix = Some(range),
                Atom::Operator(range, is_prefix) => match outline.bytes(range.clone()) {
                    text if text == self.colon() => return self.signature(names, outline),
                    b"<-" if !is_pattern => return,
                    b"=" | b"|" | b"<-" => {
                        let first = names.pop().filter(|_| names.is_empty());
                        return self.equation(infix.or(first), is_pattern, outline);
                    }
                    b"=>" | b"->" => return,
                    b"." if is_prefix || !ends_with(b' ', range.start, outline) => {}
                    b"@" | b":" => {}
                    b"!" | b"~" if is_prefix => {}
                    // `name#`
                    b"#" | b"##" if !ends_with(b' ', range.start, outline) => {
                        if let Some(name) = names.last_mut().filter(|it| it.end == range.start) {
                            name.end = range.end;
                        }
                    }
                    _ => infix = infix.or(Some(range)),
                },
                Atom::Comma => {
                    expects_name = true;
                    continue;
                }
                _ => continue,
            }
            expects_name = false;
        }
    }

    fn signature(&mut self, names: Vec<Name>, outline: &mut Outline<'_>) {
        for name in names {
            match &self.body {
                Some(body) if body.kind == Kind::Type => outline.define(name, Kind::Enumerator),
                Some(body) if body.kind == Kind::Struct => outline.define(name, Kind::Field),
                _ => {
                    let kind = self.kind_of(&name, outline);
                    outline.declare(name, kind)
                }
            };
        }
    }

    fn equation(&mut self, name: Option<Name>, is_pattern: bool, outline: &mut Outline<'_>) {
        let Some(name) = name else { return };
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

    fn kind_of(&self, name: &Name, outline: &Outline<'_>) -> Kind {
        let text = outline.bytes(name.clone());
        match () {
            () if self.is_in(Kind::Interface) || self.is_in(Kind::Implementation) => Kind::Method,
            () if is_upper(text) || text.starts_with(b":") => Kind::Enumerator,
            () => Kind::Function,
        }
    }

    fn is_in(&self, kind: Kind) -> bool {
        self.body.as_ref().is_some_and(|body| body.kind == kind)
    }

    fn define_head(&mut self, mut head: Head, tokens: &[Token], outline: &mut Outline<'_>) {
        let (mut name, mut of_type, mut is_family) = (None::<Name>, None::<Name>, false);
        let is_instance = head.kind == Kind::Implementation;
        let mut atoms = Atoms(tokens);
        while let Some(atom) = atoms.next() {
            match atom {
                Atom::Word(token) if token.text(outline) == b"family" => is_family = true,
                Atom::Word(token) if is_upper(token.text(outline)) => {
                    let is_part = ends_with(b'.', token.start, outline);
                    let is_first = name.is_none() || is_part && of_type.is_none();
                    if is_first && !head.is_named {
                        name = Some(token.range());
                    } else if is_instance && (of_type.is_none() || is_part) {
                        of_type = Some(token.range());
                    }
                }
                Atom::Group(_, inside) if is_instance && name.is_some() => {
                    of_type = of_type.or(type_in(inside, outline));
                }
                Atom::Name(range, b'(') if !is_instance && !head.is_named => name = Some(range),
                Atom::Operator(range, _) => match outline.bytes(range.clone()) {
                    b"=>" => (name, of_type) = (None, None),
                    b"=" => {
                        define_type(of_type.or(name), head.kind, outline);
                        return self.define_values(&head, atoms, outline);
                    }
                    // Named instance of PureScript.
                    text if text == self.colon() && is_instance => name = None,
                    text if text == self.colon() || text == b"|" => {
                        let is_kind = head.kind == Kind::Type && !head.has_values && !is_family;
                        if is_kind && text != b"|" {
                            name.and_then(|name| outline.declare(name, Kind::Type));
                            return;
                        }
                        head.is_named = true;
                    }
                    b"!" | b"~" | b"." | b"->" | b"@" => {}
                    _ if !is_instance && !head.is_named => name = Some(range),
                    _ => {}
                },
                _ => {}
            }
        }
        define_type(of_type.or(name), head.kind, outline);
    }

    fn define_values(&self, head: &Head, atoms: Atoms<'_>, outline: &mut Outline<'_>) {
        let (mut name, mut expects_name) = (None, true);
        for atom in atoms {
            match atom {
                Atom::Group(b'{', inside) if head.has_values || self.dialect == Dialect::Elm => {
                    define_value(&mut name, outline);
                    self.define_fields(inside, outline);
                }
                _ if !head.has_values => {}
                Atom::Word(token) if token.text(outline) == b"deriving" => break,
                Atom::Word(token) if is_upper(token.text(outline)) && expects_name => {
                    name = Some(token.range());
                    expects_name = false;
                }
                Atom::Name(range, sign) if expects_name || sign == b'`' => name = Some(range),
                Atom::Operator(range, _) => match outline.bytes(range.clone()) {
                    b"|" | b"=" => {
                        define_value(&mut name, outline);
                        expects_name = true;
                    }
                    b"=>" => (name, expects_name) = (None, true),
                    text @ [b':', _, ..] if text != self.colon() => name = Some(range),
                    _ => {}
                },
                _ => {}
            }
        }
        define_value(&mut name, outline);
    }

    fn define_fields(&self, tokens: &[Token], outline: &mut Outline<'_>) {
        let (mut names, mut expects_name) = (Vec::<Name>::new(), true);
        for atom in Atoms(tokens) {
            match atom {
                Atom::Word(token) if expects_name => names.push(token.range()),
                Atom::Operator(range, _) if outline.bytes(range.clone()) == self.colon() => {
                    for name in names.drain(..) {
                        outline.define(name, Kind::Field);
                    }
                }
                Atom::Comma => {
                    expects_name = true;
                    continue;
                }
                _ => continue,
            }
            expects_name = false;
        }
    }
}

fn define_type(name: Option<Name>, kind: Kind, outline: &mut Outline<'_>) {
    if let Some(name) = name {
        let index = outline.define(name, kind);
        outline.enter(index);
    }
}

fn define_value(name: &mut Option<Name>, outline: &mut Outline<'_>) {
    if let Some(name) = name.take() {
        outline.define(name, Kind::Enumerator);
    }
}

fn type_in(tokens: &[Token], outline: &Outline<'_>) -> Option<Name> {
    let mut names = tokens
        .iter()
        .filter(|it| it.is_word() && is_upper(it.text(outline)));
    let first = names.next()?;
    let atoms = names.take_while(|it| ends_with(b'.', it.start, outline));
    Some(atoms.last().unwrap_or(first).range())
}

fn module(tokens: &[Token], outline: &mut Outline<'_>) {
    let is_part = |token: &&Token| {
        let is_end = matches!(token.text(outline), b"where" | b"exposing");
        (token.is_word() || token.is(b'.')) && !is_end
    };
    let count = tokens.iter().take_while(is_part).count();
    if let Some(last) = tokens[..count].last() {
        outline.define(tokens[0].start..last.end, Kind::Module);
    }
}

fn ends_with(byte: u8, offset: u32, outline: &Outline<'_>) -> bool {
    offset > 0 && outline.bytes(offset - 1..offset) == [byte]
}

fn is_upper(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_uppercase)
}
