//! The header `traceparent` of W3C Trace Context,
//! <https://www.w3.org/TR/trace-context/#traceparent-header>:
//!
//! ```text
//! 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
//! |  |                                |                flags; bit 0: sampled
//! |  |                                span of the caller
//! |  trace
//! version
//! ```

use schema::message::TraceContext;
use std::num::{NonZeroU64, NonZeroU128};

/// Later versions may append more, after a dash.
const LEN: usize = 55;

/// A bound for later versions.
const LEN_MAX: usize = 512;

/// Parses the header's value. `None` if it is malformed.
pub fn parse_traceparent(value: &str) -> Option<TraceContext> {
    let bytes = value.as_bytes();
    let dashes = [2, 35, 52].map(|at| bytes.get(at));
    if bytes.len() > LEN_MAX || dashes != [Some(&b'-'); 3] {
        return None;
    }
    let version = hex(value, 0..2)?;
    let is_complete = match version {
        0 => bytes.len() == LEN,
        0xff => false,
        _ => bytes.len() == LEN || bytes[LEN..].starts_with(b"-"),
    };
    let context = TraceContext {
        trace: NonZeroU128::new(hex(value, 3..35)?)?,
        span: NonZeroU64::new(hex(value, 36..52)? as u64)?,
        is_sampled: hex(value, 53..55)? & 1 == 1,
    };
    is_complete.then_some(context)
}

/// Lower case, up to 32 digits.
fn hex(value: &str, range: std::ops::Range<usize>) -> Option<u128> {
    let digits = value.get(range)?;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if !digits.bytes().all(is_digit) {
        return None;
    }
    u128::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const SPAN: &str = "b7ad6b7169203331";

    #[test]
    fn a_header_of_this_or_a_later_version_is_read() {
        for (version, flags, rest, is_sampled) in [
            ("00", "01", "", true),
            ("00", "00", "", false),
            ("00", "ff", "", true),
            ("00", "02", "", false),
            ("01", "01", "", true),
            ("cc", "01", "-what-the-future-brings", true),
        ] {
            let value = format!("{version}-{TRACE}-{SPAN}-{flags}{rest}");
            let context = parse_traceparent(&value).expect(&value);
            assert_eq!(format!("{:032x}", context.trace), TRACE);
            assert_eq!(format!("{:016x}", context.span), SPAN);
            assert_eq!(context.is_sampled, is_sampled, "{value}");
        }
    }

    #[test]
    fn a_malformed_header_is_none() {
        let long = format!("01-{TRACE}-{SPAN}-01-{}", "x".repeat(LEN_MAX));
        let bad = [
            String::new(),
            "-".repeat(LEN),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-0"),
            format!("00-{TRACE}-{SPAN}-01-"),
            format!("00-{TRACE}-{SPAN}-01x"),
            format!("01-{TRACE}-{SPAN}-01x"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{}-{SPAN}-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{}-{SPAN}-01", TRACE.replace('0', "+")),
            format!("00-{TRACE}-{SPAN}-zz"),
            format!(" 00-{TRACE}-{SPAN}-01"),
            format!("00-{}\u{e9}-{SPAN}-01", &TRACE[2..]),
            format!("00-{TRACE}\u{1f600}"),
            long,
        ];
        for value in bad {
            assert_eq!(parse_traceparent(&value), None, "{value}");
        }
    }
}
