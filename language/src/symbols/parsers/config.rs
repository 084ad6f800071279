//! Configurations: HCL with Terraform, Puppet, Nix.

use crate::symbols::blocks::{Grammar, Heads, Open, Scope, Statement};
use crate::symbols::{Kind, Outline, Role, Token, is_of};
use std::ops::Range;

/// Blocks `type "label" "name" {`, keys of `locals`.
pub(crate) struct Hcl;

impl Grammar for Hcl {
    const HEADS: Heads = &[(Scope::Top, "resource data variable output module locals")];

    fn open(&mut self, it: &Statement, outline: &mut Outline<'_>) -> Open {
        let word = it.word(0, outline);
        if it.scope != Scope::Top || it.is(1, b'=') {
            return Open::Part;
        }
        if word == b"locals" {
            return Open::Scope(None, Scope::Constants);
        }
        let kind = match word {
            b"variable" => Kind::Variable,
            b"module" => Kind::Module,
            _ => Kind::Resource,
        };
        let name = it.last().and_then(unquoted);
        Open::Ignored(name.and_then(|name| outline.define(name, kind)))
    }

    fn end(&mut self, it: &Statement, _sign: u8, outline: &mut Outline<'_>) {
        let is_local = it.scope == Scope::Constants;
        let kind = [Kind::Key, Kind::Constant][usize::from(is_local)];
        let is_key = |key: &Token| it.is(1, b'=') && (key.is_word() || key.role == Role::Key);
        outline.define_token(it.get(0).filter(is_key), kind);
    }

    fn is_end_of_line(&self, it: &Statement, _outline: &Outline<'_>) -> bool {
        it.last().is_some_and(|last| !last.is(b'='))
    }
}

pub(crate) struct Puppet;

impl Grammar for Puppet {
    const HEADS: Heads = &[(Scope::Top, "class define node")];

    fn open(&mut self, it: &Statement, outline: &mut Outline<'_>) -> Open {
        let name = path(it, 1);
        let kind = match it.word(0, outline) {
            b"class" if name.is_some() => Kind::Class,
            b"define" => Kind::Type,
            b"function" => Kind::Function,
            b"node" => Kind::Resource,
            b"if" | b"unless" | b"else" | b"elsif" | b"case" => {
                return Open::Scope(None, Scope::Top);
            }
            word if word.starts_with(b"$") || it.scope == Scope::Record => return Open::Part,
            _ if is_path(it) => return Open::Scope(None, Scope::Record),
            _ => return Open::Scope(None, Scope::Top),
        };
        let name = name.or_else(|| it.get(1).and_then(unquoted));
        let definition = name.and_then(|name| outline.define(name, kind));
        if kind == Kind::Function {
            return Open::Ignored(definition);
        }
        Open::Scope(definition, Scope::Top)
    }

    fn end(&mut self, it: &Statement, sign: u8, outline: &mut Outline<'_>) {
        let name = it.get(0);
        match it.word(0, outline) {
            b"type" => {
                path(it, 1).and_then(|name| outline.define(name, Kind::Type));
            }
            word if word.starts_with(b"$") && it.is(1, b'=') && !it.is(2, b'>') => {
                let name = name.map(|name| name.start + 1..name.end);
                name.and_then(|name| outline.define(name, Kind::Variable));
            }
            _ if sign == b':' => {
                let title = name.and_then(unquoted);
                title.and_then(|title| outline.define(title, Kind::Resource));
            }
            _ => {}
        }
    }

    fn is_end(&self, it: &Statement, sign: u8, _outline: &Outline<'_>) -> bool {
        let is_title = it.tokens().len() == 1 && it.is_string(0);
        sign == b';' || sign == b':' && it.scope == Scope::Record && is_title
    }

    fn is_end_of_line(&self, it: &Statement, outline: &Outline<'_>) -> bool {
        let is_head = is_of("class define function node", it.word(0, outline));
        let last = it.last().map(|last| last.role);
        let goes_on = matches!(last, Some(Role::Sign(b'=' | b'>' | b',' | b'?' | b'+')));
        it.scope == Scope::Top && !is_head && !goes_on
    }
}

/// Finds the outermost attribute sets, and `let` around them.
pub(crate) struct Nix;

impl Grammar for Nix {
    fn open(&mut self, it: &Statement, _outline: &mut Outline<'_>) -> Open {
        let is_default = it.last().is_some_and(|last| last.is(b'?'));
        if is_default || equals(it).is_some() {
            Open::Part
        } else {
            Open::Scope(None, Scope::Record)
        }
    }

    fn end(&mut self, it: &Statement, _sign: u8, outline: &mut Outline<'_>) {
        let Some(at) = equals(it) else { return };
        let name = at.checked_sub(1).and_then(|name| it.get(name));
        let name = name.and_then(|name| {
            let is_word = name.is_word().then(|| name.range());
            is_word.or_else(|| unquoted(name))
        });
        // `x: …`, `{ a, b }: …`
        let is_function = it.is(at + 2, b':') && (it.is_word(at + 1) || it.is(at + 1, b'}'));
        let kind = [Kind::Key, Kind::Function][usize::from(is_function)];
        name.and_then(|name| outline.define(name, kind));
    }

    /// `with x;` and `let` are parts of a value.
    fn is_end(&self, it: &Statement, sign: u8, outline: &Outline<'_>) -> bool {
        if sign != b';' {
            return false;
        }
        let begin = equals(it).unwrap_or(0);
        let (mut parts, mut is_in_let) = (0_i32, false);
        for token in &it.tokens()[begin..] {
            match token.text(outline) {
                b"with" | b"assert" => parts += 1,
                b";" => parts -= 1,
                b"let" => is_in_let = begin > 0,
                b"in" => is_in_let = false,
                _ => {}
            }
        }
        parts <= 0 && !is_in_let
    }

