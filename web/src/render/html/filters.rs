//! How templates write numbers.
#![expect(unreachable_pub, reason = "what the macro makes of a filter is public")]

use std::borrow::Borrow;

/// `77,807`
#[askama::filter_fn]
pub(super) fn thousands(
    number: impl Borrow<u64>,
    _: &dyn askama::Values,
) -> askama::Result<String> {
    let digits = number.borrow().to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    Ok(out)
}

/// The ending of a noun that takes an s.
#[askama::filter_fn]
pub(super) fn plural(
    number: impl Borrow<u64>,
    _: &dyn askama::Values,
) -> askama::Result<&'static str> {
    Ok(if *number.borrow() == 1 { "" } else { "s" })
}

/// The ending of a noun that takes an es.
#[askama::filter_fn]
pub(super) fn plural_es(
    number: impl Borrow<u64>,
    _: &dyn askama::Values,
) -> askama::Result<&'static str> {
    Ok(if *number.borrow() == 1 { "" } else { "es" })
}

/// `449 MB`
#[askama::filter_fn]
pub(super) fn size(bytes: impl Borrow<u64>, _: &dyn askama::Values) -> askama::Result<String> {
    let mut size = *bytes.borrow() as f64;
    let mut units = ["bytes", "kB", "MB", "GB"].into_iter();
    let mut unit = units.next().expect("there are four");
    for larger in units {
        if size < 999.5 {
            break;
        }
        (size, unit) = (size / 1000.0, larger);
    }
    let digits = usize::from(size < 9.95 && unit != "bytes");
    Ok(format!("{size:.digits$} {unit}"))
}
