//! PHP. A head may follow other tokens of a statement, as text behind `?>` does not end it.

use crate::symbols::blocks::{Grammar, Heads, Open, Scope, Statement};
use crate::symbols::{Kind, Outline, Role, Token};

/// Lookahead for `define`.
const DEFINE_TOKENS_MAX: usize = 16;

pub(crate) struct Php;

impl Grammar for Php {
    const HEADS: Heads = &[
        (Scope::Top, "class interface trait namespace"),
        (Scope::Methods, "function abstract final"),
    ];

    fn open(&mut self, it: &Statement, outline: &mut Outline<'_>) -> Open {
        match head(it, outline) {
            Some((None, _)) => Open::Scope(None, Scope::Methods),
            Some((Some(name), kind)) => {
                let scope = match kind {
                    Kind::Function | Kind::Method => Scope::Body,
                    Kind::Module => Scope::Top,
                    _ => Scope::Methods,
                };
                Open::Scope(outline.define(name.range(), kind), scope)
            }
            None if it.scope == Scope::Methods => {
                properties(it, outline);
                Open::Ignored(None)
            }
            None => Open::Scope(None, Scope::Body),
        }
    }

    fn end(&mut self, it: &Statement, _sign: u8, outline: &mut Outline<'_>) {
        let at = usize::from(it.word(0, outline) == b"php");
        match (it.scope, it.word(at, outline)) {
            (_, b"namespace") => it.define_path(at + 1, Kind::Module, outline),
            (Scope::Top, b"const") => constants(it, outline),
            (Scope::Methods, b"case") => {
                outline.define_token(it.name(at + 1), Kind::Enumerator);
            }
            (Scope::Methods, b"use") => {}
            (Scope::Methods, _) => member(it, outline),
            (Scope::Top, word) if word.starts_with(b"$") => {
                let is_assigned = it.is(at + 1, b'=') && !it.is(at + 2, b'=');
                if let Some(name) = it.get(at).filter(|_| is_assigned) {
                    outline.define(name.start + 1..name.end, Kind::Variable);
                }
            }
            _ => defined(it, outline),
        }
    }
}

/// Name and kind; an anonymous class has no name.
fn head(it: &Statement, outline: &Outline<'_>) -> Option<(Option<Token>, Kind)> {
    let mut at = 0;
    while it.get(at).is_some() {
        if let Some(head) = head_at(it, at, outline) {
            return Some(head);
        }
        at = it.next(at);
    }
    None
}

fn head_at(it: &Statement, at: usize, outline: &Outline<'_>) -> Option<(Option<Token>, Kind)> {
    let word = it.get(at).filter(|token| token.role == Role::Keyword)?;
    let (text, name) = (word.text(outline), it.get(at + 1));
    let before = at.checked_sub(1);
    let is_new = before.is_some_and(|before| it.word(before, outline) == b"new");
    let is_value = before.is_some_and(|before| it.is(before, b':') && it.is_adjacent(at));
    let kind = match text {
        b"function" => {
            let name = it.get(at + 1 + usize::from(it.is(at + 1, b'&')))?;
            let kind = Kind::of_function(it.scope == Scope::Methods);
            return name.is_word().then_some((Some(name), kind));
        }
        b"class" if is_new => return Some((None, Kind::Class)),
        _ if is_value => return None,
        b"class" => Kind::Class,
        b"interface" | b"trait" => Kind::Interface,
        b"enum" => Kind::Enum,
        b"namespace" => {
            let path = it.last().zip(name).filter(|(_, first)| first.is_word());
            let path = path.map(|(last, first)| Token::new(first.start..last.end, first.role));
            return Some((path, Kind::Module));
        }
        _ => return None,
    };
    name.filter(Token::is_word).map(|name| (Some(name), kind))
}

fn member(it: &Statement, outline: &mut Outline<'_>) {
    match head(it, outline) {
        Some((Some(name), kind)) => drop(outline.declare(name.range(), kind)),
        _ if is_constant(it, outline) => constants(it, outline),
        _ => properties(it, outline),
    }
}

fn is_constant(it: &Statement, outline: &Outline<'_>) -> bool {
    let words = it.tokens().iter().take_while(|token| token.is_word());
    words.take(4).any(|word| word.text(outline) == b"const")
}

