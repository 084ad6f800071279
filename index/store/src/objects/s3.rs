//! Objects in a bucket with the S3 API.
//!
//! Mutable objects are written with `If-None-Match: *` or `If-Match`. Calls block on a small
//! runtime.

use super::object::{Object, SMALL_BYTES_MAX, Storage, Version};
use crate::error::{Result, StoreError};
use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{
    ClientOptions, Error, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode,
    PutOptions, PutPayload, RetryConfig, UpdateVersion, WriteMultipart,
};
use std::io::{Read, Write};
use std::time::{Duration, SystemTime};
use tokio::runtime::Runtime;

/// 10,000 parts allow 160 GB.
const PART_BYTES: usize = 16 << 20;

const PARTS_MAX: usize = 4;

const REQUEST_MAX: Duration = Duration::from_secs(60);
const RETRY_MAX: Duration = Duration::from_secs(60);
const CONNECT_MAX: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct S3 {
    bucket: AmazonS3,
    /// Empty, or ending in `/`.
    prefix: String,
    url: String,
    runtime: Runtime,
}

impl S3 {
    /// Credentials, region and endpoint come from the environment (`AWS_ACCESS_KEY_ID`,
    /// `AWS_REGION`, `AWS_ENDPOINT_URL`, …), or the machine.
    pub(super) fn open(url: &str, place: &str) -> Result<S3> {
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        if bucket.is_empty() {
            return Err(StoreError::BadUrl(url.to_owned()));
        }
        // Later calls have no effect, and choose the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = ClientOptions::new()
            .with_connect_timeout(CONNECT_MAX)
            .with_timeout(REQUEST_MAX)
            .with_allow_http(true);
        let retry = RetryConfig {
            retry_timeout: RETRY_MAX,
            ..RetryConfig::default()
        };
        let bucket = AmazonS3Builder::from_env()
            .with_bucket_name(bucket)
            .with_client_options(client)
            .with_retry(retry)
            .build()
            .map_err(|error| storage(url.to_owned(), error))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("object storage")
            .enable_all()
            .build()
            .map_err(StoreError::io(std::path::Path::new(url)))?;
        let prefix = prefix.trim_matches('/');
        let prefix = if prefix.is_empty() {
            String::new()
        } else {
            format!("{prefix}/")
        };
        Ok(S3 {
            bucket,
            prefix,
            url: url.trim_end_matches('/').to_owned(),
            runtime,
        })
    }

    fn path(&self, name: &str) -> Path {
        Path::from(format!("{}{name}", self.prefix))
    }

    fn failed(&self, name: &str) -> impl FnOnce(Error) -> StoreError {
        let object = format!("{}/{name}", self.url);
        move |error| storage(object, error)
    }
}

impl Storage for S3 {
    fn url(&self) -> String {
        self.url.clone()
    }

    fn read(&self, name: &str) -> Result<Option<(Vec<u8>, Version)>> {
        self.runtime.block_on(async {
            let Some(found) =
                existing(self.bucket.get(&self.path(name)).await).map_err(self.failed(name))?
            else {
                return Ok(None);
            };
            if found.meta.size > SMALL_BYTES_MAX {
                let object = format!("{}/{name}", self.url);
                return Err(StoreError::damaged(object, "has more than 1 GiB"));
            }
            let version = found.meta.e_tag.clone();
            let version = version.ok_or_else(|| StoreError::NoConditions(self.url.clone()))?;
            let bytes = found.bytes().await.map_err(self.failed(name))?;
            Ok(Some((bytes.to_vec(), Version(version))))
        })
    }

    fn download(&self, name: &str, offset: u64, out: &mut dyn Write) -> Result<bool> {
        self.runtime.block_on(async {
            let options = GetOptions {
                range: (offset > 0).then_some(GetRange::Offset(offset)),
                ..GetOptions::default()
            };
            let found = self.bucket.get_opts(&self.path(name), options).await;
            let Some(found) = existing(found).map_err(self.failed(name))? else {
                return Ok(false);
            };
            let mut parts = found.into_stream();
            while let Some(part) = parts.next().await {
                let part = part.map_err(self.failed(name))?;
                let at = std::path::Path::new(name);
                out.write_all(&part).map_err(StoreError::io(at))?;
            }
            Ok(true)
        })
    }

