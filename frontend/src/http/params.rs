//! The parameters of a request. Values are bytes: names of packages and files need not be UTF-8.

use super::problem::Problem;
use crate::filter;
use crate::page::{
    PACKAGES_PER_PAGE_DEFAULT, PER_PACKAGE_DEFAULT, PER_PACKAGE_MAX, PER_PAGE_DEFAULT, PER_PAGE_MAX,
};
use crate::query::{BadQuery, Parsed, Query, Typed, time};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use percent_encoding::percent_decode;
use schema::message::Field;
use std::borrow::Cow;
use std::convert::Infallible;
use std::time::Duration;

/// Parameters that say what is searched for, and in what time.
pub(super) const QUERY: &[&str] = &[
    "q",
    "mode",
    "case",
    "lang",
    "package",
    "path",
    "context",
    "want",
    "limit",
    "timeout",
    "generation",
];

/// Parameters that say how an answer is looked at.
pub(super) const VIEW: &[&str] = &[
    "page",
    "per_page",
    "group",
    "per_package",
    "wait",
    "explain",
];

/// The parameter of what can be had in more than one form.
pub(super) const FORMAT: &[&str] = &["format"];

/// Which part of an answer is looked at, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) page: usize,
    /// Matches, or packages when by package.
    pub(super) per_page: usize,
    pub(super) by_package: bool,
    /// Matches of a package when by package.
    pub(super) per_package: usize,
}

/// Names with their decoded values, in the order of the address.
#[derive(Clone, Debug, Default)]
pub(super) struct Params(Vec<(String, Vec<u8>)>);

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Params::parse(parts.uri.query().unwrap_or_default()))
    }
}

impl Params {
    fn parse(query: &str) -> Params {
        let decode =
            |text: &str| -> Vec<u8> { percent_decode(text.replace('+', " ").as_bytes()).collect() };
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        Params(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(name, value)| {
                    (
                        String::from_utf8_lossy(&decode(name)).into_owned(),
                        decode(value),
                    )
                })
                .collect(),
        )
    }

    /// The value of a parameter, as bytes.
    pub(super) fn bytes(&self, name: &str) -> Option<&[u8]> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &value[..])
    }

    /// The value of a parameter, which must be text.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, Problem> {
        self.bytes(name)
            .map(std::str::from_utf8)
            .transpose()
            .map_err(|_| Problem::bad_request(format!("{name} is not UTF-8")))
    }

    /// A number, or its default.
    pub(super) fn number<T: std::str::FromStr>(
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

    /// `true` or `false`, or the default.
    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool, Problem> {
        match self.text(name)? {
            None => Ok(default),
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(other) => Err(Problem::bad_request(format!(
                "{name}={other} is neither true nor false"
            ))),
        }
    }

    /// A number from 1 to a bound, or its default.
    pub(super) fn bounded(&self, name: &str, default: usize, max: usize) -> Result<usize, Problem> {
        let number = self.number(name, default)?;
        if (1..=max).contains(&number) {
            return Ok(number);
        }
        let detail = format!("{name}={number} is not from 1 to {max}");
        Err(Problem::bad_request(detail))
    }

    /// How long the search may take, which is no part of what is searched for: seconds (`2`, `0.5`,
    /// `2s`) or milliseconds (`500ms`), at most `max`.
    pub(super) fn timeout(&self, max: Duration) -> Result<Option<Duration>, Problem> {
        let Some(text) = self.text("timeout")?.filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        match time(text) {
            Some(timeout) if timeout <= max => Ok(Some(timeout)),
            Some(_) => Err(Problem::bad_request(format!(
                "timeout={text} is too long, the most is {} s",
                max.as_secs_f64()
            ))),
            None => Err(
                Problem::bad_request(format!("timeout={text} is not a time"))
                    .hint("expected seconds, such as 2 or 0.5, or milliseconds, such as 500ms"),
            ),
        }
    }

    /// Which documents the search is about: those of a generation that an earlier answer has named.
    pub(super) fn generation(&self) -> Result<Option<&str>, Problem> {
        Ok(self.text("generation")?.filter(|text| !text.is_empty()))
    }

    /// How the answer is to be looked at.
    pub(super) fn view(&self) -> Result<View, Problem> {
        let by_package = match self.text("group")? {
            None | Some("none") => false,
            Some("package") => true,
            Some(other) => {
                let detail = format!("group={other} is neither none nor package");
                return Err(Problem::bad_request(detail));
            }
        };
        let default = if by_package {
            PACKAGES_PER_PAGE_DEFAULT
        } else {
            PER_PAGE_DEFAULT
        };
        Ok(View {
            page: self.number("page", 0)?,
            per_page: self.bounded("per_page", default, PER_PAGE_MAX)?,
            by_package,
            per_package: self.bounded("per_package", PER_PACKAGE_DEFAULT, PER_PACKAGE_MAX)?,
        })
    }

    /// Names and values of the filters, in the order of the address.
    pub(super) fn filters(&self) -> impl Iterator<Item = (Field, &str, &[u8])> {
        self.0.iter().filter_map(|(name, value)| {
            let field = filter::field(name)?;
            Some((field, &name[..], &value[..]))
        })
    }

    /// The query, whose text must be UTF-8 like everything that patterns are made of.
    pub(super) fn query(&self) -> Result<Query, BadQuery> {
        Ok(self.parsed()?.query)
    }

    /// The query, and what else was understood.
    pub(super) fn parsed(&self) -> Result<Parsed, BadQuery> {
        let utf8 = |name: &str, value| {
            str::from_utf8(value).map_err(|error| BadQuery {
                at: (name == "q").then_some(error.valid_up_to()),
                ..BadQuery::new(format!("{name} is not UTF-8"))
                    .hint("in a regular expression, (?-u:\\xff) stands for a byte")
            })
        };
        let text = |name| {
            let value = self.bytes(name);
            value.map(|value| utf8(name, value)).transpose()
        };
        let filters: Result<Vec<_>, BadQuery> = self
            .filters()
            .map(|(field, name, value)| Ok((field, utf8(name, value)?)))
            .collect();
        Query::parse(&Typed {
            q: text("q")?.unwrap_or_default(),
            mode: text("mode")?,
            case: text("case")?,
            word: None,
            context: text("context")?,
            want: text("want")?,
            limit: text("limit")?,
            filters: &filters?,
        })
    }

    /// Refuses parameters that are not in any of these lists, and those that are given twice, which
    /// only filters may be.
    pub(super) fn expect(&self, known: &[&[&str]]) -> Result<(), Problem> {
        let known = &known.concat()[..];
        for (index, (name, _)) in self.0.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                return Err(unknown(name, known));
            }
            let is_again = self.0[..index].iter().any(|(other, _)| other == name);
            if is_again && filter::field(name).is_none() {
                return Err(Problem::bad_request(format!("{name} is given twice")));
            }
        }
        Ok(())
    }
}

