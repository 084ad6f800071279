//! Objects in a directory of this machine, or of a shared file system.
//!
//! Files are written under a temporary name, synced and renamed. Mutable ones are changed under a
//! lock (`flock`), which ends with its process.

use super::object::{Object, Storage, Version, random_name, read_small};
use crate::error::{Result, StoreError};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const LOCK: &str = "lock";

const INCOMPLETE: &str = "incomplete";

#[derive(Debug)]
pub(super) struct Directory {
    root: PathBuf,
}

impl Directory {
    pub(super) fn open(root: &Path) -> Result<Directory> {
        fs::create_dir_all(root).map_err(StoreError::io(root))?;
        let root = root.canonicalize().map_err(StoreError::io(root))?;
        Ok(Directory { root })
    }

    fn write(&self, path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        let incomplete = self.root.join(INCOMPLETE);
        fs::create_dir_all(&incomplete)?;
        let temporary = incomplete.join(random_name());
        let mut file = File::options()
            .write(true)
            .create_new(true)
            .open(&temporary)?;
        let parent = path.parent().unwrap_or(&self.root);
        let written = fill(&mut file)
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::create_dir_all(parent))
            .and_then(|()| fs::rename(&temporary, path))
            .and_then(|()| File::open(parent)?.sync_all());
        if written.is_err() {
            // The first error is reported.
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

impl Storage for Directory {
    fn url(&self) -> String {
        self.root.display().to_string()
    }

    fn read(&self, name: &str) -> Result<Option<(Vec<u8>, Version)>> {
        let path = self.root.join(name);
        let Some(file) = existing(File::open(&path)).map_err(StoreError::io(&path))? else {
            return Ok(None);
        };
        let bytes = read_small(file).map_err(StoreError::io(&path))?;
        let version = version(&bytes);
        Ok(Some((bytes, version)))
    }

    fn download(&self, name: &str, offset: u64, out: &mut dyn Write) -> Result<bool> {
        let path = self.root.join(name);
        let Some(mut file) = existing(File::open(&path)).map_err(StoreError::io(&path))? else {
            return Ok(false);
        };
        let copied = file.seek(SeekFrom::Start(offset));
        let copied = copied.and_then(|_| io::copy(&mut file, out));
        copied.map_err(StoreError::io(&path))?;
        Ok(true)
    }

    fn upload(&self, name: &str, from: &mut dyn Read, _bytes: u64) -> Result<()> {
        let path = self.root.join(name);
        self.write(&path, |file| io::copy(from, file).map(drop))
            .map_err(StoreError::io(&path))
    }

    fn swap(
        &self,
        name: &str,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Option<Version>> {
        let path = self.root.join(LOCK);
        let lock = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(StoreError::io(&path))?;
        let locked = flock(&lock, FlockOperation::LockExclusive).map_err(io::Error::from);
        locked.map_err(StoreError::io(&path))?;
        let known = self.read(name)?.map(|(_, version)| version);
        if known.as_ref() != expected {
            return Ok(None);
        }
        let path = self.root.join(name);
        self.write(&path, |file| file.write_all(bytes))
            .map_err(StoreError::io(&path))?;
        Ok(Some(version(bytes)))
    }

    fn head(&self, name: &str) -> Result<Option<Object>> {
        let path = self.root.join(name);
        let found = existing(fs::metadata(&path)).map_err(StoreError::io(&path))?;
        let object = |metadata: fs::Metadata| -> io::Result<Object> {
            Ok(Object {
                name: name.to_owned(),
                bytes: metadata.len(),
                modified: metadata.modified()?,
            })
        };
        let found = found.filter(fs::Metadata::is_file);
        found.map(object).transpose().map_err(StoreError::io(&path))
    }

    fn list(&self, below: &str) -> Result<Vec<Object>> {
        let directory = self.root.join(below);
        let entries = existing(fs::read_dir(&directory)).map_err(StoreError::io(&directory))?;
        let mut objects = Vec::new();
        for entry in entries.into_iter().flatten() {
            let entry = entry.map_err(StoreError::io(&directory))?;
            // Foreign names, and files removed meanwhile.
            if let Ok(name) = entry.file_name().into_string()
                && let Some(object) = self.head(&format!("{below}/{name}"))?
            {
                objects.push(object);
            }
        }
        objects.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(objects)
    }

    fn delete(&self, name: &str) -> Result<()> {
        let path = self.root.join(name);
        existing(fs::remove_file(&path))
            .map(drop)
            .map_err(StoreError::io(&path))
    }

    fn remove_incomplete(&self, before: SystemTime) -> Result<()> {
        for object in self.list(INCOMPLETE)? {
            if object.modified < before {
                self.delete(&object.name)?;
            }
        }
        Ok(())
    }
}

fn version(bytes: &[u8]) -> Version {
    Version(blake3::hash(bytes).to_hex().to_string())
}

fn existing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
