//! What a query would cost, without searching for it: the index is asked, no text is read.

mod cheaper;

use super::limits::HEAVY_BLOCKS;
use super::openapi::params as doc;
use super::openapi::problems::Searching;
use super::params::{Params, QUERY};
use super::problem::Problem;
use super::{App, api};
use crate::render::explain::{Class, CostJson, ExplainPage, share};
use axum::extract::State;
use axum::response::Response;
use frontend::BackendStatus;
use frontend::SearchResult;
use schema::message::Want;

/// Processor time that a block of 4 KiB takes to be read, in microseconds: on 514 MB of Debian source
/// counting `arse`, `printf` and `return` takes 1.5 to 1.9, and to send all their matches about 5.
const BLOCK_US: f64 = 2.0;

/// Bytes of a block when no backend says how many there are.
const BLOCK_BYTES: u64 = 4096;

/// What a query would cost.
#[utoipa::path(
    get, path = "/api/v2/explain", operation_id = "explain", tag = "search",
    params(doc::Query),
    responses((status = 200, description = "What the query would cost", body = ExplainPage), Searching)
)]
pub(super) async fn explain(State(app): State<App>, params: Params) -> Result<Response, Problem> {
    params.expect(&[QUERY])?;
    let mut parsed = params.parsed()?;
    let query = parsed.query.clone();
    parsed.query = parsed.query.wanting(Want::Estimate, 0)?;
    let search = api::start(&app, &params, &parsed).await?;
    let answer = api::finished(&search, Some(&parsed)).await?;
    let cost = cost(&answer, &app.frontend.backends());
    let cheaper = cheaper::suggestions(&query, &answer.explain().estimates, &cost);
    let page = ExplainPage::new(&query, &parsed.notices, &answer, cost, cheaper);
    Ok(api::json(&page))
}

fn cost(answer: &SearchResult, backends: &[BackendStatus]) -> CostJson {
    let (explain, phases) = (answer.explain(), answer.phases());
    let blocks = explain.candidates;
    let verify_us = blocks as f64 * BLOCK_US;
    let estimate_us = (phases.plan_us + phases.candidates_us) as f64;
    CostJson {
        blocks,
        of: explain.blocks,
        share: share(blocks, explain.blocks),
        bytes: blocks.saturating_mul(block_bytes(backends)),
        milliseconds: (estimate_us + verify_us).round() / 1000.0,
        class: match blocks > HEAVY_BLOCKS {
            true => Class::Heavy,
            false => Class::Light,
        },
    }
}

/// How many bytes a block has in the mean.
fn block_bytes(backends: &[BackendStatus]) -> u64 {
    let blocks: u64 = backends.iter().map(|backend| backend.blocks).sum();
    let bytes: u64 = backends.iter().map(|backend| backend.text_bytes).sum();
    bytes.checked_div(blocks).unwrap_or(BLOCK_BYTES)
}
