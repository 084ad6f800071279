//! Plain records: one table of fields gives the struct, its writer and its reader.
//!
//! A field's row names the accessors of the generated type, and may name a bound of its value.

use super::codec::MessageError;
use capnp::{struct_list, text};
use std::sync::Arc;

/// Value as its generated setter takes it.
pub(super) trait Write {
    type Wire<'a>
    where
        Self: 'a;

    fn wire(&self) -> Self::Wire<'_>;
}

/// Value of a generated getter's result.
pub(super) trait Read<W>: Sized {
    fn read(wire: W) -> Result<Self, MessageError>;
}

macro_rules! plain_values {
    ($($type:ty),+) => {$(
        impl Write for $type {
            type Wire<'a> = $type;

            fn wire(&self) -> $type {
                *self
            }
        }

        impl Read<$type> for $type {
            fn read(wire: $type) -> Result<Self, MessageError> {
                Ok(wire)
            }
        }
    )+};
}

plain_values!(bool, u16, u32, u64, i32, i64, f32);

macro_rules! byte_values {
    ($($type:ty: $read:expr),+ $(,)?) => {$(
        impl Write for $type {
            type Wire<'a> = &'a [u8];

            fn wire(&self) -> &[u8] {
                &self[..]
            }
        }

        impl Read<capnp::Result<&[u8]>> for $type {
            fn read(wire: capnp::Result<&[u8]>) -> Result<Self, MessageError> {
                let read: fn(&[u8]) -> Result<Self, MessageError> = $read;
                read(wire?)
            }
        }
    )+};
}

byte_values!(
    Vec<u8>: |bytes| Ok(bytes.to_vec()),
    Arc<[u8]>: |bytes| Ok(bytes.into()),
    [u8; 32]: |bytes| bytes.try_into().map_err(|_| MessageError::Impossible("shard id")),
    [u8; 16]: scope,
);

/// Decodes a scope hash; that of everything is omitted.
fn scope(bytes: &[u8]) -> Result<[u8; 16], MessageError> {
    if bytes.is_empty() {
        return Ok([0; 16]);
    }
    let hash = bytes.try_into();
    hash.map_err(|_| MessageError::Impossible("hash of a scope"))
}

impl Write for String {
    type Wire<'a> = &'a str;

    fn wire(&self) -> &str {
        self
    }
}

impl Read<capnp::Result<text::Reader<'_>>> for String {
    fn read(wire: capnp::Result<text::Reader<'_>>) -> Result<Self, MessageError> {
        Ok(wire?.to_str()?.to_owned())
    }
}

/// Encoding of a missing number.
const NONE: u32 = u32::MAX;

impl Write for Option<u32> {
    type Wire<'a> = u32;

    fn wire(&self) -> u32 {
        self.unwrap_or(NONE)
    }
}

impl Read<u32> for Option<u32> {
    fn read(wire: u32) -> Result<Self, MessageError> {
        Ok(Some(wire).filter(|&number| number != NONE))
    }
}

impl<T: Read<L::Item>, L: IntoIterator> Read<capnp::Result<L>> for Vec<T> {
    fn read(wire: capnp::Result<L>) -> Result<Self, MessageError> {
        wire?.into_iter().map(T::read).collect()
    }
}

/// Refuses a list of more than `most` records before one is read.
pub(super) fn at_most<'a, T: capnp::traits::OwnedStruct>(
    most: usize,
    what: &'static str,
    list: capnp::Result<struct_list::Reader<'a, T>>,
) -> Result<capnp::Result<struct_list::Reader<'a, T>>, MessageError> {
    match list {
        Ok(list) if list.len() as usize > most => Err(MessageError::Impossible(what)),
        list => Ok(list),
    }
}

/// `Read` by a type's own `decode_from`.
macro_rules! read_from {
    ($($type:ty: $wire:ident),+ $(,)?) => {$(
        impl $crate::message::record::Read<$wire::Reader<'_>> for $type {
            fn read(wire: $wire::Reader<'_>) -> Result<Self, $crate::message::MessageError> {
                Self::decode_from(wire)
            }
        }

        impl $crate::message::record::Read<capnp::Result<$wire::Reader<'_>>> for $type {
            fn read(
                wire: capnp::Result<$wire::Reader<'_>>,
            ) -> Result<Self, $crate::message::MessageError> {
                Self::decode_from(wire?)
            }
        }
    )+};
}

pub(super) use read_from;

