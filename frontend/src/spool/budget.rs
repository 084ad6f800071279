//! The bytes that all results of a spool may take, and their settings.

use super::error::SpoolError;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Called before every write to the disk; its error replaces the write. For tests.
pub type BeforeWrite = Arc<dyn Fn() -> io::Result<()> + Send + Sync>;

/// Settings of a spool.
#[derive(Clone)]
pub(crate) struct SpoolConfig {
    /// Bytes on disk, over all results.
    pub(crate) disk_bytes_max: u64,
    /// Bytes that a result has in memory before it spills to disk.
    pub(crate) result_memory_max: u64,
    /// Whether finished results outlive the process.
    pub(crate) durable: bool,
    pub(crate) before_write: Option<BeforeWrite>,
}

/// Bytes in use, over all results.
pub(super) struct Budget {
    pub(super) config: SpoolConfig,
    pub(super) disk_bytes: AtomicU64,
    pub(super) memory_bytes: AtomicU64,
    /// Evicts results to free a number of bytes, if it can.
    pub(super) evict: OnceLock<Box<dyn Fn(u64) + Send + Sync>>,
}

impl Budget {
    pub(super) fn new(config: SpoolConfig) -> Budget {
        Budget {
            config,
            disk_bytes: AtomicU64::new(0),
            memory_bytes: AtomicU64::new(0),
            evict: OnceLock::new(),
        }
    }

    /// Reserves bytes on disk. Evicts older results when the budget is used up.
    pub(super) fn reserve(&self, bytes: u64) -> Result<(), SpoolError> {
        self.try_reserve(bytes).or_else(|_| {
            if let Some(evict) = self.evict.get() {
                evict(bytes);
            }
            self.try_reserve(bytes)
        })
    }

    fn try_reserve(&self, bytes: u64) -> Result<(), SpoolError> {
        let before = self.disk_bytes.fetch_add(bytes, Relaxed);
        let bytes_max = self.config.disk_bytes_max;
        if before + bytes > bytes_max {
            self.disk_bytes.fetch_sub(bytes, Relaxed);
            return Err(SpoolError::Full { bytes_max });
        }
        Ok(())
    }

    pub(super) fn check_write(&self) -> io::Result<()> {
        let check = self.config.before_write.as_ref();
        check.map_or(Ok(()), |check| check())
    }
}