fn unknown(name: &str, known: &[&str]) -> Problem {
    let problem = Problem::bad_request(format!("there is no parameter {name}"));
    let nearest = known.iter().min_by_key(|other| distance(name, other));
    match nearest.filter(|other| distance(name, other) <= other.len().div_ceil(2)) {
        Some(other) => problem.hint(format!("did you mean {other}?")),
        None => problem.hint(format!("there are {}", known.join(", "))),
    }
}

/// How many letters must be changed, added or left out to make one word of the other.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    // A name can be as long as an address; beyond this it resembles none of ours.
    for (i, a) in a.chars().take(32).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &b) in b.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// A value as it can be shown.
pub(super) fn lossy(bytes: Option<&[u8]>) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_bytes() {
        let params = Params::parse("path=a%2Fb%ff+c&q=x&empty=&bare");
        assert_eq!(params.bytes("path"), Some(&b"a/b\xff c"[..]));
        assert_eq!(params.bytes("empty"), Some(&b""[..]));
        assert_eq!(params.bytes("bare"), Some(&b""[..]));
        assert_eq!(params.bytes("none"), None);
        assert!(params.text("path").is_err());
        assert!(Params::parse("q=%ff").query().is_err());
    }

    #[test]
    fn unknown_parameters_are_refused_with_a_guess() {
        let check = |query: &str| Params::parse(query).expect(&[QUERY, VIEW]).unwrap_err();
        assert_eq!(
            check("q=x&perpage=3").hint_text(),
            Some("did you mean per_page?")
        );
        assert_eq!(
            check("q=x&contxt=3").hint_text(),
            Some("did you mean context?")
        );
        assert!(
            check("xyzzyxyzzy=1")
                .hint_text()
                .unwrap()
                .starts_with("there are q, mode")
        );
        assert!(check("q=a&q=b").hint_text().is_none());
        assert!(
            Params::parse("q=a&page=1&explain=true")
                .expect(&[QUERY, VIEW])
                .is_ok()
        );
    }

    #[test]
    fn a_time_has_a_unit_and_a_bound() {
        let max = Duration::from_secs(300);
        let check = |value: &str| {
            let params = Params::parse(&format!("timeout={value}"));
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

    #[test]
    fn numbers_have_bounds() {
        let bad = [
            "per_page=0",
            "per_page=1001",
            "per_page=-1",
            "per_page=x",
            "per_package=11",
            "page=-1",
        ];
        for bad in bad {
            assert!(Params::parse(bad).view().is_err(), "{bad}");
        }
        let view = |query| Params::parse(query).view().unwrap();
        assert_eq!(view("per_page=1000").per_page, 1000);
        assert_eq!((view("").per_page, view("group=package").per_page), (10, 5));
    }
}
