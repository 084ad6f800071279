//! Lines that define names without a scope.

use super::super::super::Kind;
use super::super::super::outline::Outline;
use super::super::super::parser::{Line, Role, Token};
use super::super::super::scopes::{define_qualified, is_container, unquoted};
use super::{Dialect, Ends, behind_parameters};

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
            Dialect::Ruby => self.ruby(line, scope, outline),
            Dialect::Crystal => self.crystal(line, scope, outline),
            Dialect::Elixir => self.elixir(line, outline),
            Dialect::Lua => self.lua(line, outline),
            Dialect::Julia => self.julia(line, scope, outline),
            Dialect::Fish => self.fish(line, outline),
        }
    }

    fn ruby(&mut self, line: &Line<'_>, scope: Option<Kind>, outline: &mut Outline<'_>) {
        let first = line.text(0, outline);
        match first {
            b"attr_accessor" | b"attr_reader" | b"attr_writer" | b"attr" | b"cattr_accessor"
            | b"mattr_accessor" | b"class_attribute" | b"property" | b"getter" | b"setter" => {
                let mut at = 1;
                while let Some(name) = symbol(line, &mut at, outline) {
                    outline.define(name, Kind::Field);
                }
            }
            b"alias" | b"alias_method" | b"define_method" | b"scope" | b"delegate"
                if scope.is_some() =>
            {
                let mut at = 1 + usize::from(line.is(1, b'('));
                if let Some(name) = symbol(line, &mut at, outline) {
                    outline.define(name, Kind::Method);
                }
            }
            _ if line.is_assignment(1) && first.first().is_some_and(u8::is_ascii_uppercase) => {
                let name = line.tokens[0].range();
                self.names.define(name, Kind::Constant, outline);
            }
            _ => {}
        }
    }

    fn crystal(&mut self, line: &Line<'_>, scope: Option<Kind>, outline: &mut Outline<'_>) {
        let name = line.tokens.get(1).filter(|it| it.is_word());
        match (line.text(0, outline), name) {
            (b"alias", Some(name)) => drop(outline.define(name.range(), Kind::Type)),
            (b"record", Some(name)) => drop(outline.define(name.range(), Kind::Struct)),
            (b"annotation", Some(name)) => drop(outline.define(name.range(), Kind::Class)),
            ([b'A'..=b'Z', ..], _) if scope == Some(Kind::Enum) => {
                outline.define(line.tokens[0].range(), Kind::Enumerator);
            }
            _ => self.ruby(line, scope, outline),
        }
    }

    fn elixir(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let Some(first) = line.tokens.first().filter(|it| it.role == Role::Meta) else {
            return;
        };
        let name = line.tokens.get(1).filter(|it| it.is_word());
        match (first.text(outline), name) {
            (b"@type" | b"@typep" | b"@opaque", Some(name)) => {
                outline.define(name.range(), Kind::Type);
            }
            (b"@callback" | b"@macrocallback", Some(name)) => {
                outline.declare(name.range(), Kind::Method);
            }
            (
                b"@spec"
                | b"@doc"
                | b"@moduledoc"
                | b"@typedoc"
                | b"@behaviour"
                | b"@impl"
                | b"@derive"
                | b"@since"
                | b"@deprecated"
                | b"@compile"
                | b"@dialyzer"
                | b"@tag"
                | b"@moduletag"
                | b"@describetag"
                | b"@before_compile"
                | b"@after_compile"
                | b"@external_resource"
                | b"@optional_callbacks"
                | b"@enforce_keys",
                _,
            ) => {}
            (text, _) if line.tokens.len() > 1 && !line.touches(1) && !text.contains(&b'.') => {
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
        let Some(token) = line.tokens.get(at) else {
            return;
        };
        if !matches!(token.role, Role::Word | Role::Type) {
            return;
        }
        if scope == Some(Kind::Struct) {
            let is_field = line.tokens.len() == at + 1 || line.is(at + 1, b':');
            if is_field {
                outline.define(token.range(), Kind::Field);
                return;
            }
        }
        if line.is_assignment(at + 1) {
            let kind = match line.text(0, outline) {
                b"const" => Kind::Constant,
                _ => Kind::Variable,
            };
            self.names.define(token.range(), kind, outline);
        } else if let Some((name, next)) = line.name(at, b".")
            && is_short_function(line, next, outline)
        {
            self.align(outline);
            define_qualified(name, b".", Kind::Function, outline);
        }
    }

    fn fish(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if !self.scopes.is_empty() {
            return;
        }
        let kind = match line.text(0, outline) {
            b"set" => Kind::Variable,
            b"alias" | b"abbr" => Kind::Macro,
            _ => return,
        };
        let mut at = 1;
        while line.is(at, b'-') {
            at += 2 + usize::from(line.is(at + 1, b'-'));
        }
        let is_query = |token: &Token| token.is(b'-') && kind == Kind::Variable;
        if let Some((name, _)) = line.name(at, b"-.").filter(|_| line.is_word(at))
            && !line
                .tokens
                .get(1)
                .is_some_and(|it| is_query(it) && is_option(line, b"qe", outline))
        {
            self.names.define(name, kind, outline);
        }
    }
}

fn is_option(line: &Line<'_>, letters: &[u8], outline: &Outline<'_>) -> bool {
    let option = line.text(2, outline);
    option.len() < 4 && option.iter().any(|letter| letters.contains(letter))
}

/// `:name`, `name`, `"name"`, with a comma
fn symbol(line: &Line<'_>, at: &mut usize, outline: &Outline<'_>) -> Option<std::ops::Range<u32>> {
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
