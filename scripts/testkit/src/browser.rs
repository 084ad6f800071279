//! Headers and decoders of Chromium and Firefox, for test clients.
//!
//! Bare requests miss faults such as in compression. `web/browser_tests` has real browsers;
//! `python` clients use `scripts/lib/connection.py`.

use flate2::read::GzDecoder;
use std::io::Read;

type Header = (&'static str, &'static str);

const ENCODINGS: Header = ("accept-encoding", "gzip, deflate, br, zstd");

/// Headers for a link or typed address.
const NAVIGATION: [Header; 4] = [
    ("upgrade-insecure-requests", "1"),
    ("sec-fetch-dest", "document"),
    ("sec-fetch-mode", "navigate"),
    ("sec-fetch-user", "?1"),
];

const SCRIPT: [Header; 4] = [
    ("accept", "*/*"),
    ("sec-fetch-dest", "empty"),
    ("sec-fetch-mode", "cors"),
    ("sec-fetch-site", "same-origin"),
];

const CHROMIUM: [Header; 5] = [
    (
        "user-agent",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    ),
    ("accept-language", "en-US,en;q=0.9"),
    (
        "sec-ch-ua",
        "\"Chromium\";v=\"140\", \"Not=A?Brand\";v=\"24\"",
    ),
    ("sec-ch-ua-mobile", "?0"),
    ("sec-ch-ua-platform", "\"Linux\""),
];

const CHROMIUM_NAVIGATION: [Header; 2] = [
    (
        "accept",
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
    ),
    ("sec-fetch-site", "none"),
];

const FIREFOX: [Header; 3] = [
    (
        "user-agent",
        "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
    ),
    ("accept-language", "en-US,en;q=0.5"),
    ("priority", "u=0, i"),
];

const FIREFOX_NAVIGATION: [Header; 2] = [
    (
        "accept",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    ),
    ("sec-fetch-site", "none"),
];

/// Alternates between Chromium and Firefox. Scripts request APIs. `given` replaces theirs.
pub fn headers<'a>(
    path: &str,
    number: usize,
    given: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    let (browser, navigation) = if number.is_multiple_of(2) {
        (&CHROMIUM[..], CHROMIUM_NAVIGATION)
    } else {
        (&FIREFOX[..], FIREFOX_NAVIGATION)
    };
    let purpose = if path.contains("/api/") {
        SCRIPT.to_vec()
    } else {
        [&NAVIGATION[..], &navigation].concat()
    };
    let mut headers: Vec<(&str, &str)> = [&[ENCODINGS], browser, &purpose].concat();
    headers.retain(|(name, _)| given.iter().all(|(replaced, _)| replaced != name));
    headers.extend(given);
    headers
}

/// Decodes a body as it arrives. A truncated body is an error.
///
/// # Panics
/// If no browser requests the encoding.
pub fn decoded(encoding: &str, body: impl Read + 'static) -> Box<dyn Read> {
    match encoding {
        "" => Box::new(body),
        "gzip" => Box::new(GzDecoder::new(body)),
        other => panic!("the server does not know the encoding {other}"),
    }
}