    fn group(&self, it: &Statement, _outline: &Outline<'_>) -> Option<Scope> {
        equals(it).is_none().then_some(Scope::Variables)
    }
}

fn equals(it: &Statement) -> Option<usize> {
    let at = it.find(b"=")?;
    let is_binding =
        !it.is(at + 1, b'=') && (it.is_word(at.checked_sub(1)?) || it.is_string(at - 1));
    is_binding.then_some(at)
}

fn unquoted(token: Token) -> Option<Range<u32>> {
    let is_string = token.role == Role::String && token.end - token.start > 2;
    is_string.then(|| token.start + 1..token.end - 1)
}

fn path(it: &Statement, at: usize) -> Option<Range<u32>> {
    let first = it.name(at)?;
    let mut last = at;
    while it.is(last + 1, b':') && it.is(last + 2, b':') && it.is_word(last + 3) {
        last += 3;
    }
    Some(first.start..it.get(last)?.end)
}

/// Recognises the type of a resource.
fn is_path(it: &Statement) -> bool {
    let signs = it
        .tokens()
        .iter()
        .take_while(|it| it.is(b'@') || it.is(b':'));
    let range = path(it, signs.count());
    range.is_some_and(|range| it.last().is_some_and(|last| last.end == range.end))
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn terraform_has_resources_and_locals() {
        check(
            "terraform",
            "terraform {\n  required_version = \">= 1\"\n  backend \"s3\" {}\n}\nprovider \"aws\" { region = \"x\" }\nresource \"aws_instance\" \"web\" {\n  ami = \"${var.a[\"k\"]}\"\n  dynamic \"setting\" {\n    content { name = \"x\" }\n  }\n  user_data = <<-EOF\n    resource \"no\" \"no\" {\n  EOF\n}\ndata \"aws_ami\" \"ubuntu\" {\n}\nvariable \"region\" { # comment {\n  default = \"eu\"\n}\nlocals {\n  name = \"a\"\n  tags = {\n    inner = 1\n  }\n  list = [\n    1,\n  ]\n  sum = (1 +\n    2)\n}\noutput \"ip\" {\n  value = aws_instance.web.ip\n}\nmodule \"vpc\" {\n  source = \"./vpc\"\n}\n",
            "resource aws 5
             resource web 6-14
             resource ubuntu 15-16
             variable region 17-19
             constant name 21
             constant tags 22
             constant list 25
             constant sum 28
             resource ip 31-33
             module vpc 34-36",
        );
        check(
            "tfvars",
            "region = \"a\"\nsizes = {\n  a = 1\n}\n",
            "key region 1\nkey sizes 2",
        );
    }

    #[test]
    fn puppet_has_classes_and_resources() {
        check(
            "puppet",
            "# class no {\nclass apache::mod (\n  String $x = 'a',\n  Hash $h = {},\n) inherits apache {\n  $conf = \"${x}/conf\"\n  $map = { 'a' => 1 }\n  $sel = $x ? {\n    'a' => 1,\n  }\n  file { '/etc/apache':\n    ensure => file,\n    notify => Service['httpd'],\n  }\n  if $x == 'b' {\n    package { 'one': ensure => present; 'two': }\n  } else { }\n  class { 'other': }\n  @@user { \"virt\": }\n}\ndefine apache::vhost($port) {\n  $inner = 1\n}\nnode 'web1.example.com' {\n  include apache\n}\nfunction apache::f(Integer $a) >> String {\n  $local = 1\n}\ntype Apache::Mode = Enum['a', 'b']\nclass last\n{\n}\n",
            "class apache::mod 2-20
             variable apache::mod.conf 6
             variable apache::mod.map 7
             variable apache::mod.sel 8
             resource apache::mod./etc/apache 11
             resource apache::mod.one 16
             resource apache::mod.two 16
             resource apache::mod.other 18
             resource apache::mod.virt 19
             type apache::vhost 21-23
             variable apache::vhost.inner 22
             resource web1.example.com 24-26
             function apache::f 27-29
             type Apache::Mode 30
             class last 31-33",
        );
    }

    #[test]
    fn nix_has_outer_attributes() {
        check(
            "nix",
            "{ lib, stdenv, x ? { a = 1; }, ... }@args:\nlet\n  version = \"1.0\";\n  f = x: x + 1;\n  g = { a, b }: a;\nin\nstdenv.mkDerivation rec {\n  pname = \"hello\";\n  src = fetchurl {\n    url = \"mirror://${pname}\";\n  };\n  meta.license = lib.licenses.mit;\n  \"quoted-name\" = true;\n  y = let no = 1; in no;\n  script = ''\n    no = 1;\n    echo \"${version}\"\n  '';\n  inherit (lib) a b;\n  meta = with lib; {\n    description = \"x\";\n  };\n}\n",
            "key version 3
             function f 4
             function g 5
             key pname 8
             key src 9
             key license 12
             key quoted-name 13
             key y 14
             key script 15
             key meta 20",
        );
        check(
            "nix",
            "{ lib }:\nlib.mkDerivation (finalAttrs: {\n  pname = \"a\";\n  nativeBuildInputs = [ a b ] ++ lib.optionals (x == y) [ c ];\n})\n",
            "key pname 3\nkey nativeBuildInputs 4",
        );
    }
}
