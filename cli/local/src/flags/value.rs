//! Values of flags.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;

pub(super) fn text(value: &OsStr) -> Result<&str> {
    value.to_str().context("value is not valid UTF-8")
}

pub(super) fn owned(value: &OsStr) -> Result<String> {
    text(value).map(str::to_owned)
}

pub(super) fn number<N: std::str::FromStr>(value: &OsStr) -> Result<N>
where
    N::Err: std::error::Error + Send + Sync + 'static,
{
    text(value)?.parse().context("value is not a valid number")
}

/// Bytes, with the suffixes `K`, `M` and `G`.
pub(super) fn size(value: &OsStr) -> Result<u64> {
    grep::cli::parse_human_readable_size(text(value)?).context("invalid size")
}

pub(super) fn memory(value: &OsStr) -> Result<usize> {
    usize::try_from(size(value)?).context("size is too big")
}

/// Bytes of a separator; escapes name those that are not UTF-8.
pub(super) fn separator(value: &OsStr) -> Result<Vec<u8>> {
    let Some(value) = value.to_str() else {
        bail!(
            "separator must be valid UTF-8 (use escape sequences to provide a separator that is \
             not valid UTF-8)"
        );
    };
    Ok(crate::arguments::unescaped(value))
}