    fn upload(&self, name: &str, from: &mut dyn Read, bytes: u64) -> Result<()> {
        let at = std::path::Path::new(name);
        self.runtime.block_on(async {
            if bytes <= PART_BYTES as u64 {
                let mut all = Vec::new();
                from.read_to_end(&mut all).map_err(StoreError::io(at))?;
                let path = self.path(name);
                let put = self.bucket.put(&path, PutPayload::from(all)).await;
                return put.map(drop).map_err(self.failed(name));
            }
            let upload = self.bucket.put_multipart(&self.path(name)).await;
            let upload = upload.map_err(self.failed(name))?;
            let mut parts = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
            loop {
                let mut part = Vec::with_capacity(PART_BYTES);
                let read = from.take(PART_BYTES as u64).read_to_end(&mut part);
                let ready = parts.wait_for_capacity(PARTS_MAX - 1).await;
                match (read, ready) {
                    (Ok(0), Ok(())) => break,
                    (Ok(_), Ok(())) => parts.put(part.into()),
                    (Err(error), _) => {
                        // The first error is reported.
                        let _ = parts.abort().await;
                        return Err(StoreError::io(at)(error));
                    }
                    (_, Err(error)) => {
                        let _ = parts.abort().await;
                        return Err(self.failed(name)(error));
                    }
                }
            }
            parts.finish().await.map(drop).map_err(self.failed(name))
        })
    }

    fn swap(
        &self,
        name: &str,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Option<Version>> {
        let mode = match expected {
            None => PutMode::Create,
            Some(Version(tag)) => PutMode::Update(UpdateVersion {
                e_tag: Some(tag.clone()),
                version: None,
            }),
        };
        let path = self.path(name);
        let payload = PutPayload::from(bytes.to_vec());
        let put = self.bucket.put_opts(&path, payload, PutOptions::from(mode));
        match self.runtime.block_on(put) {
            Ok(done) => {
                let tag = done.e_tag;
                let tag = tag.ok_or_else(|| StoreError::NoConditions(self.url.clone()))?;
                Ok(Some(Version(tag)))
            }
            Err(
                Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotFound { .. },
            ) => Ok(None),
            Err(error) => Err(self.failed(name)(error)),
        }
    }

    fn head(&self, name: &str) -> Result<Option<Object>> {
        let path = self.path(name);
        let found = self.runtime.block_on(self.bucket.head(&path));
        let found = existing(found).map_err(self.failed(name))?;
        Ok(found.map(|meta| object(name.to_owned(), &meta)))
    }

    fn list(&self, below: &str) -> Result<Vec<Object>> {
        let path = self.path(below);
        let found = self.bucket.list(Some(&path)).try_collect::<Vec<_>>();
        let found = self.runtime.block_on(found).map_err(self.failed(below))?;
        let named = |meta: &ObjectMeta| {
            let name = meta.location.as_ref().strip_prefix(&self.prefix)?;
            let is_direct = !name[below.len() + 1..].contains('/');
            is_direct.then(|| object(name.to_owned(), meta))
        };
        let mut objects: Vec<Object> = found.iter().filter_map(named).collect();
        objects.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(objects)
    }

    fn delete(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        let deleted = self.runtime.block_on(self.bucket.delete(&path));
        existing(deleted).map(drop).map_err(self.failed(name))
    }

    /// A rule of the bucket removes parts of uploads.
    fn remove_incomplete(&self, _before: SystemTime) -> Result<()> {
        Ok(())
    }
}

fn object(name: String, meta: &ObjectMeta) -> Object {
    Object {
        name,
        bytes: meta.size,
        modified: meta.last_modified.into(),
    }
}

fn existing<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn storage(object: String, error: Error) -> StoreError {
    match error {
        Error::PermissionDenied { source, .. } | Error::Unauthenticated { source, .. } => {
            let reason = source.to_string();
            StoreError::Denied { object, reason }
        }
        error => StoreError::Storage {
            object,
            reason: error.to_string(),
        },
    }
}
