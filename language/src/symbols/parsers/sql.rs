//! SQL.

use crate::symbols::blocks::{Grammar, Open, Scope, Statement};
use crate::symbols::{Kind, Outline, Role};
use std::ops::Range;

/// Lookahead behind `create`.
const MODIFIERS_MAX: usize = 16;

const KINDS: [(&str, Kind); 5] = [
    ("table view index sequence synonym", Kind::Table),
    (
        "function procedure proc aggregate trigger event",
        Kind::Function,
    ),
    ("macro", Kind::Macro),
    ("type domain", Kind::Type),
    ("schema database package", Kind::Module),
];

/// Words that end the search.
const OTHERS: &str = "user access role extension server login policy cast operator publication \
                      subscription on as for rule statistics";

const CONSTRAINTS: &str = "constraint primary foreign unique check key index like exclude period \
                           fulltext spatial";

pub(crate) struct Sql;

impl Grammar for Sql {
    fn open(&mut self, _it: &Statement, _outline: &mut Outline<'_>) -> Open {
        Open::Part
    }

    fn end(&mut self, it: &Statement, _sign: u8, outline: &mut Outline<'_>) {
        if !it.word(0, outline).eq_ignore_ascii_case(b"create") {
            return;
        }
        if let Some((at, kind)) = object(it, outline)
            && let Some((name, next)) = name(it, behind_options(it, at + 1, outline), outline)
            && let Some(index) = outline.define(name, kind)
        {
            outline.enter(Some(index));
            if it.word(at, outline).eq_ignore_ascii_case(b"table") && it.is(next, b'(') {
                columns(it, next + 1, outline);
            }
            outline.leave(it.end());
            let is_shell = kind == Kind::Type && it.get(next).is_none();
            outline.definition(index).is_declaration = is_shell;
        }
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
        if is_any(OTHERS, word) {
            return None;
        }
        if let Some((_, kind)) = KINDS.iter().find(|(words, _)| is_any(words, word)) {
            return Some((at, *kind));
        }
    }
    None
}

fn behind_options(it: &Statement, mut at: usize, outline: &Outline<'_>) -> usize {
    while is_any("if not exists concurrently body", it.word(at, outline)) {
        at += 1;
    }
    at
}

fn is_any(words: &str, word: &[u8]) -> bool {
    let mut words = words.split(' ');
    words.any(|it| word.eq_ignore_ascii_case(it.as_bytes()))
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
    let mut is_begin = true;
    while let Some(token) = it.get(at).filter(|token| !token.is(b')')) {
        let word = it.word(at, outline);
        let is_constraint = is_any(CONSTRAINTS, word);
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
