//! JSON arrays of all matches or packages, one element a line.

use super::shapes::{MatchShape, PER_PACKAGE, PackageShape};
use crate::http::stream_body::{MatchSource, PIECE_BYTES, ReadMemory, Source};
use frontend::{PackageGroup, Renderer, SearchResult, SpoolError};
use std::sync::Arc;
use std::vec;

const PACKAGES_AT_ONCE: usize = 64;

pub(super) fn matches(answer: Arc<SearchResult>) -> impl Source {
    let renderer = Renderer::new(Box::new(|found, out| push(&MatchShape::from(found), out)));
    Array::new(MatchSource::new(answer, renderer, b""))
}

pub(super) fn packages(answer: Arc<SearchResult>) -> impl Source {
    Array::new(PackageSource {
        answer,
        written: 0,
        read: Vec::new().into_iter(),
    })
}

fn push(element: &impl serde::Serialize, out: &mut Vec<u8>) {
    out.push(b',');
    serde_json::to_writer(&mut *out, element).expect("elements are plain data");
    out.push(b'\n');
}

/// Array of elements that begin with a comma.
struct Array<S> {
    elements: S,
    is_begun: bool,
    is_over: bool,
}

impl<S> Array<S> {
    fn new(elements: S) -> Array<S> {
        Array {
            elements,
            is_begun: false,
            is_over: false,
        }
    }
}

impl<S: Source> Source for Array<S> {
    fn is_quick(&self) -> bool {
        self.elements.is_quick()
    }

    fn piece(&mut self, memory: &Arc<ReadMemory>) -> Result<Option<Vec<u8>>, SpoolError> {
        let mut out = Vec::new();
        while out.len() < PIECE_BYTES && !self.is_over {
            match self.elements.piece(memory)? {
                Some(piece) if out.is_empty() => out = piece,
                Some(piece) => out.extend_from_slice(&piece),
                None => {
                    if !self.is_begun && out.is_empty() {
                        out.push(b',');
                    }
                    out.push(b']');
                    self.is_over = true;
                }
            }
        }
        if let (false, Some(first)) = (self.is_begun, out.first_mut()) {
            *first = b'[';
            self.is_begun = true;
        }
        Ok(Some(out).filter(|out| !out.is_empty()))
    }

    fn forget(&mut self) {
        self.elements.forget();
    }
}

struct PackageSource {
    answer: Arc<SearchResult>,
    written: usize,
    read: vec::IntoIter<PackageGroup>,
}

impl Source for PackageSource {
    fn is_quick(&self) -> bool {
        self.answer.is_in_memory()
    }

    fn piece(&mut self, _: &Arc<ReadMemory>) -> Result<Option<Vec<u8>>, SpoolError> {
        let mut out = Vec::new();
        while out.len() < PIECE_BYTES {
            if self.read.len() == 0 {
                let end = self.answer.packages().min(self.written + PACKAGES_AT_ONCE);
                self.read = self.answer.package_list(self.written..end)?.into_iter();
            }
            let Some(package) = self.read.next() else {
                break;
            };
            let matches = self.answer.matches_of(&package, PER_PACKAGE)?;
            push(&PackageShape::new(&package, &matches), &mut out);
            self.written += 1;
        }
        Ok(Some(out).filter(|out| !out.is_empty()))
    }

    fn forget(&mut self) {
        // These packages are read again.
        self.read = Vec::new().into_iter();
    }
}