/// `encode` and `decode` as a frame. A bound of the words may follow `in`, else 8 KiB are zeroed.
macro_rules! frame_message {
    (@builder $message:expr) => { $crate::message::codec::builder() };
    (@builder $message:expr, $words:expr) => {
        $crate::message::codec::builder_of($words($message))
    };
    ($($message:ty: $kind:ident $(in $words:expr)?),+ $(,)?) => {$(
        impl $message {
            pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), $crate::message::MessageError> {
                let mut message = frame_message!(@builder self $(, $words)?);
                self.encode_to(message.init_root());
                $crate::message::codec::finish($crate::frame::Kind::$kind, &message, out)
            }

            pub fn decode(payload: &[u8]) -> Result<Self, $crate::message::MessageError> {
                let message = $crate::message::codec::reader(payload)?;
                Self::decode_from(message.get_root()?)
            }
        }
    )+};
}

pub(super) use frame_message;

/// Writes a list of structs: `encode_records!(to.init_hunks, self.hunks)`.
macro_rules! encode_records {
    ($to:ident.$init:ident, $records:expr) => {
        let mut list = $to
            .reborrow()
            .$init($crate::message::codec::length($records.len()));
        for (index, record) in (0..).zip($records.iter()) {
            record.encode_to(list.reborrow().get(index));
        }
    };
}

pub(super) use encode_records;

macro_rules! encode_values {
    ($to:ident.$init:ident, $values:expr) => {
        let mut list = $to
            .reborrow()
            .$init($crate::message::codec::length($values.len()));
        for (index, value) in (0..).zip($values.iter()) {
            list.set(index, &value[..]);
        }
    };
}

pub(super) use encode_values;

