//! Parameters of an address. Values are bytes, since names of packages and files need not be UTF-8.

use crate::http::links::decode_path;
use crate::http::server::Client;
use crate::http::site::Site;
use crate::problem::Problem;
use crate::search::choice::{Choice, Copies, Group};
use crate::search::cursor::Route;
use access::KeyName;
use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use frontend::query::{BadQuery, ParsedQuery, Query, QueryInput, filter, time};
use frontend::{SearchClient, similar};
use schema::message::Field;
use std::borrow::Cow;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Nothing,
    Finished,
    /// Earlier changes are indexed first.
    Fresh,
}

/// Origin of a position in lists of the API.
pub(crate) const NEXT: &str = "`next` of an earlier answer";

/// Bound of parameters. Only filters repeat, and an expression has at most 64.
pub(crate) const PARAMETERS_MAX: usize = 256;

const COUNT_DEFAULT: usize = 100;

/// About a backend's part.
const COUNT_MAX: usize = 1000;

/// Decoded names and values, in the order of the address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params {
    pairs: Vec<(String, Vec<u8>)>,
    /// Hash of the key's name, else of the address; 0 if unknown.
    pub(crate) client: u64,
    pub(crate) site: Site,
}

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let params = Params::parse(parts.uri.query().unwrap_or_default())?;
        let mut params = params.sent_by(&parts.extensions);
        params.site = Site::of(&parts.headers, &parts.extensions);
        Ok(params)
    }
}

