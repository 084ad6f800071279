//! The end of a run: what its streams have brought in becomes the files that pages are made from.

use crate::facets::Facets;
use crate::harvest::{Harvest, Source};
use crate::packages::Tally;
use crate::rank::{self, Continued, Document, FrameAt, StringPool};
use crate::spool::{FrameReader, PointerWriter, RunSpool, SpoolError};
use schema::message::BatchReader;
use std::ops::ControlFlow;

/// How much there is in the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Pointers in the order.
    pub(crate) pointers: u64,
    /// Packages with matches.
    pub(crate) packages: u32,
}

/// Merges the harvests, whose index is their backend, into the order, of which the first `limit`
/// (0: all) stay, and writes packages and facets beside it.
pub(crate) fn assemble(
    spool: &RunSpool,
    harvests: &mut [Harvest],
    limit: u64,
) -> Result<Counts, SpoolError> {
    let mut names = StringPool::default();
    let ids: Vec<Vec<u32>> = harvests
        .iter()
        .map(|harvest| {
            harvest
                .packages
                .names()
                .map(|name| names.id(name))
                .collect()
        })
        .collect();
    let continued: Vec<Continued> = harvests
        .iter_mut()
        .map(|harvest| std::mem::take(&mut harvest.continued))
        .collect();
    let mut facets = Facets::default();
    for harvest in &mut *harvests {
        facets.merge(std::mem::take(&mut harvest.facets));
    }
    let mut packages = Tally::default();
    let mut order = PointerWriter::new(spool, &spool.order);
    let mut reader = spool.reader();
    let sources: Vec<Source<'_>> = harvests.iter().flat_map(Harvest::sources).collect();
    rank::merge(
        sources,
        &continued,
        |place| read_document(spool, &mut reader, place),
        |mut pointer| {
            let (backend, _) = pointer.frame();
            pointer.set_package(ids[usize::from(backend)][pointer.package() as usize]);
            packages.add(pointer.package(), order.len);
            order.push(&pointer)?;
            Ok(match order.len == limit {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        },
    )?;
    let pointers = order.finish()?;
    harvests
        .iter_mut()
        .for_each(|harvest| harvest.remove_runs(spool));
    let packages = packages.finish(&names, spool)?;
    let mut frame = Vec::new();
    let encoded = facets.finish().encode(&mut frame);
    encoded.expect("the bounds of facets keep them below a frame's");
    spool.append(&spool.facets, &frame)?;
    Ok(Counts { pointers, packages })
}

/// Reads which document a frame is of.
fn read_document(
    spool: &RunSpool,
    reader: &mut FrameReader<'_>,
    place: FrameAt,
) -> Result<Document, SpoolError> {
    let frame = reader.read(place)?;
    let corrupt = || spool.corrupt(place);
    let batch = BatchReader::new(frame.payload).map_err(|_| corrupt())?;
    let view = batch.view().map_err(|_| corrupt())?;
    Ok((view.package.to_vec(), view.path.to_vec()))
}
