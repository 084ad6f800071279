//! Types of patterns in the arguments of a search.

use crate::problem::Problem;
use async_graphql::Enum;
use frontend::query::sourcegraph;

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum Version {
    V1,
    V2,
    V3,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "SearchPatternType", rename_items = "lowercase")]
pub(super) enum PatternType {
    Keyword,
    Standard,
    Literal,
    Regexp,
    Structural,
    Lucky,
}

pub(super) fn pattern_type(
    version: Option<Version>,
    name: Option<PatternType>,
) -> Result<sourcegraph::PatternType, Problem> {
    Ok(match (name, version) {
        (Some(PatternType::Structural), _) => {
            let problem = Problem::bad_request("structural search is not supported");
            return Err(problem.hint("expected keyword, standard, literal or regexp"));
        }
        (Some(PatternType::Keyword), _) | (None, None | Some(Version::V3)) => {
            sourcegraph::PatternType::Keyword
        }
        (Some(PatternType::Standard | PatternType::Lucky), _) | (None, Some(Version::V2)) => {
            sourcegraph::PatternType::Standard
        }
        (Some(PatternType::Literal), _) => sourcegraph::PatternType::Literal,
        (Some(PatternType::Regexp), _) | (None, Some(Version::V1)) => {
            sourcegraph::PatternType::Regexp
        }
    })
}