impl Params {
    pub(crate) fn parse(query: &str) -> Result<Params, Problem> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        if pairs.clone().count() > PARAMETERS_MAX {
            let detail = format!("more than {PARAMETERS_MAX} parameters");
            return Err(Problem::bad_request(detail));
        }
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let pair = |(name, value)| {
            let name = String::from_utf8_lossy(&decode(name)?).into_owned();
            Ok((name, decode(value)?))
        };
        pairs.map(pair).collect::<Result<_, _>>().map(Params::of)
    }

    pub(crate) fn of(pairs: Vec<(String, Vec<u8>)>) -> Params {
        Params {
            pairs,
            ..Params::default()
        }
    }

    pub(crate) fn into_pairs(self) -> Vec<(String, Vec<u8>)> {
        self.pairs
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Params {
        let value = value.as_bytes().to_vec();
        self.pairs.push((name.to_owned(), value));
        self
    }

    pub(crate) fn sent_by(mut self, extensions: &Extensions) -> Params {
        let key = extensions.get::<KeyName>().map(KeyName::number);
        let address = || extensions.get::<Client>().map(Client::key);
        self.client = key.or_else(address).unwrap_or_default();
        self
    }

    pub(crate) fn search_client(&self) -> SearchClient {
        SearchClient {
            number: self.client,
            route: Route::of(self.bytes("q")).0,
        }
    }

    pub(crate) fn bytes(&self, name: &str) -> Option<&[u8]> {
        let found = self.pairs.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &value[..])
    }

    pub(crate) fn required(&self, name: &str) -> Result<&[u8], Problem> {
        let value = self.bytes(name).filter(|value| !value.is_empty());
        value.ok_or_else(|| Problem::bad_request(format!("{name} is missing")))
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, Problem> {
        let text = self.bytes(name).map(str::from_utf8).transpose();
        text.map_err(|_| Problem::bad_request(format!("{name} is not UTF-8")))
    }

    pub(crate) fn number<T: std::str::FromStr>(
        &self,
        name: &str,
        default: T,
    ) -> Result<T, Problem> {
        match self.text(name)?.filter(|text| !text.is_empty()) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| Problem::bad_request(format!("{name}={text} is not a number"))),
        }
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, Problem> {
        self.choice(name, default, &[("true", true), ("false", false)])
    }

    pub(crate) fn choice<T: Copy>(
        &self,
        name: &str,
        default: T,
        choices: &[(&str, T)],
    ) -> Result<T, Problem> {
        let Some(typed) = self.text(name)? else {
            return Ok(default);
        };
        let chosen = choices.iter().find(|(known, _)| *known == typed);
        chosen.map(|(_, choice)| *choice).ok_or_else(|| {
            let (last, others) = choices.split_last().expect("there are choices");
            let others: Vec<_> = others.iter().map(|(known, _)| *known).collect();
            let expected = format!("{} or {}", others.join(", "), last.0);
            Problem::bad_request(format!("{name}={typed}: expected {expected}"))
        })
    }

    /// Start of a part of a list; `expected` is its origin.
    pub(crate) fn position(&self, name: &str, expected: &str) -> Result<Vec<u8>, Problem> {
        let text = self.text(name)?.unwrap_or_default();
        BASE64.decode(text).map_err(|_| {
            let detail = format!("{name} is malformed: expected {expected}");
            Problem::bad_request(detail).hint("leave it out to start from the beginning")
        })
    }

    pub(crate) fn bounded(&self, name: &str, default: usize, max: usize) -> Result<usize, Problem> {
        let number = self.number(name, default)?;
        if (1..=max).contains(&number) {
            return Ok(number);
        }
        let detail = format!("{name}={number}: expected 1 to {max}");
        Err(Problem::bad_request(detail))
    }

    /// Number of entries. A backend may send fewer.
    pub(crate) fn count(&self) -> Result<u32, Problem> {
        Ok(self.bounded("count", COUNT_DEFAULT, COUNT_MAX)? as u32)
    }

    /// Returns the timeout, which is not part of the query: seconds (`2`, `0.5`, `2s`) or
    /// milliseconds (`500ms`), at most `max`.
    pub(crate) fn timeout(&self, max: Duration) -> Result<Option<Duration>, Problem> {
        let Some(text) = self.text("timeout")?.filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let timeout = time(text).ok_or_else(|| {
            Problem::bad_request(format!("timeout={text} is not a time"))
                .hint("expected seconds, such as 2 or 0.5, or milliseconds, such as 500ms")
        })?;
        if timeout <= max {
            return Ok(Some(timeout));
        }
        let max = max.as_secs_f64();
        let detail = format!("timeout={text} is too long, the limit is {max} s");
        Err(Problem::bad_request(detail))
    }

    pub(crate) fn wait(&self) -> Result<Wait, Problem> {
        let choices = [
            ("true", Wait::Finished),
            ("false", Wait::Nothing),
            ("fresh", Wait::Fresh),
        ];
        self.choice("wait", Wait::Finished, &choices)
    }

    pub(crate) fn generation(&self) -> Result<Option<&str>, Problem> {
        Ok(self.text("generation")?.filter(|text| !text.is_empty()))
    }

    pub(crate) fn group(&self, default: Group) -> Result<Group, Problem> {
        self.choice("group", default, &names())
    }

    pub(crate) fn copies(&self, default: Copies) -> Result<Copies, Problem> {
        self.choice("copies", default, &names())
    }

    pub(crate) fn filters(&self) -> impl Iterator<Item = (Field, &str, &[u8])> {
        self.pairs.iter().filter_map(|(name, value)| {
            let field = filter::field(name)?;
            Some((field, &name[..], &value[..]))
        })
    }

    /// Patterns and filters must be UTF-8.
    pub(crate) fn parsed(&self) -> Result<ParsedQuery, BadQuery> {
        let _span = trace::current().child("parse", trace::Kind::Internal);
        let utf8 = |name: &str, value| {
            str::from_utf8(value).map_err(|error| BadQuery {
                at: (name == "q").then_some(error.valid_up_to()),
                ..BadQuery::new(format!("{name} is not UTF-8"))
                    .hint("in a regular expression, (?-u:\\xff) matches a byte")
            })
        };
        let text = |name| {
            let value = self.bytes(name);
            value.map(|value| utf8(name, value)).transpose()
        };
        let filters = self.filters();
        let filters = filters.map(|(field, name, value)| Ok((field, utf8(name, value)?)));
        let filters: Result<Vec<_>, BadQuery> = filters.collect();
        Query::parse(&QueryInput {
            q: text("q")?.unwrap_or_default(),
            mode: text("mode")?,
            case: text("case")?,
            word: text("word")?,
            exact: text("exact")?,
            context: text("context")?,
            want: text("want")?,
            limit: text("limit")?,
            total: text("total")?,
            filters: &filters?,
        })
    }

    /// Rejects unknown parameters, and repeated ones except filters.
    pub(crate) fn expect(&self, known: &[&[&str]]) -> Result<(), Problem> {
        let known = &known.concat()[..];
        for (index, (name, _)) in self.pairs.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                return Err(unknown(name, known));
            }
            let is_again = self.pairs[..index].iter().any(|(other, _)| other == name);
            if is_again && filter::field(name).is_none() {
                return Err(Problem::bad_request(format!("{name} is given twice")));
            }
        }
        Ok(())
    }
}

fn names<C: Choice>() -> Vec<(&'static str, C)> {
    let all = C::ALL.iter();
    all.map(|(choice, name, _)| (*name, *choice)).collect()
}

/// Decodes percent-encoding, and `+` as a space.
fn decode(text: &str) -> Result<Vec<u8>, Problem> {
    decode_path(&text.replace('+', " "))
}

