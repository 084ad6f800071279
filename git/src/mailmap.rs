//! Names and addresses of people after `.mailmap`.

use crate::error::Result;
use crate::source::{ATTRIBUTE_BYTES_MAX, SourceRepository};
use crate::tree;
use gix::ObjectId;
use gix::actor::SignatureRef;
use schema::message::{Commit, Signature};

#[derive(Default)]
pub struct Mailmap(gix_mailmap::Snapshot);

impl SourceRepository {
    pub fn mailmap(&self, commit: ObjectId) -> Mailmap {
        let read = self.repository().look_up(|session| {
            let objects = &session.objects;
            let tree = objects.tree(&objects.get(commit, "a revision")?)?;
            let entry = objects.child(tree, b".mailmap")?;
            let file = entry.filter(|(mode, _)| tree::is_file(mode.kind() as u16));
            let text = file.map(|(_, id)| objects.text(id, ATTRIBUTE_BYTES_MAX));
            Result::Ok(text.transpose()?.flatten().unwrap_or_default())
        });
        let entries = read.unwrap_or_default();
        Mailmap(gix_mailmap::Snapshot::from_bytes(&entries))
    }
}

impl Mailmap {
    pub(crate) fn apply(&self, commit: &mut Commit) {
        for person in [&mut commit.author, &mut commit.committer] {
            self.apply_to(person);
        }
    }

    fn apply_to(&self, person: &mut Signature) {
        let written = SignatureRef {
            name: person.name[..].into(),
            email: person.email[..].into(),
            time: "",
        };
        let Some(found) = self.0.try_resolve_ref(written) else {
            return;
        };
        let (name, email) = (found.name.map(|it| it.to_vec()), found.email);
        let email = email.map(|it| it.to_vec());
        person.name = name.unwrap_or_else(|| std::mem::take(&mut person.name));
        person.email = email.unwrap_or_else(|| std::mem::take(&mut person.email));
    }
}
