//! Trace flags, and export by OTLP over HTTP, as JSON. Reads OpenTelemetry's variables too.

use crate::{address, client};
use anyhow::{Context, Result, bail, ensure};
use percent_encoding::percent_decode_str;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use trace::{Recorder, Resource, Sent};
use ureq::Agent;
use ureq::http::{HeaderName, HeaderValue};

pub(super) const TRACES: &str = "Traces";

/// Spans wait, but nothing else.
const SEND_MAX: Duration = Duration::from_secs(5);

/// Leaves time to end within 30 s of SIGTERM.
pub(super) const FLUSH_MAX: Duration = Duration::from_secs(1);

/// Room for a report of rejected spans.
const RESPONSE_BYTES_MAX: u64 = 64 << 10;

const PAIRS_MAX: usize = 64;

/// Destination of traces.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct TraceFlags {
    /// Send traces of requests to this OpenTelemetry collector (OTLP over HTTP), such as
    /// http://127.0.0.1:4318 [default: $OTEL_EXPORTER_OTLP_ENDPOINT; without it nothing is traced]
    ///
    /// They go to /v1/traces there, unless the URL has a path.
    #[arg(long, help_heading = TRACES, value_name = "URL", value_parser = address::parse_url)]
    traces: Option<String>,
    /// Trust the CAs in FILE (PEM) for a collector with https [default: $SSL_CERT_FILE, or the
    /// system's]
    #[arg(long, help_heading = TRACES, value_name = "FILE")]
    traces_ca: Option<PathBuf>,
}

pub(super) fn ratio(text: &str) -> Result<f64, String> {
    let ratio = text.parse().ok();
    let ratio = ratio.filter(|ratio| (0.0..=1.0).contains(ratio));
    ratio.ok_or_else(|| "not a number from 0 to 1".to_owned())
}

impl TraceFlags {
    /// Traces the share `ratio` of requests, if a collector is named, as an instance of `service`
    /// at `address`.
    pub(super) fn start(&self, service: &str, address: SocketAddr, ratio: f64) -> Result<()> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let Some(endpoint) = endpoint(self.traces.as_deref(), &variable)? else {
            return Ok(());
        };
        let headers = headers(variable("OTEL_EXPORTER_OTLP_HEADERS").as_deref())?;
        let attributes = variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        let mut about = pairs("OTEL_RESOURCE_ATTRIBUTES", &attributes)?;
        let named = variable("OTEL_SERVICE_NAME");
        for (key, value) in [
            ("service.name", named.as_deref().unwrap_or(service)),
            ("service.instance.id", &address.to_string()),
            ("service.version", env!("CARGO_PKG_VERSION")),
        ] {
            let is_given = about.iter().any(|(known, _)| known == key);
            if !is_given || (key == "service.name" && named.is_some()) {
                about.retain(|(known, _)| known != key);
                about.push((key.to_owned(), value.to_owned()));
            }
        }
        let mut config = Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_global(Some(SEND_MAX));
        if endpoint.starts_with("https://") {
            let ca = self.traces_ca.as_deref();
            config = config.tls_config(client::https_config(ca, "--traces-ca")?);
        }
        let agent: Agent = config.build().into();
        let collector = without_secrets(&endpoint);
        tracing::info!(collector, ratio, "traces are sent");
        let send = move |body: &[u8]| send(&agent, &endpoint, &headers, body);
        let recorder = Recorder::start(Resource(about), ratio, Box::new(send));
        trace::install(recorder.context("cannot start a thread")?);
        Ok(())
    }
}

fn send(agent: &Agent, endpoint: &str, headers: &[(HeaderName, HeaderValue)], body: &[u8]) -> Sent {
    let mut request = agent.post(endpoint);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request.header("content-type", "application/json");
    let mut response = request.send(body).map_err(|error| error.to_string())?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!("status {status}"));
    }
    let body = response.body_mut().with_config().limit(RESPONSE_BYTES_MAX);
    // The spans were accepted.
    Ok(body.read_to_vec().unwrap_or_default())
}

fn endpoint(
    flag: Option<&str>,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Option<String>> {
    let (origin, url, has_path) = if let Some(url) = flag {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        ("--traces", url.to_owned(), !path.is_empty())
    } else {
        let names = [
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", true),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", false),
        ];
        let is_disabled =
            variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let set = |(name, has_path)| Some((name, variable(name)?, has_path));
        match names.into_iter().find_map(set) {
            Some(found) if !is_disabled => found,
            _ => return Ok(None),
        }
    };
    let checked = address::parse_url(&url).map_err(anyhow::Error::msg);
    checked.with_context(|| format!("{origin} {url}"))?;
    if flag.is_none() {
        let protocols = [
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
            "OTEL_EXPORTER_OTLP_PROTOCOL",
        ];
        let protocol = protocols.into_iter().find_map(variable);
        if protocol.is_some_and(|protocol| protocol == "grpc") {
            bail!(
                "{origin} {url}: OTLP over gRPC is not spoken here; name the collector's address for HTTP, usually port \
                 4318, with --traces URL"
            );
        }
    }
    let url = url.trim_end_matches('/');
    Ok(Some(if has_path {
        url.to_owned()
    } else {
        format!("{url}/v1/traces")
    }))
}

