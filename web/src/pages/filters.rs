//! Filters of the templates: addresses, numbers, plurals, sizes and times.
#![expect(unreachable_pub, reason = "the macro generates public items")]

use super::markdown::inline;
use super::visible;
use crate::http::site::{BasePath, Site};
use jiff::Timestamp;
use schema::message::{Commit, Signature};
use schema::name::revision_name;

/// Address with the base path of the rendered [`Site`]. Every address in a template has the filter.
#[askama::filter_fn]
pub(super) fn url(address: impl AsRef<str>, values: &dyn askama::Values) -> askama::Result<String> {
    let base: &BasePath = askama::get_value(values, Site::BASE)?;
    Ok(base.url(address.as_ref()))
}

/// Templates pass references to integers.
pub(super) trait Number {
    fn value(&self) -> u64;
}

impl Number for u64 {
    fn value(&self) -> u64 {
        *self
    }
}

impl Number for u32 {
    fn value(&self) -> u64 {
        u64::from(*self)
    }
}

impl Number for usize {
    fn value(&self) -> u64 {
        *self as u64
    }
}

impl<N: Number> Number for &N {
    fn value(&self) -> u64 {
        (*self).value()
    }
}

/// `77,807`
#[askama::filter_fn]
pub(super) fn thousands(number: impl Number, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(grouped(number.value()))
}

/// `77,807`
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 line`, `77,807 lines`
pub(super) fn counted(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(number))
}

/// Splits a name where a line may break.
pub(super) fn words(name: &str) -> Vec<&str> {
    name.split_inclusive(['/', '_', '-', '+', '~', ':'])
        .collect()
}

/// Renders the markup of our own text.
#[askama::filter_fn]
pub(super) fn markdown(text: impl AsRef<str>, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(inline(text.as_ref()))
}

/// `3 hours`
#[askama::filter_fn]
pub(super) fn age(seconds: impl Number, _: &dyn askama::Values) -> askama::Result<String> {
    let units = [
        ("day", 86_400),
        ("hour", 3_600),
        ("minute", 60),
        ("second", 1),
    ];
    let seconds = seconds.value();
    let fits = units.into_iter().find(|(_, length)| seconds >= *length);
    let (unit, length) = fits.unwrap_or(("second", 1));
    Ok(counted(seconds / length, unit))
}

/// `449 MB`
#[askama::filter_fn]
pub(super) fn size(bytes: impl Number, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(sized(bytes.value()))
}

/// `1 byte`, `449 MB`
pub(super) fn sized(bytes: u64) -> String {
    if bytes == 1 {
        return "1 byte".to_owned();
    }
    let mut size = bytes as f64;
    let mut units = ["bytes", "kB", "MB", "GB"].into_iter();
    let mut unit = units.next().expect("there are four");
    for larger in units {
        if size < 999.5 {
            break;
        }
        (size, unit) = (size / 1000.0, larger);
    }
    let digits = usize::from(size < 9.95 && unit != "bytes");
    format!("{size:.digits$} {unit}")
}

pub(super) fn short_name(full: &str) -> &str {
    str::from_utf8(revision_name(full.as_bytes())).expect("the prefix that is missing is ASCII")
}

const SHORT_ID: usize = 10;

pub(super) fn short_id(id: &str) -> String {
    id.chars().take(SHORT_ID).collect()
}

pub(super) fn signed(signature: &Signature) -> (String, String) {
    let seconds = u64::try_from(signature.seconds).unwrap_or_default();
    (visible::plain(&signature.name), moment(seconds))
}

pub(super) fn day(signature: &Signature) -> String {
    signed(signature).1[..10].to_owned()
}

pub(super) fn subject(commit: &Commit) -> String {
    visible::plain(match &commit.subject[..] {
        b"" => b"(no message)",
        subject => subject,
    })
}

/// `2026-11-23 14:05 UTC`; 1970 for an invalid time.
pub(super) fn moment(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or_default();
    let moment = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;

    #[test]
    fn every_address_in_a_template_gets_the_base_path() {
        for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/templates")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "html") {
                continue;
            }
            let html = fs::read_to_string(&path).unwrap();
            for name in ["href=\"", " action=\"", " src=\"", "; url="] {
                for address in html.split(name).skip(1) {
                    let first = address.split("}}").next().unwrap();
                    let is_here = address.starts_with('#') || first.ends_with("|url ");
                    assert!(is_here, "{}: {name}{first}", path.display());
                }
            }
        }
    }
}
