//! `.gitattributes` of directories.

use super::{File, ReadOutcome, Source, read};
use crate::document::{canonical, classify_as};
use git::Attributes;
use language::path::split_name;

/// Sets the attributes of walked files, and orders them again.
pub(crate) fn set_attributes(source: &Source, files: &mut [File]) {
    let mut attributes = Attributes::default();
    for file in files.iter().filter(|file| is_attributes(file)) {
        let mut text = Vec::new();
        if let Ok(ReadOutcome::Text { .. }) = read(source, file, &mut text) {
            attributes.add(&file.path, &text);
        }
    }
    attributes.finish();
    if attributes.is_empty() {
        return;
    }
    for file in &mut *files {
        let of_file = attributes.of(&file.path);
        file.is_foreign = of_file.is_foreign;
        file.language = of_file.language.as_deref().and_then(canonical);
    }
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    files.sort_by_cached_key(|file| classify_as(&file.path, file.is_foreign));
}

fn is_attributes(file: &File) -> bool {
    split_name(&file.path).1 == b".gitattributes" && file.bytes <= git::ATTRIBUTE_BYTES_MAX
}