fn constants(it: &Statement, outline: &mut Outline<'_>) {
    let mut at = 0;
    while let Some(token) = it.get(at) {
        let is_next = |at: usize| it.is_word(at) && it.is(at + 1, b'=') && !it.is(at + 2, b'=');
        let is_first = token.is_word() && is_next(at + 1);
        if (is_first && at < 4 || token.is(b',') && is_next(at + 1))
            && let Some(name) = it.get(at + 1)
        {
            outline.define(name.range(), Kind::Constant);
        }
        at = it.next(at);
    }
}

fn properties(it: &Statement, outline: &mut Outline<'_>) {
    let is_variable = |token: &Token, outline: &Outline<'_>| {
        token.is_word() && token.text(outline).starts_with(b"$")
    };
    let mut at = 0;
    let mut is_expected = true;
    while let Some(token) = it.get(at) {
        if is_expected && is_variable(&token, outline) && at > 0 {
            outline.define(token.start + 1..token.end, Kind::Field);
            is_expected = false;
        }
        is_expected |= token.is(b',');
        at = it.next(at);
    }
}

/// `define('path\NAME', …)`, `defined('NAME') or define(…)`
fn defined(it: &Statement, outline: &mut Outline<'_>) {
    for at in 0..it.tokens().len().min(DEFINE_TOKENS_MAX) {
        let name = it.get(at + 2).filter(|name| name.role == Role::String);
        if it.is(at + 1, b'(')
            && it.word(at, outline) == b"define"
            && let Some(name) = name.filter(|name| name.end > name.start + 2)
        {
            let text = name.text(outline);
            let path = memchr::memrchr(b'\\', &text[..text.len() - 1]).unwrap_or(0) as u32;
            outline.define(name.start + 1 + path..name.end - 1, Kind::Constant);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn types_have_members() {
        check(
            "php",
            "<?php\ndeclare(strict_types=1);\nnamespace App\\Models;\nuse Foo\\Bar;\nuse function Foo\\baz;\n#[Attr([1, \"]\"])]\nabstract class A extends B implements C {\n    use T { x as y; }\n    const X = 1 << 2, Y = [2, 3];\n    final public const string Z = 'z';\n    public ?int $a = 1, $b;\n    private static array $c = ['x' => 'y'];\n    abstract protected function f(int $x): ?string;\n    public static function &g(array $y = []): static {\n        $local = 1;\n        $h = function () use ($x) { return new class { function deep() {} }; };\n        return $x::class;\n    }\n    public function list() { foo(function ($x) { }); }\n    public string $hook { get => 1; }\n}\ninterface I { const K = 1; function m(); }\ntrait T { private $p; function t() {} }\nenum Suit: string { case Hearts = 'H'; case Spades; public function s() {} }\nfinal readonly class V {}\nnamespace Other\\Name { function n() {} }\n",
            "module App\\Models 3
             class A 7-21
             constant A.X 9
             constant A.Y 9
             constant A.Z 10
             field A.a 11
             field A.b 11
             field A.c 12
             method A.f; 13
             method A.g 14-18
             method A.g.deep 16
             method A.list 19
             field A.hook 20
             interface I 22
             constant I.K 22
             method I.m; 22
             interface T 23
             field T.p 23
             method T.t 23
             enum Suit 24
             enumerator Suit.Hearts 24
             enumerator Suit.Spades 24
             method Suit.s 24
             class V 25
             module Other\\Name 26
             function Other\\Name.n 26",
        );
    }

    #[test]
    fn templates_have_functions_and_no_text() {
        check(
            "php",
            "<html>function no() { it's }\n<?php // comment ?>\n<p>don't class Nope {</p>\n<?php if ($x == 1): ?>\n<b>\n<?php function shown() { ?>\n  <i>{ class No { }</i>\n<?php } ?>\n<?php endif;\n$config = array();\n$config['a'] = 1;\nif (!function_exists('old')) {\n    function old() { return \"{$a['b']}\"; }\n}\ndefine('A\\ONE', 1);\ndefined('TWO') or define(\"TWO\", 2);\nconst THREE = 3;\n$t = <<<EOT\nfunction no() {\nEOT;\n$f = fn($x) => $x;\nfunction\nlast_one(\n  $a\n)\n{\n}\n",
            "function shown 6-8
             variable config 10
             function old 13
             constant ONE 15
             constant TWO 16
             constant THREE 17
             variable t 18
             variable f 21
             function last_one 23-27",
        );
    }
}
