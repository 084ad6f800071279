//! Immutable objects, and small ones that are changed by compare-and-swap.
//!
//! Objects are written atomically. Calls block: do not make them in an asynchronous runtime.

mod directory;
mod object;
mod s3;

pub(crate) use object::random_name;
pub use object::{Object, Put, Version};

use crate::error::StoreError;
use directory::Directory;
use s3::S3;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// Objects in a directory or a bucket.
#[derive(Clone, Debug)]
pub struct Objects(Arc<Kind>);

#[derive(Debug)]
enum Kind {
    Directory(Directory),
    S3(S3),
}

impl Objects {
    /// Opens a directory (created if needed), or `s3://BUCKET/PREFIX`.
    pub fn open(url: &str) -> Result<Objects, StoreError> {
        let kind = match url.split_once("://") {
            Some(("s3", place)) => Kind::S3(S3::open(url, place)?),
            Some(_) => return Err(StoreError::BadUrl(url.to_owned())),
            None if url.is_empty() => return Err(StoreError::BadUrl(url.to_owned())),
            None => Kind::Directory(Directory::open(Path::new(url))?),
        };
        Ok(Objects(Arc::new(kind)))
    }

    /// Name for messages.
    pub fn url(&self) -> String {
        match &*self.0 {
            Kind::Directory(directory) => directory.root().display().to_string(),
            Kind::S3(s3) => s3.url().to_owned(),
        }
    }

    /// Name of an object for messages.
    pub fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.url())
    }

    /// Reads a small object and its version, if it exists.
    pub fn read(&self, name: &str) -> Result<Option<(Vec<u8>, Version)>, StoreError> {
        match &*self.0 {
            Kind::Directory(directory) => directory.read(name),
            Kind::S3(s3) => s3.read(name),
        }
    }

    /// Writes the bytes from `offset` on to `out`. Returns whether the object exists.
    pub fn download(
        &self,
        name: &str,
        offset: u64,
        out: &mut dyn Write,
    ) -> Result<bool, StoreError> {
        match &*self.0 {
            Kind::Directory(directory) => directory.download(name, offset, out),
            Kind::S3(s3) => s3.download(name, offset, out),
        }
    }

    /// Writes or replaces an object.
    pub fn upload(&self, name: &str, from: &mut dyn Read, bytes: u64) -> Result<(), StoreError> {
        match &*self.0 {
            Kind::Directory(directory) => directory.upload(name, from),
            Kind::S3(s3) => s3.upload(name, from, bytes),
        }
    }

    /// Writes a small object if its version is `expected`. `None`: if it is missing.
    pub fn swap(
        &self,
        name: &str,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Put, StoreError> {
        match &*self.0 {
            Kind::Directory(directory) => directory.swap(name, expected, bytes),
            Kind::S3(s3) => s3.swap(name, expected, bytes),
        }
    }

    /// Length and time of an object, if it exists.
    pub fn head(&self, name: &str) -> Result<Option<Object>, StoreError> {
        match &*self.0 {
            Kind::Directory(directory) => directory.head(name),
            Kind::S3(s3) => s3.head(name),
        }
    }

    /// Lists the objects directly below a name, ascending.
    pub fn list(&self, below: &str) -> Result<Vec<Object>, StoreError> {
        match &*self.0 {
            Kind::Directory(directory) => directory.list(below),
            Kind::S3(s3) => s3.list(below),
        }
    }

    /// Removes an object, if any.
    pub fn delete(&self, name: &str) -> Result<(), StoreError> {
        match &*self.0 {
            Kind::Directory(directory) => directory.delete(name),
            Kind::S3(s3) => s3.delete(name),
        }
    }

    /// Removes leftovers from before `before`.
    pub fn remove_incomplete(&self, before: SystemTime) -> Result<(), StoreError> {
        match &*self.0 {
            Kind::Directory(directory) => directory.remove_incomplete(before),
            // A rule of the bucket removes parts of uploads.
            Kind::S3(_) => Ok(()),
        }
    }

    /// The store's time. Needs to write.
    pub fn now(&self) -> Result<SystemTime, StoreError> {
        let name = format!("check/{}", random_name());
        self.upload(&name, &mut &b"1"[..], 1)?;
        let found = self.head(&name);
        self.delete(&name)?;
        let missing = || StoreError::Storage {
            object: name,
            reason: "it was written, and is not there".to_owned(),
        };
        Ok(found?.ok_or_else(missing)?.modified)
    }

    /// The store's time. Fails if the store ignores conditions. Needs to write.
    pub fn check(&self) -> Result<SystemTime, StoreError> {
        let name = format!("check/{}", random_name());
        let result = self.check_with(&name)?;
        self.delete(&name)?;
        Ok(result)
    }

    fn check_with(&self, name: &str) -> Result<SystemTime, StoreError> {
        let missing = || StoreError::NoConditions(self.url());
        let Put::Done(first) = self.swap(name, None, b"1")? else {
            return Err(missing());
        };
        let is_refused = |expected: Option<&Version>| -> Result<bool, StoreError> {
            Ok(self.swap(name, expected, b"2")? == Put::Refused)
        };
        if !is_refused(None)? {
            return Err(missing());
        }
        let Put::Done(second) = self.swap(name, Some(&first), b"3")? else {
            return Err(missing());
        };
        if !is_refused(Some(&first))? || first == second {
            return Err(missing());
        }
        let found = self.head(name)?.ok_or_else(missing)?;
        Ok(found.modified)
    }
}
