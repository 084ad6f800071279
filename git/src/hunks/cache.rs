//! Decoded blobs that were read last: a version is new in one commit, and old in a later one.

use crate::error::Result;
use crate::objects::Objects;
use clru::{CLruCache, CLruCacheConfig, WeightScale};
use gix::ObjectId;
use std::num::NonZeroUsize;
use std::rc::Rc;

struct Bytes;

impl WeightScale<ObjectId, Rc<[u8]>> for Bytes {
    fn weight(&self, _: &ObjectId, text: &Rc<[u8]>) -> usize {
        text.len() + ENTRY_BYTES
    }
}

const ENTRY_BYTES: usize = 128;

pub struct BlobCache(CLruCache<ObjectId, Rc<[u8]>, std::hash::RandomState, Bytes>);

impl BlobCache {
    pub fn new(bytes_max: usize) -> BlobCache {
        let bytes = NonZeroUsize::new(bytes_max).unwrap_or(NonZeroUsize::MIN);
        BlobCache(CLruCache::with_config(
            CLruCacheConfig::new(bytes).with_scale(Bytes),
        ))
    }

    pub(crate) fn text(
        &mut self,
        objects: &Objects<'_>,
        id: ObjectId,
        bytes_max: u64,
    ) -> Result<Option<Rc<[u8]>>> {
        if let Some(known) = self.0.get(&id) {
            return Ok((known.len() as u64 <= bytes_max).then(|| known.clone()));
        }
        let Some(text) = objects.text(id, bytes_max)? else {
            return Ok(None);
        };
        let text: Rc<[u8]> = text.into();
        let _ = self.0.put_with_weight(id, text.clone());
        Ok(Some(text))
    }
}
