//! Parser of a command line.

use super::{Effect, FLAGS, Flag};
use crate::arguments::{Arguments, Special};
use anyhow::{Context, Result, bail};
use lexopt::Arg;
use std::ffi::OsString;

/// Similarity above which a name is suggested for an unknown one.
const SIMILARITY_MIN: f64 = 0.6;

const UNRESTRICTED_MAX: usize = 3;

pub(crate) fn parse(words: Vec<OsString>) -> Result<Arguments> {
    let mut arguments = Arguments::default();
    let mut parser = lexopt::Parser::from_args(words);
    while let Some(argument) = parser.next().context("invalid CLI arguments")? {
        let (shown, flag, is_negated) = match argument {
            Arg::Value(value) => {
                arguments.positional.push(value);
                continue;
            }
            Arg::Short(short) => {
                if let Some(special) = special(&short.to_string()) {
                    arguments.special = Some(special);
                    continue;
                }
                let flag = FLAGS.iter().find(|flag| flag.short == Some(short));
                let Some(flag) = flag else {
                    bail!("unrecognized flag -{short}");
                };
                (format!("-{short}"), flag, false)
            }
            Arg::Long(name) => {
                if let Some(special) = special(name) {
                    arguments.special = Some(special);
                    continue;
                }
                let Some(flag) = find(name) else {
                    bail!("unrecognized flag --{name}{}", suggestion(name));
                };
                (format!("--{name}"), flag, flag.negated == Some(name))
            }
        };
        let result = match flag.effect {
            Effect::Switch(effect) => {
                effect(&mut arguments, !is_negated);
                Ok(())
            }
            Effect::Value(_, effect) => {
                let missing = || format!("missing value for flag {shown}");
                let value = parser.value().with_context(missing)?;
                effect(&mut arguments, &value)
            }
            Effect::Refused(reason) => bail!("{shown}: {reason}"),
        };
        result.with_context(|| format!("error parsing flag {shown}"))?;
        if arguments.unrestricted > UNRESTRICTED_MAX {
            bail!("error parsing flag {shown}: flag can only be repeated up to 3 times");
        }
    }
    Ok(arguments)
}

fn special(name: &str) -> Option<Special> {
    match name {
        "h" => Some(Special::ShortHelp),
        "help" => Some(Special::LongHelp),
        "V" => Some(Special::ShortVersion),
        "version" => Some(Special::LongVersion),
        "pcre2-version" => Some(Special::Pcre2Version),
        _ => None,
    }
}

fn find(name: &str) -> Option<&'static Flag> {
    FLAGS
        .iter()
        .find(|flag| flag.names().any(|known| known == name))
}

fn suggestion(name: &str) -> String {
    let names = FLAGS.iter().flat_map(Flag::names);
    let similar = names.filter(|known| strsim::sorensen_dice(known, name) >= SIMILARITY_MIN);
    let similar: Vec<_> = similar.map(|name| format!("--{name}")).collect();
    if similar.is_empty() {
        return String::new();
    }
    format!(
        "\n\nsimilar flags that are available: {}",
        similar.join(", ")
    )
}
