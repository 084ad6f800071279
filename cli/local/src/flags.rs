//! Flags of ripgrep, their meaning, and the parser of a command line.
//!
//! A flag is a row of a table. The last flag of a kind wins, as in ripgrep.

mod parser;
mod table;
mod value;

pub(crate) use parser::parse;
pub(crate) use table::FLAGS;

use crate::arguments::Arguments;
use std::ffi::OsStr;

pub(crate) struct Flag {
    pub(crate) short: Option<char>,
    pub(crate) long: &'static str,
    pub(crate) alias: Option<&'static str>,
    /// Name of the switch with the opposite effect.
    pub(crate) negated: Option<&'static str>,
    pub(crate) effect: Effect,
    /// One line of the help; empty if another flag's line covers it.
    pub(crate) help: &'static str,
}

#[derive(Clone, Copy)]
pub(crate) enum Effect {
    /// `false` for the negated name.
    Switch(fn(&mut Arguments, bool)),
    /// With the name of the value in the help.
    Value(
        &'static str,
        fn(&mut Arguments, &OsStr) -> anyhow::Result<()>,
    ),
    /// Refused, with the reason and what to use instead.
    Refused(&'static str),
}

impl Flag {
    const fn switch(
        long: &'static str,
        effect: fn(&mut Arguments, bool),
        help: &'static str,
    ) -> Flag {
        Flag::new(long, Effect::Switch(effect), help)
    }

    const fn value(
        long: &'static str,
        value: &'static str,
        effect: fn(&mut Arguments, &OsStr) -> anyhow::Result<()>,
        help: &'static str,
    ) -> Flag {
        Flag::new(long, Effect::Value(value, effect), help)
    }

    const fn refused(long: &'static str, reason: &'static str) -> Flag {
        Flag::new(long, Effect::Refused(reason), "")
    }

    const fn new(long: &'static str, effect: Effect, help: &'static str) -> Flag {
        Flag {
            short: None,
            long,
            alias: None,
            negated: None,
            effect,
            help,
        }
    }

    const fn short(mut self, short: char) -> Flag {
        self.short = Some(short);
        self
    }

    const fn alias(mut self, alias: &'static str) -> Flag {
        self.alias = Some(alias);
        self
    }

    const fn negated(mut self, negated: &'static str) -> Flag {
        self.negated = Some(negated);
        self
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.long), self.alias, self.negated]
            .into_iter()
            .flatten()
    }
}