fn unknown(name: &str, known: &[&str]) -> Problem {
    let problem = Problem::bad_request(format!("unknown parameter {name}"));
    match similar(name, known).first() {
        Some(other) => problem.hint(format!("did you mean {other}?")),
        None => problem.hint(format!("the parameters are {}", known.join(", "))),
    }
}

/// Text of a [`Params::position`], to continue a list.
pub(crate) fn position(last: &[u8]) -> String {
    BASE64.encode(last)
}

pub(crate) fn lossy(bytes: Option<&[u8]>) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::openapi::described::{QueryParams, ViewParams};

    const SEARCH: &[&[&str]] = &[QueryParams::NAMES, ViewParams::NAMES];

    fn parse(query: &str) -> Params {
        Params::parse(query).unwrap()
    }

    #[test]
    fn rejects_incomplete_escapes() {
        for bad in ["q=%", "q=%4", "q=%zz", "%=x", "q=a%2", "q=%+1"] {
            let problem = Params::parse(bad).unwrap_err();
            assert_eq!(
                problem.hint.as_deref(),
                Some("write %25 for a percent sign"),
                "{bad}"
            );
        }
        assert_eq!(parse("q=%2B+%2b").bytes("q"), Some(&b"+ +"[..]));
        assert!(Params::parse(&"lang=c&".repeat(PARAMETERS_MAX)).is_ok());
        assert!(Params::parse(&"lang=c&".repeat(PARAMETERS_MAX + 1)).is_err());
    }

    #[test]
    fn values_are_bytes() {
        let params = parse("path=a%2Fb%ff+c&q=x&empty=&bare");
        assert_eq!(params.bytes("path"), Some(&b"a/b\xff c"[..]));
        assert_eq!(params.bytes("empty"), Some(&b""[..]));
        assert_eq!(params.bytes("bare"), Some(&b""[..]));
        assert_eq!(params.bytes("none"), None);
        assert!(params.text("path").is_err());
        assert!(parse("q=%ff").parsed().is_err());
    }

    #[test]
    fn parameters_know_the_client_that_sent_them() {
        let sent_by = |address: &str| {
            let mut extensions = Extensions::new();
            extensions.insert(Client::new(address.parse().unwrap()));
            parse("q=x").sent_by(&extensions).client
        };
        assert_eq!(sent_by("10.0.0.1"), sent_by("::ffff:10.0.0.1"));
        assert_ne!(sent_by("10.0.0.1"), sent_by("10.0.0.2"));
        assert_ne!(sent_by("10.0.0.1"), 0);
        assert_eq!(parse("q=x").sent_by(&Extensions::new()).client, 0);
    }

    #[test]
    fn waits_for_nothing_the_end_or_what_has_changed() {
        let check = |query: &str| parse(query).wait();
        assert_eq!(check("").unwrap(), Wait::Finished);
        assert_eq!(check("wait=true").unwrap(), Wait::Finished);
        assert_eq!(check("wait=false").unwrap(), Wait::Nothing);
        assert_eq!(check("wait=fresh").unwrap(), Wait::Fresh);
        assert!(check("wait=").is_err() && check("wait=Fresh").is_err());
    }

    #[test]
    fn suggests_names_for_unknown_parameters() {
        let check = |query: &str| parse(query).expect(SEARCH).unwrap_err();
        assert_eq!(
            check("q=x&perpage=3").hint.as_deref(),
            Some("did you mean per_page?")
        );
        assert_eq!(
            check("q=x&contxt=3").hint.as_deref(),
            Some("did you mean context?")
        );
        assert!(
            check("xyzzyxyzzy=1")
                .hint
                .as_deref()
                .unwrap()
                .starts_with("the parameters are q, mode")
        );
        assert!(check("q=a&q=b").hint.as_deref().is_none());
        assert!(parse("q=a&page=1&explain=true").expect(SEARCH).is_ok());
    }

    #[test]
    fn reads_timeouts_in_seconds_and_milliseconds() {
        let max = Duration::from_secs(300);
        let check = |value: &str| {
            let params = parse(&format!("timeout={value}"));
            params
                .timeout(max)
                .map(|time| time.map(|time| time.as_millis()))
        };
        for (value, ms) in [
            ("2", 2000),
            ("0.5", 500),
            ("3s", 3000),
            ("500ms", 500),
            ("300", 300_000),
        ] {
            assert_eq!(check(value).unwrap(), Some(ms), "{value}");
        }
        assert_eq!(check("").unwrap(), None);
        assert_eq!(Params::default().timeout(max).unwrap(), None);
        for bad in [
            "0",
            "-1",
            "x",
            "ms",
            "301",
            "1e99",
            "inf",
            "nan",
            "1h",
            "0.0000000001",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
