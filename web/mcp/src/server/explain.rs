//! `explain`: how a query is understood, and its cost. Backends read their indexes, but no text.

use super::answer::{Answer, count};
use super::arguments::ExplainArguments;
use super::call::{Call, Failure, parse};
use frontend::query::interpreted_as;
use schema::message::{Expr, Want};

/// Share of the blocks, in percent, above which the index hardly helps.
const LARGE: u64 = 50;

const TOO_COMMON: &str = "; too common to be narrowed by the index: add a longer or rarer word";

impl Call {
    pub(super) async fn explain(&self, arguments: ExplainArguments) -> Result<String, Failure> {
        let mut answer = Answer::new(arguments.max_tokens)?;
        let (mut parsed, notes) = parse(&arguments.query, false)?;
        let query = parsed.query.clone();
        parsed.query = parsed.query.wanting(Want::Estimate, 0)?;
        let result = self.find(&parsed, None).await?;
        let explain = result.explain();
        let (all, read) = (explain.sum.blocks, explain.sum.candidates);
        let share = |part: u64| (part * 100).checked_div(all).unwrap_or_default();
        let (part, generation) = (share(read), result.generation());
        let blocks = count(all, "block", "blocks");
        let tail = format!("reads {read} of {blocks} of 4 KiB ({part} %), generation {generation}");
        answer.reserve(&tail);
        answer.push(&format!("read as: {}\n", query.interpreted_as()));
        answer.push_all(notes.iter().map(|note| format!("note: {note}\n")));
        let patterns = query.expr.patterns().into_iter().zip(&explain.estimates);
        answer.push_all(patterns.map(|(pattern, estimate)| {
            let shown = interpreted_as(&Expr::Pattern(pattern.clone()));
            let (blocks, part) = (estimate.candidates, share(estimate.candidates));
            let advice = if part > LARGE { TOO_COMMON } else { "" };
            format!("{shown}: {blocks} blocks, {part} %{advice}\n")
        }));
        Ok(answer.finish(&tail))
    }
}
