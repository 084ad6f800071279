//! Bodies of `/api/search` and `/api/list`. As in Go, names are matched in any case, and unknown
//! ones are ignored.

use crate::http::request_limits::read_body;
use crate::problem::Problem;
use axum::extract::Request;
use frontend::query::limits::CONTEXT_LINES_MAX;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::time::Duration;

/// Ids of repositories take the most.
const BODY_BYTES_MAX: usize = 1 << 20;

/// Shorter times are seconds, which some clients send. Zoekt takes nanoseconds.
const NANOSECONDS_MIN: f64 = 1e6;

pub(super) struct Body(Map<String, Value>);

impl Body {
    pub(super) async fn read(request: Request) -> Result<Body, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = read_body(body, BODY_BYTES_MAX, &parts.extensions).await?;
        // Go ignores what follows the object.
        let mut json = serde_json::Deserializer::from_slice(&bytes);
        match Value::deserialize(&mut json) {
            Ok(Value::Object(fields)) => Ok(Body(fields)),
            Ok(_) => Err(Problem::bad_request("the body must be a JSON object")),
            Err(error) => {
                let detail = format!("malformed JSON: {error}");
                Err(Problem::bad_request(detail).hint(r#"such as {"Q": "errno"}"#))
            }
        }
    }

    /// `null` is absent.
    fn get(&self, name: &str) -> Option<&Value> {
        let named = |(known, _): &(&String, &Value)| known.eq_ignore_ascii_case(name);
        let found = self.0.iter().rfind(named);
        found.map(|(_, value)| value).filter(|it| !it.is_null())
    }

    fn read_as<'a, T>(
        &'a self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let wrong = || Problem::bad_request(format!("{name}: expected {expected}"));
        let value = self.get(name);
        value.map(|value| read(value).ok_or_else(wrong)).transpose()
    }

    pub(super) fn query(&self) -> Result<&str, Problem> {
        let text = self.read_as("Q", "a string", Value::as_str)?;
        Ok(text.unwrap_or_default())
    }

    /// `None`: all.
    pub(super) fn repositories(&self) -> Result<Option<Vec<u32>>, Problem> {
        let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
        let ids = |value: &Value| value.as_array()?.iter().map(id).collect();
        self.read_as("RepoIDs", "a list of numbers", ids)
    }

    pub(super) fn options(&self) -> Result<Body, Problem> {
        let fields = self.read_as("Opts", "an object", Value::as_object)?;
        Ok(Body(fields.cloned().unwrap_or_default()))
    }

    pub(super) fn number(&self, name: &str) -> Result<i64, Problem> {
        let whole = |it: f64| (it.fract() == 0.0).then_some(it as i64);
        let read = |value: &Value| value.as_i64().or_else(|| whole(value.as_f64()?));
        Ok(self.read_as(name, "a whole number", read)?.unwrap_or(0))
    }

    fn limit(&self, name: &str) -> Result<Option<usize>, Problem> {
        Ok(limit(self.number(name)?))
    }

    fn flag(&self, name: &str) -> Result<bool, Problem> {
        let flag = self.read_as(name, "true or false", Value::as_bool)?;
        Ok(flag.unwrap_or(false))
    }

    fn time(&self, name: &str) -> Result<Option<Duration>, Problem> {
        let number = self.read_as(name, "a number", Value::as_f64)?;
        let seconds = number.map(|number| {
            if number < NANOSECONDS_MIN {
                number
            } else {
                number / 1e9
            }
        });
        let seconds = seconds.filter(|&seconds| seconds > 0.0);
        Ok(seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()))
    }
}

/// `None` for 0 and negative numbers: no limit.
pub(super) fn limit(number: i64) -> Option<usize> {
    let number = usize::try_from(number).ok();
    number.filter(|&number| number > 0)
}

pub(super) fn context_lines(number: i64) -> u32 {
    number.clamp(0, CONTEXT_LINES_MAX.into()) as u32
}

