//! Estimated cost of a query. Backends read their indexes, but no text.

mod cheaper;

use super::limits::HEAVY_BLOCKS;
use super::openapi::described as doc;
use crate::http::response;
use crate::model::{CostClass, Explanation, SearchCost, share};
use crate::problem::Problem;
use crate::search::join;
use crate::search::params::{Params, QUERY};
use crate::state::App;
use access::Viewer;
use axum::extract::State;
use axum::response::Response;
use frontend::BackendStatus;
use frontend::SearchResult;
use schema::message::Want;

/// Processor time per block of 4 KiB, in microseconds: 1.5 to 1.9 to count frequent words of Debian
/// source, about 5 to send all their matches.
const BLOCK_US: f64 = 2.0;

/// Fallback without data of backends.
const BLOCK_BYTES: u64 = 4096;

/// Estimate the cost of a query.
#[utoipa::path(
    get, path = "/api/v2/explain", operation_id = "explain", tag = "search",
    params(doc::QueryParams),
    responses((status = 200, description = "What the query would cost", body = Explanation), doc::Searching)
)]
pub(crate) async fn explain(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[QUERY])?;
    let mut parsed = params.parsed()?;
    let query = parsed.query.clone();
    parsed.query = parsed.query.wanting(Want::Estimate, 0)?;
    let scope = viewer.scope().await?;
    let search = join::start_noticing(&app.coordinator, &scope, &params, &mut parsed).await?;
    let answer = join::finished(&search, Some(&parsed)).await?;
    let cost = cost(&answer, &app.coordinator.backends(&scope));
    let cheaper = cheaper::suggestions(&query, &answer.explain().estimates, &cost);
    let page = Explanation::new(&query, &parsed.notices, &answer, cost, cheaper);
    Ok(response::json(&page))
}

fn cost(answer: &SearchResult, backends: &[BackendStatus]) -> SearchCost {
    let (explain, phases) = (answer.explain(), answer.search.timings.phases);
    let blocks = explain.sum.candidates;
    let verify_us = blocks as f64 * BLOCK_US;
    let estimate_us = (phases.plan_us + phases.candidates_us) as f64;
    SearchCost {
        blocks,
        of: explain.sum.blocks,
        share: share(blocks, explain.sum.blocks),
        bytes: blocks.saturating_mul(block_bytes(backends)),
        milliseconds: (estimate_us + verify_us).round() / 1000.0,
        class: if blocks > HEAVY_BLOCKS {
            CostClass::Heavy
        } else {
            CostClass::Light
        },
    }
}

fn block_bytes(backends: &[BackendStatus]) -> u64 {
    let blocks: u64 = backends.iter().map(|backend| backend.blocks).sum();
    let bytes: u64 = backends.iter().map(|backend| backend.text_bytes).sum();
    bytes.checked_div(blocks).unwrap_or(BLOCK_BYTES)
}
