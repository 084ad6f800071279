//! Renders all matches of a result as bytes, as many at a time as fit into a given memory.
//!
//! Exports of millions of matches use it. The order of matches jumps from frame to frame, so a window of the
//! order is rendered in the order of the spool, by several threads, and handed out in the order of the
//! result.
//!
//! **Invariant:** the bytes depend neither on the size of windows nor on the number of threads.

mod part;

pub use part::WriteMatch;

use super::SearchResult;
use super::search_result::{LinePosition, in_spool_order};
use crate::order::Pointer;
use crate::parallel::in_parallel;
use crate::spool::SpoolError;
use part::{Part, PartBytes, Rendered};
use std::fmt;
use std::sync::Arc;

/// Bytes of names and numbers in a match, approximately.
const NAMES_BYTES: usize = 64;

/// Memory of a match in a window besides its bytes: its pointer, twice its position in the spool, and twice the
/// place of its bytes.
const PLACE_BYTES: usize =
    size_of::<Pointer>() + 2 * size_of::<LinePosition>() + 2 * size_of::<Rendered>();

/// How much smaller than expected matches may get from window to window: a few short ones mean little.
const SHRINK_MAX: usize = 4;

/// Matches for which a thread pays.
const PART_LEN_MIN: usize = 10_000;

/// Threads that render a window. More do not help: writing the output is slower.
const PARTS_MAX: usize = 4;

/// Renders ranges of the order. A clone has the same experience of how long matches are.
#[derive(Clone)]
pub struct Renderer {
    /// Without it, matches are rendered as [`Match::write_text`](super::matches::Match::write_text) does, but
    /// directly from the frames.
    write: Option<Arc<WriteMatch>>,
    /// Memory for each match, as experience has it; 0 before the first window.
    match_bytes: usize,
}

impl fmt::Debug for Renderer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renderer").finish_non_exhaustive()
    }
}

/// A rendered match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderedMatch<'a> {
    /// Its position in the order.
    pub index: usize,
    /// The bytes.
    pub bytes: &'a [u8],
    /// Whether it has the whole line; a long line is cut.
    pub whole: bool,
}

/// Which matches are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// All of them.
    All,
    /// Those before the next one that is cut.
    Whole,
}

/// A rendered range of the order.
#[derive(Debug)]
pub struct RenderedMatches {
    first: usize,
    /// The bytes of each part.
    parts: Vec<PartBytes>,
    /// The matches in the order of the result, each with its part.
    matches: Vec<(u8, Rendered)>,
    /// Whether one of them is cut.
    has_cut: bool,
    /// How many were taken.
    taken: usize,
    /// The bytes of those that were not taken.
    bytes_left: usize,
}

impl RenderedMatches {
    /// Whether there are none: the range begins after the last match.
    pub fn is_empty(&self) -> bool {
        self.matches.is_empty()
    }

    /// The number of matches.
    pub fn len(&self) -> usize {
        self.matches.len()
    }

    /// Iterates over the matches.
    pub fn iter(&self) -> impl Iterator<Item = RenderedMatch<'_>> {
        let indexed = (self.first..).zip(&self.matches);
        indexed.map(|(index, place)| RenderedMatch {
            index,
            bytes: self.bytes(place),
            whole: place.1.whole,
        })
    }

    /// The bytes of the matches that were not taken yet.
    pub fn bytes_left(&self) -> usize {
        self.bytes_left
    }

    /// Whether a match is cut.
    pub fn has_cut(&self) -> bool {
        self.has_cut
    }

    /// Takes the next match without its bytes if it is cut, and returns its index.
    pub fn take_cut(&mut self) -> Option<usize> {
        let place = self.matches.get(self.taken)?;
        if place.1.whole {
            return None;
        }
        self.bytes_left -= self.bytes(place).len();
        self.taken += 1;
        Some(self.first + self.taken - 1)
    }

    /// Appends matches that were not taken yet until `out` has `len_min` bytes. Returns the index of the match after
    /// them; `None` if there was none to take.
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
    /// Renders text: a line `package/path:number:line` for each line of a match.
    pub fn text() -> Renderer {
        Renderer {
            write: None,
            match_bytes: 0,
        }
    }

    /// Renders what `write` appends for each match.
    pub fn new(write: Box<WriteMatch>) -> Renderer {
        Renderer {
            write: Some(write.into()),
            match_bytes: 0,
        }
    }

    /// Renders matches from `first` on, as many as take about `memory_bytes_max` besides the memory of the spool: one at least, none after
    /// the last. Blocks on the disk.
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
                // With a margin: a window that does not fit is rendered in vain.
                self.match_bytes = (match_bytes * 9 / 8).max(self.match_bytes / SHRINK_MAX);
            }
            return Ok(rendered);
        }
    }

    /// Renders a window; `None` if more than `bytes_max` bytes are copied for it.
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
            let context_lines = answer.query().context_lines();
            let mut part = Part::new(self.write.as_deref(), context_lines);
            part.reserve(expected.min(part_bytes_max));
            let fits = part.read(&answer.spool, positions, part_bytes_max)?;
            Ok(fits.then_some(part))
        };
        let parts = in_parallel(slices.iter().map(|&slice| move || render(slice)));
        let parts = parts
            .into_iter()
            .collect::<Result<Option<Vec<Part<'_>>>, _>>();
        let parts = answer.checked(parts)?;
        Ok(parts.map(|parts| in_order(first, &slices, parts)))
    }
}

/// Splits positions for threads, so that each frame is read by one.
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
