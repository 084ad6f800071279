//! Messages survive encoding, and invalid ones are refused.

mod batches;
mod expressions;
mod lists;
mod look_ups;
mod searches;

use super::*;
use crate::frame::{HEADER_BYTES, decode as decode_frame};
use std::num::{NonZeroU64, NonZeroU128};
use zerocopy::IntoBytes;

fn aligned(frame: &[u8]) -> Vec<u64> {
    decode_frame(frame).unwrap().expect("a whole frame");
    let mut words = vec![0; (frame.len() - HEADER_BYTES) / 8];
    words.as_mut_bytes().copy_from_slice(&frame[HEADER_BYTES..]);
    words
}

/// Three shards: a bitmap, all packages, none.
fn visible() -> Option<Vec<VisibleShard>> {
    let shard = |id: u8, packages: &[u8], is_all| VisibleShard {
        shard: [id; 32],
        packages: packages.into(),
        is_all,
    };
    Some(vec![
        shard(5, &[0x81, 1], false),
        shard(6, &[], true),
        shard(7, &[], false),
    ])
}

macro_rules! check_round_trip {
    ($type:ty, $message:expr) => {{
        let message: $type = $message;
        let mut frame = Vec::new();
        message.encode(&mut frame).unwrap();
        assert_eq!(
            <$type>::decode(aligned(&frame).as_bytes()).unwrap(),
            message
        );
    }};
}
use check_round_trip;