/// Structs and enums with writer and reader. An enum has the variants of the generated one. Rows of
/// fields:
///
/// - `[get, set]`: a value, perhaps with a check of the one read;
/// - `[get, numbers set]`, `[get, values init]`, `[get, records init]`: a list of numbers, of texts
///   or bytes, of records, perhaps with a bound and its name; `[get, some init]` is not written if
///   empty;
/// - `[get, record init]`, `[has, get, optional init]`: another record; without `has`, its `Read`
///   decides if there is one;
/// - `[number set]`: number of records in messages that follow;
/// - `[union]`: an enum at the same place;
/// - `[phases]`, `[visible]`: fields of several messages that are not records of their own.
///
/// After the generated type may come the only version that is read, and a check of the whole
/// record.
macro_rules! record {
    (@write $value:expr, $to:ident, [$get:ident, $set:ident $(, $check:ident)?]) => {
        $to.$set($crate::message::record::Write::wire(&$value));
    };
    (@write $value:expr, $to:ident, [$get:ident, numbers $set:ident]) => {
        $to.$set(&$value[..]).expect("numbers can be copied");
    };
    (@write $value:expr, $to:ident, [$get:ident, values $init:ident]) => {
        encode_values!($to.$init, $value);
    };
    (@write $value:expr, $to:ident, [$get:ident, records $init:ident $(, $($bound:tt)+)?]) => {
        encode_records!($to.$init, $value);
    };
    (@write $value:expr, $to:ident, [$get:ident, some $init:ident]) => {
        if !$value.is_empty() {
            encode_records!($to.$init, $value);
        }
    };
    (@write $value:expr, $to:ident, [$get:ident, record $init:ident]) => {
        $value.encode_to($to.reborrow().$init());
    };
    (@write $value:expr, $to:ident, [$has:ident, $get:ident, optional $init:ident]) => {
        record!(@write $value, $to, [$get, optional $init])
    };
    (@write $value:expr, $to:ident, [$get:ident, optional $init:ident]) => {
        if let Some(record) = &$value {
            record.encode_to($to.reborrow().$init());
        }
    };
    (@write $value:expr, $to:ident, [number $set:ident]) => {
        $to.$set($crate::message::codec::length($value.len()));
    };
    (@write $value:expr, $to:ident, [union]) => {
        $value.encode_to($to.reborrow());
    };
    (@write $value:expr, $to:ident, [phases]) => {
        $to.set_plan_us($value.plan_us);
        $to.set_candidates_us($value.candidates_us);
        $to.set_verify_us($value.verify_us);
    };
    (@write $value:expr, $to:ident, [visible]) => {
        $to.set_restricted($value.is_some());
        let visible = $value.as_deref().unwrap_or_default();
        encode_records!($to.init_visible, visible);
    };
    (@read $from:ident, [$get:ident, $set:ident, $check:ident]) => {
        $check($from.$get())?
    };
    (@read $from:ident, [$get:ident, records $init:ident, $most:ident $what:literal]) => {{
        let list = $crate::message::record::at_most($most, $what, $from.$get())?;
        $crate::message::record::Read::read(list)?
    }};
    (@read $from:ident, [$has:ident, $get:ident, optional $init:ident]) => {
        if $from.$has() {
            Some($crate::message::record::Read::read($from.$get())?)
        } else {
            None
        }
    };
    (@read $from:ident, [number $set:ident]) => {
        Vec::new()
    };
    (@read $from:ident, [union]) => {
        $crate::message::record::Read::read($from)?
    };
    (@read $from:ident, [phases]) => {
        Phases {
            plan_us: count($from.get_plan_us())?,
            candidates_us: count($from.get_candidates_us())?,
            verify_us: count($from.get_verify_us())?,
        }
    };
    (@read $from:ident, [visible]) => {
        visible($from.get_restricted(), $from.get_visible())?
    };
    (@read $from:ident, [$get:ident, $($set:ident)+]) => {
        $crate::message::record::Read::read($from.$get())?
    };
    () => {};
    (
        $(#[$about:meta])*
        pub enum $name:ident: $wire:ty {
            $($(#[$about_variant:meta])* $variant:ident,)+
        }
        $($rest:tt)*
    ) => {
        $(#[$about])*
        pub enum $name {
            $($(#[$about_variant])* $variant,)+
        }

        impl $crate::message::record::Write for $name {
            type Wire<'a> = $wire;

            fn wire(&self) -> $wire {
                match self {
                    $($name::$variant => <$wire>::$variant,)+
                }
            }
        }

        impl $crate::message::record::Read<Result<$wire, capnp::NotInSchema>> for $name {
            fn read(
                wire: Result<$wire, capnp::NotInSchema>,
            ) -> Result<Self, $crate::message::MessageError> {
                Ok(match wire? {
                    $(<$wire>::$variant => $name::$variant,)+
                })
            }
        }

        record!($($rest)*);
    };
    (
        $(#[$about:meta])*
        $see:vis struct $name:ident: $wire:ident $(= $version:ident)? $(, $check:ident)? {
            $($(#[$about_field:meta])* $see_field:vis $field:ident: $type:ty = $row:tt,)+
        }
        $($rest:tt)*
    ) => {
        $(#[$about])*
        $see struct $name {
            $($(#[$about_field])* $see_field $field: $type,)+
        }

        impl $name {
            #[inline]
            pub(super) fn encode_to(&self, mut to: $wire::Builder<'_>) {
                $(to.set_version($version);)?
                $(record!(@write self.$field, to, $row);)+
            }

            pub(super) fn decode_from(
                from: $wire::Reader<'_>,
            ) -> Result<Self, $crate::message::MessageError> {
                $(if from.get_version() != $version {
                    return Err($crate::message::MessageError::Impossible("version"));
                })?
                let record = $name { $($field: record!(@read from, $row),)+ };
                $(record.$check()?;)?
                Ok(record)
            }
        }

        read_from!($name: $wire);
        record!($($rest)*);
    };
}

pub(super) use record;

/// Enum of a union's groups. A variant names the initialiser of its group.
macro_rules! groups {
    (
        $(#[$about:meta])*
        pub enum $name:ident: $wire:ident {
            $(
                $(#[$about_variant:meta])*
                $variant:ident = $init:ident {
                    $($(#[$about_field:meta])* $field:ident: $type:ty = $row:tt,)+
                },
            )+
        }
    ) => {
        $(#[$about])*
        pub enum $name {
            $(
                $(#[$about_variant])*
                $variant { $($(#[$about_field])* $field: $type,)+ },
            )+
        }

        impl $name {
            pub(super) fn encode_to(&self, to: $wire::Builder<'_>) {
                match self {
                    $($name::$variant { $($field),+ } => {
                        let mut to = to.$init();
                        $(record!(@write *$field, to, $row);)+
                    })+
                }
            }

            pub(super) fn decode_from(
                from: $wire::Reader<'_>,
            ) -> Result<Self, $crate::message::MessageError> {
                Ok(match from.which()? {
                    $($wire::$variant(from) => $name::$variant {
                        $($field: record!(@read from, $row),)+
                    },)+
                })
            }
        }

        read_from!($name: $wire);
    };
}

pub(super) use groups;
