//! Queries announced shards: status objects outlive their process.

use super::super::nodes::Connector;
use super::super::tls_flags::BackendClientTls;
use crate::placing::announced_name;
use ::cluster::membership::Member;
use ::store::NodeStatus;
use anyhow::Result;
use frontend::announced_shards;
use std::collections::BTreeMap;
use std::time::Duration;

/// Limit of a frontend, too.
const STEP_MAX: Duration = Duration::from_secs(3);

const AT_ONCE: usize = 32;

pub(super) struct Announced {
    name: String,
    pub(super) shards: u64,
}

/// Announcements or errors; empty if not queried.
pub(super) type Answers = BTreeMap<String, Result<Announced, String>>;

impl Announced {
    /// True if a status describes these shards, also from an earlier process.
    pub(super) fn is_said(&self, said: &NodeStatus) -> bool {
        let is_older_version = said.announced.is_empty();
        self.name == said.announced || (is_older_version && self.shards == said.shards)
    }
}

pub(super) fn ask(members: &[Member], tls: &BackendClientTls) -> Result<Answers> {
    let connector = Connector::new(tls, false, members)?;
    let ask = &|member: &Member| -> Result<Announced, String> {
        let backend = connector.backend(member);
        let backend = backend.map_err(|error| error.to_string())?;
        let shards = announced_shards(&backend, STEP_MAX)?;
        Ok(Announced {
            shards: shards.len() as u64,
            name: announced_name(shards),
        })
    };
    let mut answers = Answers::new();
    for some in members.chunks(AT_ONCE) {
        std::thread::scope(|scope| {
            let asked = some.iter().map(|member| scope.spawn(move || ask(member)));
            let asked: Vec<_> = asked.collect();
            for (member, answer) in some.iter().zip(asked) {
                let answer = answer.join().expect("it does not panic");
                answers.insert(member.name.clone(), answer);
            }
        });
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_process_has_said_counts_only_if_this_one_announces_the_same() {
        let announced = |shards: &[[u8; 32]]| Announced {
            shards: shards.len() as u64,
            name: announced_name(shards.iter().copied()),
        };
        let said = NodeStatus {
            shards: 2,
            announced: announced_name([[1; 32], [2; 32]]),
            ..NodeStatus::default()
        };
        assert!(announced(&[[2; 32], [1; 32]]).is_said(&said));
        for others in [&[][..], &[[1; 32]], &[[1; 32], [3; 32]]] {
            assert!(!announced(others).is_said(&said));
        }
        // Earlier versions report only a count.
        let said = NodeStatus {
            announced: String::new(),
            ..said
        };
        assert!(announced(&[[1; 32], [3; 32]]).is_said(&said));
        assert!(!announced(&[[1; 32]]).is_said(&said));
    }
}
