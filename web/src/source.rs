//! Source files: ranges of their text (`file_range`), their colours and the cache of these.

pub(crate) mod colours;
pub(crate) mod file_range;
