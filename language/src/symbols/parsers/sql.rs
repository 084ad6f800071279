//! SQL.

use crate::symbols::blocks::{Grammar, Open, Scope, Statement};
use crate::symbols::{Kind, Outline, Role};
use std::ops::Range;

/// Lookahead behind `create`.
const MODIFIERS_MAX: usize = 16;

const KINDS: &[(&[u8], Kind)] = &[
    (b"table", Kind::Table),
    (b"view", Kind::Table),
    (b"index", Kind::Table),
    (b"sequence", Kind::Table),
    (b"synonym", Kind::Table),
    (b"function", Kind::Function),
    (b"procedure", Kind::Function),
    (b"proc", Kind::Function),
    (b"aggregate", Kind::Function),
    (b"trigger", Kind::Function),
    (b"event", Kind::Function),
    (b"macro", Kind::Macro),
    (b"type", Kind::Type),
    (b"domain", Kind::Type),
    (b"schema", Kind::Module),
    (b"database", Kind::Module),
    (b"package", Kind::Module),
];

/// Words that end the search.
const OTHERS: &[&[u8]] = &[
    b"user",
    b"access",
    b"role",
    b"extension",
    b"server",
    b"login",
    b"policy",
    b"cast",
    b"operator",
    b"publication",
    b"subscription",
    b"on",
    b"as",
    b"for",
    b"rule",
    b"statistics",
];

pub(crate) struct Sql;

impl Grammar for Sql {
    fn open(&mut self, _it: &Statement, _outline: &mut Outline<'_>) -> Open {
        Open::Part
    }

    fn end(&mut self, it: &Statement, _sign: u8, outline: &mut Outline<'_>) {
        if !it.word(0, outline).eq_ignore_ascii_case(b"create") {
            return;
        }
        let Some((at, kind)) = object(it, outline) else {
            return;
        };
        let Some((name, next)) = name(it, behind_options(it, at + 1, outline), outline) else {
            return;
        };
        let Some(index) = outline.define(name, kind) else {
            return;
        };
        outline.enter(Some(index));
        if it.word(at, outline).eq_ignore_ascii_case(b"table") && it.is(next, b'(') {
            columns(it, next + 1, outline);
        }
        outline.leave(it.end());
        let is_shell = kind == Kind::Type && it.get(next).is_none();
        outline.definition(index).is_declaration = is_shell;
    }

    fn is_end(&self, _it: &Statement, sign: u8, _outline: &Outline<'_>) -> bool {
        sign == b';'
    }

    fn restart(&self, word: &[u8]) -> Option<Scope> {
        word.eq_ignore_ascii_case(b"create").then_some(Scope::Top)
    }
}

fn object(it: &Statement, outline: &Outline<'_>) -> Option<(usize, Kind)> {
    for at in 1..it.tokens().len().min(MODIFIERS_MAX) {
        let word = it.word(at, outline);
        let is_it = |other: &[u8]| word.eq_ignore_ascii_case(other);
        if OTHERS.iter().any(|other| is_it(other)) {
            return None;
        }
        if let Some((_, kind)) = KINDS.iter().find(|(object, _)| is_it(object)) {
            return Some((at, *kind));
        }
    }
    None
}

fn behind_options(it: &Statement, mut at: usize, outline: &Outline<'_>) -> usize {
    const OPTIONS: &[&[u8]] = &[b"if", b"not", b"exists", b"concurrently", b"body"];
    let is_option = |at| {
        OPTIONS
            .iter()
            .any(|option| it.word(at, outline).eq_ignore_ascii_case(option))
    };
    while is_option(at) {
        at += 1;
    }
    at
}

/// Last part of `"schema".name`, and the index behind it.
fn name(it: &Statement, mut at: usize, outline: &Outline<'_>) -> Option<(Range<u32>, usize)> {
    loop {
        let bracket = usize::from(it.is(at, b'['));
        let name = it.get(at + bracket)?;
        let next = at + 1 + 2 * bracket;
        if it.is(next, b'.') {
            at = next + 1;
            continue;
        }
        let is_none = name.text(outline).eq_ignore_ascii_case(b"on");
        let range = if name.role == Role::String {
            name.start + 1..name.end.saturating_sub(1)
        } else {
            name.range()
        };
        let is_name = name.is_word() || name.role == Role::String && range.start < range.end;
        return (is_name && !is_none).then_some((range, next));
    }
}

fn columns(it: &Statement, mut at: usize, outline: &mut Outline<'_>) {
    const CONSTRAINTS: &[&[u8]] = &[
        b"constraint",
        b"primary",
        b"foreign",
        b"unique",
        b"check",
        b"key",
        b"index",
        b"like",
        b"exclude",
        b"period",
        b"fulltext",
        b"spatial",
    ];
    let mut is_begin = true;
    while let Some(token) = it.get(at).filter(|token| !token.is(b')')) {
        let word = it.word(at, outline);
        let is_constraint = CONSTRAINTS.iter().any(|it| it.eq_ignore_ascii_case(word));
        if is_begin
            && !is_constraint
            && let Some((name, _)) = name(it, at, outline)
        {
            outline.define(name, Kind::Field);
        }
        is_begin = token.is(b',');
        at = it.next(at);
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn objects_have_names() {
        check(
            "sql",
            "-- create table no (\nCREATE TABLE IF NOT EXISTS public.\"User List\" (\n  id int PRIMARY KEY,\n  name text DEFAULT 'create table x;',\n  PRIMARY KEY (id, name)\n);\ncreate temporary table `a`.`b` (x int);\ncreate unique index concurrently if not exists idx_a on t (a);\ncreate index on t (b);\nCREATE OR REPLACE VIEW v AS SELECT 1;\ncreate materialized view mv as select 2;\ncreate or replace function f(a int) returns trigger as $$\nbegin\n  create table no (x int);\nend;\n$$ language plpgsql;\ncreate function g() returns int as $body$\n  select 1;\n$body$ language sql;\ncreate definer = `root`@`%` procedure p() begin select 1; end;\ncreate trigger tr before insert on t for each row execute function f();\ncreate type mood as enum ('a', 'b');\nCREATE PROCEDURE [dbo].[proc_x] @a int AS SELECT 1\nGO\nCREATE SCHEMA s\nGO\ncreate user u;\nalter table t add column c int;\ncreate virtual table ft using fts5(a);\ncreate domain d as int;\nselect * from x where y = 'it''s';\ncreate type shell;\ncreate access method m type index handler h;\ncreate package body pkg as end;\n",
            "table User List 2-6
             field User List.id 3
             field User List.name 4
             table b 7
             field b.x 7
             table idx_a 8
             table v 10
             table mv 11
             function f 12-16
             function g 17-18
             function p 20
             function tr 21
             type mood 22
             function proc_x 23-24
             module s 25-26
             table ft 29
             type d 30
             type shell; 32
             module pkg 34",
        );
    }
}
