//! Renders all matches of a result as bytes in bounded memory, for large exports.
//!
//! The order jumps between frames. So threads render a window of it in spool order, and
//! hand it out in result order.
//!
//! **Invariant:** the bytes depend neither on window size nor on the number of threads.

mod part;

pub use part::WriteMatch;

use super::SearchResult;
use super::search_result::{LinePosition, in_spool_order};
use crate::order::Pointer;
use crate::parallel::in_parallel;
use crate::spool::SpoolError;
use part::{Part, PartBytes, Rendered};
use std::sync::Arc;

/// Approximate bytes of names and numbers in a match.
const NAMES_BYTES: usize = 64;

/// Memory of a match in a window besides its bytes: pointer, two spool positions, two byte places.
const PLACE_BYTES: usize =
    size_of::<Pointer>() + 2 * size_of::<LinePosition>() + 2 * size_of::<Rendered>();

/// Largest shrink of the expected match size per window: a few short matches mean little.
const SHRINK_MAX: usize = 4;

/// Matches that justify a thread.
const PART_LEN_MIN: usize = 10_000;

/// Threads per window. More do not help: output is slower.
const PARTS_MAX: usize = 4;

/// Renders ranges of the order. A clone keeps the learned match size.
#[derive(Clone, Default)]
pub struct Renderer {
    /// `None`: text as [`Match::write_text`](super::matches::Match::write_text), directly from
    /// frames.
    write: Option<Arc<WriteMatch>>,
    /// Learned memory per match; 0 before the first window.
    match_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderedMatch<'a> {
    pub index: usize,
    pub bytes: &'a [u8],
    /// False if a long line is cut.
    pub whole: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    All,
    /// Those before the next cut one.
    Whole,
}

#[derive(Debug)]
pub struct RenderedMatches {
    first: usize,
    parts: Vec<PartBytes>,
    matches: Vec<(u8, Rendered)>,
    has_cut: bool,
    taken: usize,
    bytes_left: usize,
}

impl RenderedMatches {
    /// True if the range begins after the last match.
    pub fn is_empty(&self) -> bool {
        self.matches.is_empty()
    }

    pub fn len(&self) -> usize {
        self.matches.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = RenderedMatch<'_>> {
        let indexed = (self.first..).zip(&self.matches);
        indexed.map(|(index, place)| RenderedMatch {
            index,
            bytes: self.bytes(place),
            whole: place.1.whole,
        })
    }

    /// Bytes of matches not taken yet.
    pub fn bytes_left(&self) -> usize {
        self.bytes_left
    }

    pub fn has_cut(&self) -> bool {
        self.has_cut
    }

    /// Takes the next match if it is cut, without bytes. Returns its index.
    pub fn take_cut(&mut self) -> Option<usize> {
        let place = self.matches.get(self.taken)?;
        if place.1.whole {
            return None;
        }
        self.bytes_left -= self.bytes(place).len();
        self.taken += 1;
        Some(self.first + self.taken - 1)
    }

    /// Appends remaining matches until `out` has `len_min` bytes. Returns the index after them;
    /// `None` if there was none.
    pub fn take(&mut self, which: Take, out: &mut Vec<u8>, len_min: usize) -> Option<usize> {
        let left = self.matches[self.taken..].iter();
        let (taken, len) = (self.taken, out.len());
        for place in left {
            if which == Take::Whole && !place.1.whole {
                break;
            }
            out.extend_from_slice(self.bytes(place));
            self.taken += 1;
            if out.len() >= len_min {
                break;
            }
        }
        self.bytes_left -= out.len() - len;
        (self.taken > taken).then_some(self.first + self.taken)
    }

    fn bytes(&self, (part, rendered): &(u8, Rendered)) -> &[u8] {
        self.parts[usize::from(*part)].of(rendered)
    }
}

impl Renderer {
    /// Renders lines `package/path:number:line`.
    pub fn text() -> Renderer {
        Renderer::default()
    }

    pub fn new(write: Box<WriteMatch>) -> Renderer {
        Renderer {
            write: Some(write.into()),
            ..Renderer::default()
        }
    }

