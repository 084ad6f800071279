//! `trawl search`: asks a server, or searches an index directory, and prints what matches.
//!
//! Both ways give the same matches in the same order; [`local`] and [`remote`] find them, [`output`]
//! decides what of them is printed in which order, [`lines`] and [`json`] write them.

mod arguments;
mod checked;
mod json;
mod lines;
mod links;
mod local;
mod look;
mod output;
mod progress;
mod query;
mod remote;
mod rows;
mod shelf;
mod summary;
mod tally;
mod whole;

pub(crate) use arguments::{Arguments, Asked, Filters, Place};
pub(crate) use query::{Question, Refused, report_bad_query, report_notices};
pub(crate) use summary::plan_in_words;

use anyhow::{Result, bail};
use backend::pattern;
use frontend::BadQuery;
use look::{Look, What};
use output::Output;
use schema::message::Expr;
use std::process::ExitCode;
use summary::Summary;

/// Something was not searched.
pub(crate) const INCOMPLETE: u8 = 3;

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let look = Look::new(arguments);
    match search(arguments, &look) {
        Ok(Ok(summary)) => Ok(summary.report(arguments.explain)),
        Ok(Err(refused)) => Ok(refused.report()),
        Err(error) => Err(error),
    }
}

fn search(arguments: &Arguments, look: &Look) -> Result<Result<Summary, Refused>> {
    let asked = Question::new(&arguments.asked, &arguments.filters).and_then(|question| {
        let question = question.context(look.before.max(look.after));
        let over_lines = is_over_lines(question.parse()?.query.expr(), false);
        let look = look.clone().over_lines(over_lines);
        let (want, limit) = look.what.wish(arguments.limit);
        let question = question.wanting(want, limit);
        let parsed = question.parse()?;
        Ok((question, parsed, look))
    });
    let (question, parsed, look) = match asked {
        Ok(asked) => asked,
        Err(refused) => return Ok(Err(refused)),
    };
    if arguments.stream && parsed.query.limit() > 0 {
        bail!(
            "--stream prints matches as they are found, and the best N are known at the end: leave \
             out count:N or --stream"
        );
    }
    report_notices(&parsed.notices);
    let mut output = Output::new(look.limited(parsed.query.limit()));
    let found = match &arguments.place.index {
        Some(index) => local::search(index, &parsed, &mut output),
        None => remote::search(
            &arguments.place.server(),
            &question,
            &parsed.query,
            &mut output,
        ),
    };
    let summary = match found.map_err(|error| error.downcast::<BadQuery>()) {
        Ok(summary) => summary,
        Err(Ok(bad)) => return Ok(Err(question.refused(bad))),
        Err(Err(error)) => return Err(error),
    };
    output.finish(&summary)?;
    Ok(Ok(summary))
}

/// Whether what is found may go over lines.
fn is_over_lines(expr: &Expr, negated: bool) -> bool {
    match expr {
        Expr::Pattern(it) => !negated && !it.in_path && pattern::is_multiline(it),
        Expr::All(parts) | Expr::Any(parts) => {
            parts.iter().any(|part| is_over_lines(part, negated))
        }
        Expr::Not(inner) => is_over_lines(inner, !negated),
        Expr::Line(_) | Expr::Filter(_) => false,
    }
}

impl What {
    /// What of the matches is to be sent, and how many.
    fn wish(self, limit: Option<u64>) -> (Option<&'static str>, Option<u64>) {
        match self {
            What::Nothing => (Some("documents"), Some(1)),
            What::Files => (Some("documents"), limit),
            What::Total => (Some("count"), None),
            What::CountedTotal => (None, None),
            What::Lines | What::Json | What::Counts | What::MatchCounts => (None, limit),
        }
    }
}
