//! Lines that define names without a scope.

use super::*;

impl Ends {
    pub(super) fn head(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if self.brackets + self.squares > 0 {
            return;
        }
        let scope = outline.innermost_kind();
        if !scope.is_none_or(is_container) {
            return;
        }
        match self.dialect {
            Dialect::Ruby | Dialect::Crystal => self.ruby(line, scope, outline),
            Dialect::Elixir => self.elixir(line, outline),
            Dialect::Lua => self.lua(line, outline),
            Dialect::Julia => self.julia(line, scope, outline),
            Dialect::Fish => self.fish(line, outline),
        }
    }

    fn ruby(&mut self, line: &Line<'_>, scope: Option<Kind>, outline: &mut Outline<'_>) {
        let first = line.text(0, outline);
        match self.words.get(first) {
            Some(Word::Names(kind)) if kind != Kind::Method || scope.is_some() => {
                let mut at = 1 + usize::from(line.is(1, b'('));
                while let Some(name) = symbol(line, &mut at, outline) {
                    outline.define(name, kind);
                    if kind != Kind::Field {
                        break;
                    }
                }
            }
            _ if !first.first().is_some_and(u8::is_ascii_uppercase) => {}
            _ if scope == Some(Kind::Enum) && self.dialect == Dialect::Crystal => {
                outline.define(line.tokens[0].range(), Kind::Enumerator);
            }
            _ if line.is_assignment(1) => {
                let name = line.tokens[0].range();
                self.names.define(name, Kind::Constant, outline);
            }
            _ => {}
        }
    }

    fn elixir(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let Some(first) = line.tokens.first().filter(|it| it.role == Role::Meta) else {
            return;
        };
        let name = line.tokens.get(1).filter(|it| it.is_word());
        let text = first.text(outline);
        match (self.words.get(text), name) {
            (Some(Word::Names(Kind::Method)), Some(name)) => {
                outline.declare(name.range(), Kind::Method);
            }
            (Some(Word::Names(kind)), Some(name)) => drop(outline.define(name.range(), kind)),
            (None, _) if line.tokens.len() > 1 && !line.touches(1) && !text.contains(&b'.') => {
                let name = first.start + 1..first.end;
                self.names.define(name, Kind::Constant, outline);
            }
            _ => {}
        }
    }

    fn lua(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if !self.scopes.is_empty() {
            return;
        }
        let is_local = line.text(0, outline) == b"local";
        let mut at = usize::from(is_local);
        while let Some(token) = line.tokens.get(at).filter(|it| it.role == Role::Word) {
            let is_attribute = line.is(at + 1, b'<');
            let behind = at + 1 + 3 * usize::from(is_attribute);
            let is_function = line.text(behind + 1, outline) == b"function";
            if (is_local || line.is_assignment(behind)) && !is_function {
                self.names.define(token.range(), Kind::Variable, outline);
            }
            if !line.is(behind, b',') {
                return;
            }
            at = behind + 1;
        }
    }

    fn julia(&mut self, line: &Line<'_>, scope: Option<Kind>, outline: &mut Outline<'_>) {
        let has_macro = line.tokens.first().is_some_and(|it| it.role == Role::Meta);
        let is_const = matches!(line.text(0, outline), b"const" | b"global");
        let at = usize::from(is_const || has_macro);
        let is_name = |it: &&Token| matches!(it.role, Role::Word | Role::Type);
        let Some(token) = line.tokens.get(at).filter(is_name) else {
            return;
        };
        let is_field = line.tokens.len() == at + 1 || line.is(at + 1, b':');
        if scope == Some(Kind::Struct) && is_field {
            outline.define(token.range(), Kind::Field);
        } else if line.is_assignment(at + 1) {
            let is_const = line.text(0, outline) == b"const";
            let kind = if is_const {
                Kind::Constant
            } else {
                Kind::Variable
            };
            self.names.define(token.range(), kind, outline);
        } else if let Some((name, next)) = line.name(at, named::OPERATORS)
            && is_short_function(line, next, outline)
        {
            self.align(outline);
            define_qualified(name, b".:", Kind::Function, outline);
        }
    }

    fn fish(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if !self.scopes.is_empty() {
            return;
        }
        let Some(Word::Names(kind)) = self.words.get(line.text(0, outline)) else {
            return;
        };
        let mut at = 1;
        while line.is(at, b'-') {
            at += 2 + usize::from(line.is(at + 1, b'-'));
        }
        let option = if line.is(1, b'-') {
            line.text(2, outline)
        } else {
            b""
        };
        let is_query = option.len() < 4 && option.iter().any(|letter| b"qe".contains(letter));
        if let Some((name, _)) = line.name(at, b"-.").filter(|_| line.is_word(at))
            && !(is_query && kind == Kind::Variable)
        {
            self.names.define(name, kind, outline);
        }
    }
}

/// `:name`, `name`, `"name"`, with a comma
fn symbol(line: &Line<'_>, at: &mut usize, outline: &Outline<'_>) -> Option<Range<u32>> {
    *at += usize::from(line.is(*at, b':'));
    let token = line.tokens.get(*at)?;
    let name = match token.role {
        Role::String => unquoted(token, outline),
        _ if token.is_word() => token.range(),
        _ => return None,
    };
    let rest = &line.tokens[*at..];
    let comma = rest.iter().position(|it| it.is(b','));
    *at = comma.map_or(line.tokens.len(), |comma| *at + comma + 1);
    Some(name)
}

/// `(x) = …`, `{T}(x::T) where T = …`, `(x)::T = …`
fn is_short_function(line: &Line<'_>, mut at: usize, outline: &Outline<'_>) -> bool {
    if line.is(at, b'{') {
        at = line.behind_brackets(at, b'{', b'}');
    }
    if !line.is(at, b'(') || !line.touches(at) {
        return false;
    }
    let next = behind_parameters(line, at);
    if line.is_assignment(next) {
        return true;
    }
    if !line.is(next, b':') && line.text(next, outline) != b"where" {
        return false;
    }
    let mut behind = next..line.tokens.len();
    behind.any(|at| line.is_assignment(at))
}