/// One line with the position and the remedy.
pub(super) fn message(problem: &Problem) -> String {
    let at = problem.at.map(|at| format!(" (at byte {at})"));
    let hint = problem.hint.as_ref().map(|hint| format!("; {hint}"));
    format!(
        "{}{}{}",
        problem.detail,
        at.unwrap_or_default(),
        hint.unwrap_or_default()
    )
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SearchOptions {
    pub(super) estimates: bool,
    pub(super) whole: bool,
    pub(super) chunks: bool,
    pub(super) context_lines: u32,
    pub(super) files_max: Option<usize>,
    pub(super) matches_max: Option<usize>,
    pub(super) total_max: Option<usize>,
    pub(super) per_shard_max: Option<usize>,
    pub(super) per_repository_max: Option<usize>,
    pub(super) timeout: Option<Duration>,
}

impl SearchOptions {
    pub(super) fn parse(options: &Body) -> Result<SearchOptions, Problem> {
        Ok(SearchOptions {
            estimates: options.flag("EstimateDocCount")?,
            whole: options.flag("Whole")?,
            chunks: options.flag("ChunkMatches")?,
            context_lines: context_lines(options.number("NumContextLines")?),
            files_max: options.limit("MaxDocDisplayCount")?,
            matches_max: options.limit("MaxMatchDisplayCount")?,
            total_max: options.limit("TotalMaxMatchCount")?,
            per_shard_max: options.limit("ShardMaxMatchCount")?,
            per_repository_max: options.limit("ShardRepoMaxMatchCount")?,
            timeout: options.time("MaxWallTime")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn body(value: Value) -> Body {
        Body(serde_json::from_value(value).unwrap())
    }

    fn parse(options: Value) -> Result<SearchOptions, Problem> {
        SearchOptions::parse(&body(json!({ "opts": options })).options()?)
    }

    #[test]
    fn names_have_any_case_and_unknown_ones_are_ignored() {
        let read = body(json!({"q": "x", "REPOIDS": [7], "more": {}}));
        assert_eq!(read.query().unwrap(), "x");
        assert_eq!(read.repositories().unwrap(), Some(vec![7]));
        let options = parse(json!({"chunkmatches": true, "UseDocumentRanks": 1, "Whole": null}));
        let expected = SearchOptions {
            chunks: true,
            ..SearchOptions::default()
        };
        assert_eq!(options.unwrap(), expected);
        assert!(body(json!({"Opts": null})).options().unwrap().0.is_empty());
    }

    #[test]
    fn limits_that_are_not_positive_are_none() {
        let limits = |number: Value| {
            let options = parse(json!({"ShardMaxMatchCount": number, "NumContextLines": number}));
            options.map(|it| (it.per_shard_max, it.context_lines))
        };
        assert_eq!(limits(json!(-1)).unwrap(), (None, 0));
        assert_eq!(limits(json!(0)).unwrap(), (None, 0));
        assert_eq!(limits(json!(3.0)).unwrap(), (Some(3), 3));
        assert_eq!(limits(json!(99)).unwrap(), (Some(99), 10));
        for bad in [json!("3"), json!(1.5), json!([]), json!(true)] {
            assert!(limits(bad.clone()).is_err(), "{bad}");
        }
        assert!(limits(json!(1e300)).is_ok());
    }

    #[test]
    fn times_are_nanoseconds_or_seconds() {
        let time = |time: Value| parse(json!({ "MaxWallTime": time })).unwrap().timeout;
        assert_eq!(
            time(json!(20_000_000_000_u64)),
            Some(Duration::from_secs(20))
        );
        assert_eq!(time(json!(0.5)), Some(Duration::from_millis(500)));
        assert_eq!(time(json!(10.0)), Some(Duration::from_secs(10)));
        assert_eq!(time(json!(0)), None);
        assert_eq!(time(json!(-5)), None);
        assert_eq!(time(json!(1e300)), None);
    }
}
