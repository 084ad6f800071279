//! Addresses and URLs in flags, checked when the command line is parsed.

use axum::http::Uri;
use cluster::membership::check_address;
use std::net::SocketAddr;

/// HOST:PORT of a server.
pub(crate) fn parse(text: &str) -> Result<String, String> {
    let checked = check_address(text).map(|_| text.to_owned());
    checked.map_err(|_| "expected HOST:PORT, such as 10.0.0.1:28082 or [::1]:28082".to_owned())
}

/// HOST:PORT to listen on. Port 0 is any free one.
pub(crate) fn parse_listen(text: &str) -> Result<String, String> {
    let is_any_port = text.strip_suffix(":0").map(|host| format!("{host}:1"));
    let is_address = text.parse::<SocketAddr>().is_ok()
        || check_address(is_any_port.as_deref().unwrap_or(text)).is_ok();
    let checked = is_address.then(|| text.to_owned());
    checked.ok_or_else(|| "expected HOST:PORT, such as 127.0.0.1:8080 or [::]:8080".to_owned())
}

/// URL with http or https.
pub(crate) fn parse_url(text: &str) -> Result<String, String> {
    let url = text.parse::<Uri>().unwrap_or_default();
    // A port above 65,535 is part of no address.
    let has_address = url.authority().is_some_and(|it| {
        let host = it.host();
        !host.is_empty() && (it.port_u16().is_some() || it.as_str().ends_with(host))
    });
    let is_url = has_address && matches!(url.scheme_str(), Some("http" | "https"));
    let checked = is_url.then(|| text.to_owned());
    checked.ok_or_else(|| "expected a URL, such as http://127.0.0.1:4318".to_owned())
}

/// URL or HOST:PORT of a Trawl server. Returns a URL.
pub(crate) fn parse_server(text: &str) -> Result<String, String> {
    let is_address = parse(text.trim_end_matches('/')).is_ok();
    let url = if is_address {
        format!("http://{text}")
    } else {
        text.to_owned()
    };
    let expected = "expected a URL or HOST:PORT, such as http://127.0.0.1:8080";
    parse_url(&url).map_err(|_| expected.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for good in ["127.0.0.1:1", "[::1]:28082", "host.example:65535", "b1:1"] {
            assert_eq!(parse(good).as_deref(), Ok(good));
            assert_eq!(parse_listen(good).as_deref(), Ok(good));
        }
        for bad in [
            "",
            "nonsense",
            "nonsense:",
            ":1",
            "a b:1",
            "h:65536",
            "h:x",
            "http://h:1",
            "h:1/",
        ] {
            assert!(
                parse(bad).unwrap_err().starts_with("expected HOST:PORT"),
                "{bad}"
            );
            assert!(parse_listen(bad).is_err(), "{bad}");
        }
        assert!(parse("127.0.0.1:0").is_err());
        assert!(parse_listen("127.0.0.1:0").is_ok() && parse_listen("[::]:0").is_ok());
        assert!(parse_listen("0").is_err() && parse_listen(":0").is_err());
    }

    #[test]
    fn urls_have_a_scheme_and_a_host() {
        for good in [
            "http://h",
            "https://h:1/x?y",
            "http://u:p@h:1",
            "http://[::1]:1/",
        ] {
            assert_eq!(parse_url(good).as_deref(), Ok(good));
            assert_eq!(parse_server(good).as_deref(), Ok(good));
        }
        for bad in [
            "",
            "nonsense",
            "ftp://h",
            "http://",
            "http://h:65536",
            "http://a b",
        ] {
            assert!(
                parse_url(bad).unwrap_err().starts_with("expected a URL"),
                "{bad}"
            );
            assert!(parse_server(bad).is_err(), "{bad}");
        }
        assert!(parse_url("h:1").is_err());
        assert_eq!(parse_server("h:1/").as_deref(), Ok("http://h:1/"));
    }
}
