//! ANTLR, without actions in braces.

use crate::symbols::blocks::{Grammar, Heads, Open, Scope, Statement};
use crate::symbols::{Kind, Outline, is_of};

#[derive(Default)]
pub(crate) struct Antlr {
    is_in_rule: bool,
    rule: Option<u32>,
}

impl Grammar for Antlr {
    const HEADS: Heads = &[(Scope::Top, "fragment grammar lexer parser")];

    fn open(&mut self, it: &Statement, outline: &mut Outline<'_>) -> Open {
        let is_block = is_of("options tokens channels catch finally", it.word(0, outline));
        let is_apart = it.is(0, b'@') || it.is(0, b':') || is_block;
        if is_apart && !self.is_in_rule {
            Open::Ignored(None)
        } else {
            Open::Part
        }
    }

    fn end(&mut self, it: &Statement, sign: u8, outline: &mut Outline<'_>) {
        if let Some(rule) = self.rule.take() {
            outline.definition(rule).end = it.end();
        }
        let is_modifier = is_of("fragment protected public private", it.word(0, outline));
        let at = usize::from(is_modifier);
        if self.is_in_rule || sign == b'\n' {
            self.is_in_rule = false;
        } else if sign == b':' {
            self.rule = outline.define_token(it.name(at), Kind::Rule);
            self.is_in_rule = self.rule.is_some();
        } else if let Some(at) = (0..2).find(|at| it.word(*at, outline) == b"grammar") {
            outline.define_token(it.name(at + 1), Kind::Module);
        }
    }

    fn is_end(&self, it: &Statement, sign: u8, _outline: &Outline<'_>) -> bool {
        sign == b';' || sign == b':' && !self.is_in_rule && !it.is(0, b'@')
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn grammars_have_rules() {
        check(
            "antlr",
            "lexer grammar Expr;\noptions { tokenVocab = X; }\nimport Common;\n@header {\npackage a; // no : x;\n}\n@parser::members { int x() { return 1; } }\ntokens { A, B }\nprog: stat+ EOF ;\nstat\n    : expr NEWLINE # print\n    | ID '=' expr ';' { a: b; }\n    ;\nexpr returns [int v] locals [int i]\n@init { x = 1; }\n    : left=expr op=('*'|'/') expr {f();}\n    ;\nfragment DIGIT : [0-9] ;\nSTRING : '\"' ~[\"\\\\\\r\\n;:]* '\"' -> type(X) ;\nBRACKET : '[' | [\\]] | '\\'' ;\nmode INSIDE;\nWS : [ \\t]+ -> skip ; // : c;\n",
            "module Expr 1
             rule prog 9
             rule stat 10-12
             rule expr 14-16
             rule DIGIT 18
             rule STRING 19
             rule BRACKET 20
             rule WS 22",
        );
    }
}
