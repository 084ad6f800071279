//! Answer over HTTP.

/// Answer over HTTP.
pub type Reply =
    http::Response<http_body_util::combinators::BoxBody<bytes::Bytes, std::convert::Infallible>>;
