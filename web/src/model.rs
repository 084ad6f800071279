//! Shapes of `/api/v2`: one declaration each, from which code to write, read and describe (OpenAPI)
//! is derived. Rust clients read answers with them.
//!
//! **Invariant:** fields have a fixed order. Two searches of the same documents differ at most in
//! `id`, `generation`, `next`, `timings`, `missing` and `explain`.
//!
//! Names and texts are bytes, but JSON is UTF-8. A field such as `path` has readable text;
//! `path_base64` has the exact bytes, only if they are not UTF-8. See [`exact`] and [`readable`].

/// Declares structs, and enums of names in lower case. A field `a / a_base64` has the bytes of `a`
/// if they are not UTF-8; `a?` is left out without a value.
macro_rules! shapes {
    () => {};
    ($(#[$($about:tt)*])* enum $name:ident { $($values:tt)* } $($rest:tt)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[derive(serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        #[serde(rename_all = "lowercase")]
        $(#[$($about)*])*
        pub enum $name { $($values)* }
        shapes! { $($rest)* }
    };
    (
        $(#[$($about:tt)*])* struct $name:ident $(<$life:lifetime>)? { $($fields:tt)* }
        $($rest:tt)*
    ) => {
        shapes! { @fields [
            #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
            $(#[$($about)*])*
            pub struct $name $(<$life>)?
        ] {} $($fields)* }
        shapes! { $($rest)* }
    };
    (@fields [$($head:tt)*] $fields:tt) => { $($head)* $fields };
    (
        @fields $head:tt { $($done:tt)* }
        $(#[$($about:tt)*])* $name:ident / $base64:ident: $type:ty, $($rest:tt)*
    ) => {
        shapes! { @fields $head { $($done)* $(#[$($about)*])* pub $name: $type, }
            #[doc = " Present if not UTF-8."]
            $base64?: String,
            $($rest)*
        }
    };
    (
        @fields $head:tt $done:tt
        $(#[$($about:tt)*])* $name:ident? / $base64:ident: $type:ty, $($rest:tt)*
    ) => {
        shapes! { @fields $head $done
            $(#[$($about)*])* $name?: $type,
            #[doc = " Present if not UTF-8."]
            $base64?: String,
            $($rest)*
        }
    };
    (
        @fields $head:tt { $($done:tt)* }
        $(#[$($about:tt)*])* $name:ident?: $type:ty, $($rest:tt)*
    ) => {
        shapes! { @fields $head {
            $($done)*
            $(#[$($about)*])*
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schema(nullable = false)]
            pub $name: Option<$type>,
        } $($rest)* }
    };
    (
        @fields $head:tt { $($done:tt)* }
        $(#[$($about:tt)*])* $name:ident: $type:ty, $($rest:tt)*
    ) => {
        shapes! { @fields $head { $($done)* $(#[$($about)*])* pub $name: $type, } $($rest)* }
    };
}

/// Implements conversions of structs: fields with values, copied ones, and `a / a_base64` from the
/// bytes of `a`, or other ones.
macro_rules! copied {
    (@value $from:ident $field:ident) => { $from.$field.clone() };
    (@value $from:ident $field:ident $value:expr) => { $value };
    (@bytes $from:ident $name:ident) => { &$from.$name };
    (@bytes $from:ident $name:ident $bytes:expr) => { $bytes };
    ($($from:ident: $of:ty => $to:ty {
        $($field:ident $(: $value:expr)?),*
        $(; $($name:ident / $base64:ident $(: $bytes:expr)?),*)?
    })*) => {$(
        impl From<&$of> for $to {
            fn from($from: &$of) -> Self {
                $($(let ($name, $base64) =
                    crate::model::readable_owned(copied!(@bytes $from $name $($bytes)?));)*)?
                Self {
                    $($field: copied!(@value $from $field $($value)?),)*
                    $($($name, $base64),*)?
                }
            }
        }
    )*};
}

mod bytes;
mod catalog;
mod commits;
mod diff;
mod events;
mod explain;
mod facets;
mod limits;
mod matches;
mod page;
mod symbols;

pub use crate::problem::{NewestRevision, ProblemDocument};
pub use bytes::{Malformed, exact};
pub(crate) use bytes::{hex, readable_owned};
pub use catalog::*;
pub use commits::*;
pub use diff::*;
pub use events::*;
pub use explain::*;
pub use facets::*;
pub use limits::*;
pub use matches::*;
pub use page::*;
pub use symbols::*;
