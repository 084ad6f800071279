//! Schemas: Protocol Buffers, Thrift, Cap'n Proto, FlatBuffers, WebIDL, GraphQL.

#[cfg(test)]
mod tests;

use crate::symbols::blocks::{Grammar, Open, Scope, Statement};
use crate::symbols::{Kind, Outline, Role, is_of};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schema {
    Protobuf,
    Thrift,
    CapnProto,
    FlatBuffers,
    WebIdl,
    GraphQl,
}

impl Grammar for Schema {
    fn open(&mut self, it: &Statement, outline: &mut Outline<'_>) -> Open {
        let at = begin(it, outline);
        let name = it.name(at + 1);
        let word = it.word(at, outline);
        if let Some((mut kind, scope)) = self.head(word)
            && name.is_some()
        {
            if it.word(0, outline) == b"extend" {
                kind = Kind::Implementation;
            }
            let definition = outline.define_token(name, kind);
            return scope.map_or(Open::Ignored(definition), |scope| {
                Open::Scope(definition, scope)
            });
        }
        match (*self, word) {
            (Schema::Protobuf, b"oneof") => {
                outline.define_token(name, Kind::Field);
                Open::Scope(None, Scope::Record)
            }
            (Schema::Protobuf, b"rpc") => Open::Ignored(self.member(it, at, outline)),
            (Schema::Protobuf, b"extend") => Open::Scope(None, Scope::Record),
            (Schema::Protobuf, _) if it.find(b"=").is_some() => match self.group(it, outline) {
                Some(group) => Open::Scope(Some(group), Scope::Record),
                None => Open::Part,
            },
            (Schema::CapnProto, b"union") => Open::Scope(None, Scope::Record),
            (Schema::CapnProto, _) if it.find(b":").is_some() => {
                Open::Scope(self.member(it, at, outline), Scope::Record)
            }
            (_, b"const" | b"typedef") => Open::Part,
            _ if it.scope == Scope::Record && it.find(b"=").is_some() => Open::Part,
            _ => Open::Ignored(None),
        }
    }

    fn end(&mut self, it: &Statement, _sign: u8, outline: &mut Outline<'_>) {
        let at = begin(it, outline);
        if it.scope == Scope::Values {
            let values = it.tokens().iter().skip(at);
            for value in values.take_while(|token| token.is_word()) {
                if matches!(value.text(outline), b"option" | b"reserved") {
                    return;
                }
                outline.define(value.range(), Kind::Enumerator);
            }
        } else if !self.alone(it, at, outline) && it.scope != Scope::Top {
            self.member(it, at, outline);
        }
    }

    fn is_end(&self, it: &Statement, sign: u8, _outline: &Outline<'_>) -> bool {
        let has_commas =
            it.scope == Scope::Values || *self == Schema::Thrift && it.scope != Scope::Top;
        sign == b';' || sign == b',' && has_commas
    }

    fn is_end_of_line(&self, it: &Statement, outline: &Outline<'_>) -> bool {
        if !matches!(self, Schema::Thrift | Schema::GraphQl) {
            return false;
        }
        let last = it.last().map(|last| last.role);
        let goes_on = matches!(last, Some(Role::Sign(b'=' | b'|' | b'&' | b':' | b',')));
        let has_only_text = last == Some(Role::String) && it.tokens().len() == 1;
        let is_head = self.head(it.word(begin(it, outline), outline)).is_some();
        let needs_brace = is_head && it.scope == Scope::Top && it.find(b"=").is_none();
        !(goes_on || has_only_text || needs_brace)
    }

    fn restart(&self, word: &[u8]) -> Option<Scope> {
        let is_head = self.head(word).is_some() || word == b"extend";
        is_head.then_some(Scope::Top)
    }
}

impl Schema {
    fn head(self, word: &[u8]) -> Option<(Kind, Option<Scope>)> {
        let (kind, scope) = match word {
            b"message" | b"struct" | b"table" | b"exception" | b"dictionary" => {
                (Kind::Struct, Scope::Record)
            }
            b"type" | b"input" if self == Schema::GraphQl => (Kind::Struct, Scope::Record),
            b"enum" => (Kind::Enum, Scope::Values),
            b"interface" if self == Schema::GraphQl => (Kind::Interface, Scope::Record),
            b"interface" | b"mixin" | b"service" | b"rpc_service" => {
                (Kind::Interface, Scope::Methods)
            }
            b"namespace" if self == Schema::WebIdl => (Kind::Module, Scope::Methods),
            b"union" if self == Schema::Thrift => (Kind::Union, Scope::Record),
            b"union" if self == Schema::CapnProto => return None,
            b"union" => return Some((Kind::Union, None)),
            b"query" | b"mutation" | b"subscription" => return Some((Kind::Function, None)),
            b"fragment" => return Some((Kind::Type, None)),
            _ => return None,
        };
        Some((kind, Some(scope)))
    }