    /// Renders matches from `first` on in about `memory_bytes_max`, besides the spool's memory: at
    /// least one, none after the last. Blocks on the disk.
    pub fn render(
        &mut self,
        answer: &SearchResult,
        first: usize,
        memory_bytes_max: usize,
    ) -> Result<RenderedMatches, SpoolError> {
        if self.match_bytes == 0 {
            let frame_bytes = answer.spool.frame_bytes() as usize / answer.len().max(1);
            self.match_bytes = PLACE_BYTES + NAMES_BYTES + frame_bytes;
        }
        loop {
            let window = (memory_bytes_max / self.match_bytes).max(1);
            let end = answer.len().min(first.saturating_add(window));
            let pointers = answer.pointers(first.min(end)..end)?;
            let bytes_max = match pointers.len() {
                0 | 1 => usize::MAX,
                len => memory_bytes_max.saturating_sub(len * PLACE_BYTES),
            };
            let Some(rendered) = self.window(answer, first, &pointers, bytes_max)? else {
                self.match_bytes = 2 * memory_bytes_max / pointers.len();
                continue;
            };
            if pointers.len() == window {
                let bytes: usize = rendered.parts.iter().map(PartBytes::copied).sum();
                let match_bytes = PLACE_BYTES + bytes.div_ceil(window);
                // With a margin, since an oversized window is wasted.
                self.match_bytes = (match_bytes * 9 / 8).max(self.match_bytes / SHRINK_MAX);
            }
            return Ok(rendered);
        }
    }

    /// Renders a window; `None` if more than `bytes_max` are copied.
    fn window(
        &self,
        answer: &SearchResult,
        first: usize,
        pointers: &[Pointer],
        bytes_max: usize,
    ) -> Result<Option<RenderedMatches>, SpoolError> {
        let positions = in_spool_order(pointers);
        let slices = split(&positions);
        let part_bytes_max = bytes_max / slices.len().max(1);
        let render = |positions: &[LinePosition]| {
            let expected = positions.len() * self.match_bytes.saturating_sub(PLACE_BYTES);
            let context_lines = answer.query().context_lines;
            let mut part = Part::new(self.write.as_deref(), context_lines);
            part.reserve(expected.min(part_bytes_max));
            let fits = part.read(&answer.spool, positions, part_bytes_max)?;
            Ok(fits.then_some(part))
        };
        let parts = in_parallel(slices.iter().map(|&slice| move || render(slice)));
        let parts: Result<Option<Vec<Part<'_>>>, _> = parts.into_iter().collect();
        let parts = answer.checked(parts)?;
        Ok(parts.map(|parts| in_order(first, &slices, parts)))
    }
}

fn split(positions: &[LinePosition]) -> Vec<&[LinePosition]> {
    let count = match positions.len() / PART_LEN_MIN {
        0 | 1 => 1,
        parts => parts.min(PARTS_MAX).min(rayon::current_num_threads()),
    };
    let (mut slices, mut rest) = (Vec::with_capacity(count), positions);
    for left in (2..=count).rev() {
        let frame = rest[rest.len() / left].frame();
        let (slice, after) = rest.split_at(rest.partition_point(|line| line.frame() < frame));
        slices.push(slice);
        rest = after;
    }
    slices.push(rest);
    slices
}

fn in_order(first: usize, slices: &[&[LinePosition]], parts: Vec<Part<'_>>) -> RenderedMatches {
    let len = slices.iter().map(|slice| slice.len()).sum();
    let mut matches = vec![<(u8, Rendered)>::default(); len];
    for ((number, slice), part) in (0_u8..).zip(slices).zip(&parts) {
        for (line, rendered) in slice.iter().zip(&part.matches) {
            matches[line.pointer_index()] = (number, *rendered);
        }
    }
    let parts: Vec<_> = parts.into_iter().map(|part| part.bytes).collect();
    RenderedMatches {
        first,
        has_cut: matches.iter().any(|(_, place)| !place.whole),
        bytes_left: matches.iter().map(|(_, place)| place.len()).sum(),
        parts,
        matches,
        taken: 0,
    }
}
