//! Replicas of a stream's shards: the next backend after a broken connection, and its request.

use crate::peers::Peer;
use schema::message::{Excluded, ResumePoint, Search};
use std::sync::Arc;

pub(crate) struct Replica {
    pub(crate) peer: Arc<Peer>,
    /// By index in the request, ascending.
    pub(crate) shards: Vec<u32>,
}

pub(crate) struct Untried<'a> {
    first: &'a Arc<Peer>,
    replicas: &'a [Replica],
    /// Asked or failed; the first backend comes last, after the replicas.
    pub(crate) tried: Vec<bool>,
    shards: usize,
}

pub(crate) struct Next<'a> {
    pub(crate) peer: &'a Arc<Peer>,
    pub(crate) number: usize,
    pub(crate) shards: Vec<u32>,
    /// False: a backend of an earlier version, which begins again.
    pub(crate) resumes: bool,
}

impl<'a> Untried<'a> {
    pub(crate) fn new(first: &'a Arc<Peer>, replicas: &'a [Replica], shards: usize) -> Untried<'a> {
        let mut tried = vec![false; replicas.len() + 1];
        tried[replicas.len()] = true;
        Untried {
            first,
            replicas,
            tried,
            shards,
        }
    }

    /// Backend with the most remaining shards, the first among equals. Those
    /// that begin again come last.
    pub(crate) fn next(&self, left: &[u32]) -> Option<Next<'a>> {
        let numbers = (0..self.tried.len()).rev();
        let untried = numbers.filter(|&number| !self.tried[number]);
        let next = untried.filter_map(|number| self.again(number, left));
        let searched = next.filter(|next| next.peer.status().unsearched().is_none());
        // The last of equal ones, which is the first by number.
        searched.max_by_key(|next| (next.resumes, next.shards.len()))
    }

    /// Backend that can resume all of them and is not draining.
    pub(crate) fn next_for_all(&self, left: &[u32]) -> Option<Next<'a>> {
        let next = self.next(left)?;
        let has_all = next.resumes && next.shards.len() == left.len();
        (has_all && !next.peer.status().is_draining).then_some(next)
    }

    pub(crate) fn again(&self, number: usize, left: &[u32]) -> Option<Next<'a>> {
        let (peer, shards) = match self.replicas.get(number) {
            None => (self.first, left.to_vec()),
            Some(Replica { peer, shards }) => {
                let is_left = |shard: &u32| left.contains(shard);
                (peer, shards.iter().copied().filter(is_left).collect())
            }
        };
        let resumes = peer.status().resumes;
        // Beginning again takes the same request, so that shard numbers agree.
        let can_answer = resumes || shards.len() == self.shards;
        (!shards.is_empty() && can_answer).then_some(Next {
            peer,
            number,
            shards,
            resumes,
        })
    }
}

pub(crate) fn rest_of(search: &Search, points: Vec<ResumePoint>) -> Search {
    let shard = |point: &ResumePoint| point.shard as usize;
    let excluded_of = |(index, point): (u32, &ResumePoint)| {
        let mut excluded = search.excluded.iter();
        let found = excluded.find(|excluded| excluded.shard == point.shard)?;
        Some(Excluded {
            shard: index,
            packages: found.packages.clone(),
        })
    };
    let visible = search.visible.as_ref();
    Search {
        shards: points.iter().map(|it| search.shards[shard(it)]).collect(),
        excluded: (0..).zip(&points).filter_map(excluded_of).collect(),
        visible: visible.map(|all| points.iter().map(|it| all[shard(it)].clone()).collect()),
        resume: points,
        ..search.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::message::VisibleShard;

    #[test]
    fn the_rest_of_a_search_has_what_belongs_to_its_shards() {
        let visible = |byte: u8| VisibleShard {
            shard: [byte; 32],
            packages: [byte].into(),
            is_all: false,
        };
        let excluded = |shard, package| Excluded {
            shard,
            packages: vec![package],
        };
        let point = |shard| ResumePoint {
            shard,
            matches: 5,
            ..ResumePoint::default()
        };
        let search = Search {
            shards: vec![[0; 32], [1; 32], [2; 32]],
            excluded: vec![excluded(0, 7), excluded(2, 8)],
            visible: Some(vec![visible(0), visible(1), visible(2)]),
            limit: 3,
            ..Search::default()
        };
        let expected = Search {
            shards: vec![[1; 32], [2; 32]],
            excluded: vec![excluded(1, 8)],
            visible: Some(vec![visible(1), visible(2)]),
            resume: vec![point(1), point(2)],
            limit: 3,
            ..Search::default()
        };
        assert_eq!(rest_of(&search, vec![point(1), point(2)]), expected);
    }
}