    /// `optional group Name = 1 {`
    fn group(self, it: &Statement, outline: &mut Outline<'_>) -> Option<u32> {
        let before = it.find(b"=")?.checked_sub(2)?;
        let name = it.get(before + 1);
        let is_group = it.word(before, outline) == b"group";
        outline.define_token(name.filter(|_| is_group), Kind::Struct)
    }

    /// Takes packages, aliases, constants.
    fn alone(self, it: &Statement, at: usize, outline: &mut Outline<'_>) -> bool {
        let before = |sign| it.find(sign).and_then(|sign| it.word_before(sign));
        let next = it.name(at + 1);
        let (name, kind) = match it.word(at, outline) {
            b"package" | b"namespace" => {
                let first = at + 1 + usize::from(self == Schema::Thrift);
                it.define_path(first, Kind::Module, outline);
                return true;
            }
            b"typedef" => (it.word_before(it.tokens().len()), Kind::Type),
            b"scalar" | b"callback" => (next, Kind::Type),
            b"union" if it.scope == Scope::Top => (next, Kind::Union),
            b"using" if !it.tokens().iter().any(|it| it.text(outline) == b"import") => {
                (next.filter(|_| it.is(at + 2, b'=')), Kind::Type)
            }
            b"annotation" if self == Schema::CapnProto => (next, Kind::Macro),
            b"const" if self == Schema::CapnProto => (next, Kind::Constant),
            b"const" => (before(b"="), Kind::Constant),
            b"directive" if it.scope == Scope::Top => {
                let name = it.get(at + 1).filter(|name| name.role == Role::Meta);
                name.and_then(|name| outline.define(name.start + 1..name.end, Kind::Macro));
                return true;
            }
            b"option" | b"reserved" | b"extensions" if self == Schema::Protobuf => {
                return it.word_before(it.find(b"=").unwrap_or(0)).is_none() || it.is(2, b'=');
            }
            _ => return false,
        };
        outline.define_token(name, kind);
        true
    }

    fn member(self, it: &Statement, at: usize, outline: &mut Outline<'_>) -> Option<u32> {
        let in_interface = it.scope == Scope::Methods;
        let kind = [Kind::Field, Kind::Method][usize::from(in_interface)];
        let name = match self {
            Schema::Protobuf if in_interface => it.name(at + 1)?,
            Schema::Protobuf => it.word_before(it.find(b"=")?)?,
            Schema::Thrift if in_interface => it.word_before(it.find(b"(")?)?,
            Schema::Thrift if is_cut(it) => return None,
            Schema::Thrift => it.word_before(it.find(b"=(").unwrap_or(it.tokens().len()))?,
            Schema::CapnProto | Schema::FlatBuffers => {
                let is_name = it.is(at + 1, b'@') || it.is(at + 1, b':') || it.is(at + 1, b'(');
                it.get(at).filter(|name| name.is_word() && is_name)?
            }
            Schema::WebIdl => return web_member(it, at, outline),
            Schema::GraphQl => return graph_fields(it, at, outline),
        };
        outline.define(name.range(), kind)
    }
}

/// Words that others may precede.
const HEADS: &str = "type input interface mixin enum union dictionary namespace scalar";

fn begin(it: &Statement, outline: &Outline<'_>) -> usize {
    let mut at = 0;
    loop {
        at = match it.get(at).map(|token| token.role) {
            Some(Role::String) => at + 1,
            Some(Role::Sign(b'[')) => it.behind(at),
            _ if is_of("partial extend callback interface", it.word(at, outline))
                && is_of(HEADS, it.word(at + 1, outline)) =>
            {
                at + 1
            }
            _ => return at,
        };
    }
}

/// Part before the comma of `map<K, V>`.
fn is_cut(it: &Statement) -> bool {
    let count = |sign| it.tokens().iter().filter(|token| token.is(sign)).count();
    count(b'<') > count(b'>')
}

fn web_member(it: &Statement, at: usize, outline: &mut Outline<'_>) -> Option<u32> {
    let words = it.tokens().iter().skip(at).take(4);
    let is_attribute = words.clone().any(|word| word.text(outline) == b"attribute");
    if is_attribute || it.scope == Scope::Record {
        let end = it.find(b"=").unwrap_or(it.tokens().len());
        return outline.define(it.word_before(end)?.range(), Kind::Field);
    }
    let mut open = it.behind(at);
    while !it.is(open, b'(') {
        it.get(open)?;
        open += 1;
    }
    let is_special = matches!(it.word(at, outline), b"getter" | b"setter" | b"deleter");
    let has_name = open > at + 1 + usize::from(is_special);
    let name = it.word_before(open).filter(|_| has_name)?;
    outline.define(name.range(), Kind::Method)
}

fn graph_fields(it: &Statement, mut at: usize, outline: &mut Outline<'_>) -> Option<u32> {
    let mut last = None;
    while let Some(token) = it.get(at) {
        if token.is_word() && (it.is(at + 1, b':') || it.is(at + 1, b'(')) {
            last = outline.define(token.range(), Kind::Field);
            at += 1;
        }
        at = it.next(at);
    }
    last
}
