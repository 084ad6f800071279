//! Immutable objects, and small ones that are changed by compare-and-swap.
//!
//! Objects are written atomically. Calls block: do not make them in an asynchronous runtime.

mod directory;
mod object;
#[cfg(feature = "s3")]
mod s3;

pub use object::{Object, Storage, Version};
pub(crate) use object::{random_name, seconds};

use crate::error::{Result, StoreError};
use directory::Directory;
#[cfg(feature = "s3")]
use s3::S3;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

#[derive(Clone, Debug)]
pub struct Objects(Arc<dyn Storage>);

impl Deref for Objects {
    type Target = dyn Storage;

    fn deref(&self) -> &Self::Target {
        self.0.as_ref()
    }
}

impl Objects {
    /// Opens a directory (created if needed), or `s3://BUCKET/PREFIX`.
    pub fn open(url: &str) -> Result<Objects> {
        Ok(Objects(match url.split_once("://") {
            #[cfg(feature = "s3")]
            Some(("s3", place)) => Arc::new(S3::open(url, place)?),
            #[cfg(not(feature = "s3"))]
            Some(("s3", _)) => return Err(StoreError::NoBuckets(url.to_owned())),
            Some(_) => return Err(StoreError::BadUrl(url.to_owned())),
            None if url.is_empty() => return Err(StoreError::BadUrl(url.to_owned())),
            None => Arc::new(Directory::open(Path::new(url))?),
        }))
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        self.upload(name, &mut text.as_bytes(), text.len() as u64)
    }

    pub fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.url())
    }

    /// The store's time. Needs to write.
    pub fn now(&self) -> Result<SystemTime> {
        let name = format!("check/{}", random_name());
        self.write(&name, "1")?;
        let found = self.head(&name);
        self.delete(&name)?;
        let missing = || StoreError::Storage {
            object: name,
            reason: "it was written, and is not there".to_owned(),
        };
        Ok(found?.ok_or_else(missing)?.modified)
    }

    /// The store's time. Fails if the store ignores conditions. Needs to write.
    pub fn check(&self) -> Result<SystemTime> {
        let name = &format!("check/{}", random_name());
        let missing = || StoreError::NoConditions(self.url());
        let first = self.swap(name, None, b"1")?.ok_or_else(missing)?;
        if self.swap(name, None, b"2")?.is_some() {
            return Err(missing());
        }
        let second = self.swap(name, Some(&first), b"3")?.ok_or_else(missing)?;
        if self.swap(name, Some(&first), b"2")?.is_some() || first == second {
            return Err(missing());
        }
        let found = self.head(name)?.ok_or_else(missing)?;
        self.delete(name)?;
        Ok(found.modified)
    }
}
