//! Restrictions of matches to places: `in:`, `kind:` of symbols, `parent:`, and names of symbols.
//!
//! A restriction applies to the terms beside it, as far as these have none of their own. Values of
//! one key are alternatives.

use super::lex::slashed;
use language::symbols::{Class, Kind};
use schema::message::{Expr, Pattern, Place, Role, Syntax};

pub(super) const CHANGES: u32 = 1 << Class::Added as u32 | 1 << Class::Removed as u32;

const CLASSES: u32 = ((1 << Class::ALL.len()) - 1) & !CHANGES;

pub(super) const ANY_NAME: &str = ".";

/// Place of the matches of some terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Restriction {
    /// Bits of [`Place::classes`]; `None`: any.
    pub(super) classes: Option<u32>,
    /// Bits of [`Place::kinds`]; `None`: any.
    pub(super) kinds: Option<u32>,
    /// Regular expression for the name of the parent.
    pub(super) parent: Option<String>,
    /// Terms are names of symbols.
    pub(super) symbols: bool,
}

impl Restriction {
    /// True if terms beside it are names of symbols, or it finds symbols alone.
    pub(super) fn is_of_symbols(&self) -> bool {
        self.symbols || self.kinds.is_some() || self.parent.is_some()
    }

    /// Adds alternatives of one key, or leaves some out. Returns false if nothing is left.
    pub(super) fn add(&mut self, value: Value, negated: bool) -> bool {
        let (mask, bits, all) = match value {
            Value::Classes(bits) if bits & CHANGES != 0 => (&mut self.classes, bits, CHANGES),
            Value::Classes(bits) => (&mut self.classes, bits, CLASSES),
            Value::Kinds(bits) => (&mut self.kinds, bits, Kind::ALL_BITS),
        };
        let new = match (*mask, negated) {
            (None, false) => bits,
            (Some(old), false) => old | bits,
            (old, true) => old.unwrap_or(all) & !bits,
        };
        *mask = Some(new);
        new != 0
    }

    pub(super) fn apply(&self, expr: &mut Expr) {
        if self.is_of_symbols() && !has_definition(expr) {
            for_each(expr, &mut |pattern| {
                if pattern.place.role == Role::Any {
                    pattern.place = Place {
                        role: Role::Definition,
                        ..Place::default()
                    };
                }
            });
        }
        for_each(expr, &mut |pattern| {
            let place = &mut pattern.place;
            if place.role == Role::Definition {
                if place.kinds == 0 {
                    place.kinds = self.kinds.unwrap_or_default();
                }
                if place.parent.is_empty() {
                    place.parent = self.parent.clone().unwrap_or_default();
                }
            } else if place.classes == 0 {
                place.classes = self.classes.unwrap_or_default();
            }
        });
    }
}

/// Values of `in:` or `kind:`, as bits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Classes(u32),
    Kinds(u32),
}

fn for_each(expr: &mut Expr, change: &mut impl FnMut(&mut Pattern)) {
    match expr {
        Expr::Pattern(pattern) if !pattern.in_path => change(pattern),
        Expr::Pattern(_) | Expr::Filter(_) => {}
        Expr::All(parts) | Expr::Any(parts) => {
            parts.iter_mut().for_each(|part| for_each(part, change));
        }
        Expr::Not(inner) | Expr::Line(inner) => for_each(inner, change),
    }
}

fn has_definition(expr: &Expr) -> bool {
    let mut patterns = expr.patterns().into_iter();
    patterns.any(|pattern| pattern.place.role == Role::Definition)
}

pub(super) fn any_symbol() -> Expr {
    Expr::Pattern(Pattern {
        text: ANY_NAME.to_owned(),
        syntax: Syntax::Regexp,
        place: Place {
            role: Role::Definition,
            ..Place::default()
        },
        ..Pattern::default()
    })
}

pub(super) fn class_bits(name: &str) -> Option<u32> {
    let class = Class::ALL.into_iter().find(|class| class.name() == name)?;
    Some(1 << class as u32)
}

/// Classes that all patterns in text have in common; 0 for any.
pub(super) fn common_classes(expr: &Expr) -> u32 {
    let patterns = expr.patterns().into_iter();
    let in_text = patterns.filter(|it| !it.in_path && it.place.role == Role::Any);
    let mut classes = in_text.map(|pattern| pattern.place.classes);
    let first = classes.next().unwrap_or_default();
    if classes.all(|other| other == first) {
        first
    } else {
        0
    }
}

/// Terms that restrict matches to these classes.
pub(super) fn classes_in_query(classes: u32) -> impl Iterator<Item = String> {
    let named = Class::ALL.into_iter();
    let named = named.filter(move |class| classes >> *class as u32 & 1 == 1);
    named.map(|class| format!("in:{}", class.name()))
}

pub(super) fn definition_in_query(place: &Place) -> impl Iterator<Item = String> {
    let kinds = Kind::names_of(place.kinds).into_iter();
    let kinds = kinds.map(|name| format!("kind:{name}"));
    let parent = (!place.parent.is_empty()).then(|| format!("parent:{}", slashed(&place.parent)));
    kinds.chain(parent)
}
