//! The matches of a run as they arrive, document by document, before there is an order.
//!
//! They are read from the spool behind the streams that write it: who is slow holds up nobody. What is
//! in memory is a document's matches for each stream.
//! **Invariant:** the matches of a document come together and in the order of its lines.

use crate::live::Live;
use crate::rank::FrameAt;
use crate::render::Match;
use crate::spool::{FrameReader, RunSpool, SpoolError};
use schema::frame::Kind;
use schema::message::BatchReader;

/// Reads on where it left off.
pub(crate) struct Follower<'a> {
    spool: &'a RunSpool,
    context_lines: u32,
    streams: Vec<Stream<'a>>,
}

/// What one backend has sent.
struct Stream<'a> {
    reader: FrameReader<'a>,
    /// The frame that comes next.
    next: FrameAt,
    /// The matches of the document that may go on.
    document: Vec<Match>,
}

impl<'a> Follower<'a> {
    pub(crate) fn new(live: &'a Live) -> Follower<'a> {
        let spool = &*live.spool;
        let stream = |backend| Stream {
            reader: spool.reader(),
            next: (backend, 0),
            document: Vec::new(),
        };
        Follower {
            spool,
            context_lines: live.query.context_lines(),
            streams: (0..spool.backends()).map(stream).collect(),
        }
    }

    /// Calls `each` with the documents that have arrived whole since the last time; with all that
    /// there are when the run `has_ended`.
    pub(crate) fn read<E: From<SpoolError>>(
        &mut self,
        has_ended: bool,
        each: &mut impl FnMut(Vec<Match>) -> Result<(), E>,
    ) -> Result<(), E> {
        for stream in &mut self.streams {
            stream.read(self.spool, self.context_lines, each)?;
            if has_ended && !stream.document.is_empty() {
                each(std::mem::take(&mut stream.document))?;
            }
        }
        Ok(())
    }
}

impl Stream<'_> {
    fn read<E: From<SpoolError>>(
        &mut self,
        spool: &RunSpool,
        context_lines: u32,
        each: &mut impl FnMut(Vec<Match>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (backend, _) = self.next;
        while self.next.1 < spool.received(backend) {
            let mut matches = self.frame(spool, context_lines)?;
            let goes_on = match (self.document.last(), matches.first()) {
                (Some(last), Some(first)) => last.document == first.document,
                _ => true,
            };
            if !goes_on {
                each(std::mem::take(&mut self.document))?;
            }
            self.document.append(&mut matches);
        }
        Ok(())
    }

    /// The matches of the next frame, if it has any.
    fn frame(&mut self, spool: &RunSpool, context_lines: u32) -> Result<Vec<Match>, SpoolError> {
        let place = self.next;
        let corrupt = || spool.corrupt(place);
        let frame = self.reader.read(place)?;
        self.next.1 += frame.bytes as u64;
        if frame.kind != Kind::Batch {
            return Ok(Vec::new());
        }
        let batch = BatchReader::new(frame.payload).map_err(|_| corrupt())?;
        let view = batch.view().map_err(|_| corrupt())?;
        let lines = (0..).zip(view.lines());
        let matches = lines.filter(|(_, line)| line.is_match());
        let indexes: Vec<u32> = matches.map(|(index, _)| index).collect();
        Match::all(&view, &indexes, context_lines).ok_or_else(corrupt)
    }
}
