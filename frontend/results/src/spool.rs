//! The spool: received frames, in memory while small, else on disk.
//!
//! Frames are appended while a query runs, and read at a pointer's offset for a page. Finished
//! results survive a restart.
//!
//! ```text
//! <spool>/lock                    held while a frontend lives
//! <spool>/<identity>-<n>/         one result; `result_files` lists its files
//! ```
//!
//! A finished, complete result has a manifest. Directories without one are removed at the next
//! start, since everything can be searched for again.
//!
//! **Invariant:** bytes read from disk have passed their checksum a second time, and all result
//! directories stay within the budget.

mod blob;
mod directory;
mod error;
mod kept;
mod pointer_writer;
mod pointers;
mod reader;
mod result_files;

pub use blob::{Blob, OpenFile};
pub use directory::{Recovered, Spool};
pub use error::{SpoolError, io_words};
pub use pointer_writer::PointerWriter;
pub use pointers::{
    BLOCK_LEN as POINTERS_A_BLOCK, BLOCKS_AT_ONCE, ORDER_PARTS_MAX, PointerReader, len_of_pointers,
    partition_pointers,
};
pub use reader::FrameReader;
pub(crate) use reader::{TextFrame, with_text};
pub use result_files::{BeforeWrite, ResultFiles, SpoolConfig};

#[cfg(test)]
mod tests;