/// Shortened for the log.
fn without_secrets(endpoint: &str) -> &str {
    let end = endpoint.find('?').unwrap_or(endpoint.len());
    let shown = &endpoint[..end];
    match (shown.find("://"), shown.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => &shown[at + 1..],
        _ => shown,
    }
}

fn headers(variable: Option<&str>) -> Result<Vec<(HeaderName, HeaderValue)>> {
    let name = "OTEL_EXPORTER_OTLP_HEADERS";
    let pairs = pairs(name, variable.unwrap_or_default())?.into_iter();
    let header = |(key, value): (String, String)| {
        let mut value = HeaderValue::try_from(value)?;
        value.set_sensitive(true);
        anyhow::Ok((HeaderName::try_from(key)?, value))
    };
    pairs.map(header).collect::<Result<_>>().context(name)
}

/// Parses `key=value,key=value` with %XX escapes.
fn pairs(name: &str, list: &str) -> Result<Vec<(String, String)>> {
    let entries = list.split(',').map(str::trim);
    let entries: Vec<&str> = entries.filter(|entry| !entry.is_empty()).collect();
    ensure!(
        entries.len() <= PAIRS_MAX,
        "{name} has more than {PAIRS_MAX} entries"
    );
    let pair = |entry: &str| {
        let (key, value) = entry.split_once('=').context("expected key=value")?;
        let value = percent_decode_str(value.trim()).decode_utf8()?;
        Ok((key.trim().to_owned(), value.into_owned()))
    };
    let read = entries.into_iter().map(pair);
    read.collect::<Result<_>>().context(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint_of(flag: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<String>> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        endpoint(flag, &variable)
    }

    #[test]
    fn the_address_is_that_of_the_flag_or_of_a_variable() {
        const BASE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
        const TRACES: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        for (flag, variables, expected) in [
            (None, &[][..], None),
            (Some("http://h:1"), &[], Some("http://h:1/v1/traces")),
            (Some("http://h:1/"), &[], Some("http://h:1/v1/traces")),
            (Some("https://h/x"), &[], Some("https://h/x")),
            (
                Some("http://h:1"),
                &[(BASE, "http://no")],
                Some("http://h:1/v1/traces"),
            ),
            (None, &[(BASE, "http://h:1")], Some("http://h:1/v1/traces")),
            (
                None,
                &[(BASE, "http://h:1/a/")],
                Some("http://h:1/a/v1/traces"),
            ),
            (
                None,
                &[(BASE, "http://no"), (TRACES, "http://h/t")],
                Some("http://h/t"),
            ),
            (
                None,
                &[(BASE, "http://h"), ("OTEL_SDK_DISABLED", "TRUE")],
                None,
            ),
        ] {
            let found = endpoint_of(flag, variables).unwrap();
            assert_eq!(found.as_deref(), expected, "{flag:?} {variables:?}");
        }
        let grpc = [
            (BASE, "http://h:4317"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ];
        assert!(
            endpoint_of(None, &grpc)
                .unwrap_err()
                .to_string()
                .contains("4318")
        );
        assert!(endpoint_of(Some("http://h:4318"), &grpc).unwrap().is_some());
        assert!(endpoint_of(Some("h:4318"), &[]).is_err());
    }

    #[test]
    fn the_log_shows_no_password_of_a_collector() {
        for (endpoint, shown) in [
            ("http://h:1/v1/traces", "http://h:1/v1/traces"),
            (
                "http://user:secret@h:1/v1/traces?key=secret",
                "h:1/v1/traces",
            ),
        ] {
            assert_eq!(without_secrets(endpoint), shown);
        }
    }

    #[test]
    fn a_list_in_a_variable_is_read_or_refused() {
        let read = pairs("V", " a=1 , b = x%20y,,c=").unwrap();
        let expected = [("a", "1"), ("b", "x y"), ("c", "")];
        assert_eq!(
            read,
            expected.map(|(key, value)| (key.into(), value.into()))
        );
        assert!(pairs("V", "a").is_err() && pairs("V", "a=%ff").is_err());
        assert!(pairs("V", &"a=b,".repeat(PAIRS_MAX + 1)).is_err());
        assert!(headers(Some("a b=c")).is_err() && headers(Some("a=%0a")).is_err());
        assert_eq!(headers(Some("Authorization=Bearer%20x")).unwrap().len(), 1);
    }

    #[test]
    fn a_share_is_from_0_to_1() {
        assert_eq!(ratio("0.25"), Ok(0.25));
        for bad in ["-0.1", "1.1", "NaN", "inf", "", "x"] {
            assert!(ratio(bad).is_err(), "{bad}");
        }
    }
}
