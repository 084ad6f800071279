//! Names and addresses of people after `.mailmap`.

use gix::actor::SignatureRef;
use schema::message::{Commit, Signature};

#[derive(Default)]
pub struct Mailmap(gix_mailmap::Snapshot);

impl Mailmap {
    pub(crate) fn parse(text: &[u8]) -> Mailmap {
        Mailmap(gix_mailmap::Snapshot::from_bytes(text))
    }

    pub(crate) fn correct(&self, commit: &mut Commit) {
        for person in [&mut commit.author, &mut commit.committer] {
            self.correct_one(person);
        }
    }

    fn correct_one(&self, person: &mut Signature) {
        let written = SignatureRef {
            name: person.name[..].into(),
            email: person.email[..].into(),
            time: "",
        };
        let Some(found) = self.0.try_resolve_ref(written) else {
            return;
        };
        let (name, email) = (found.name.map(|it| it.to_vec()), found.email);
        // The library also returns the searched address, in the case of the file.
        let email = email.filter(|it| !it.eq_ignore_ascii_case(&person.email));
        let email = email.map(|it| it.to_vec());
        person.name = name.unwrap_or_else(|| std::mem::take(&mut person.name));
        person.email = email.unwrap_or_else(|| std::mem::take(&mut person.email));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_corrected_as_by_git() {
        let map = Mailmap::parse(
            b"# comment\nProper <a@x>\n<new@x> <old@x>\nBoth <both@x> <B@x>\n\
              Named <named@x> Nick <shared@x>\nbroken\n",
        );
        let check = |name: &str, email: &str, expected: (&str, &str)| {
            let mut signature = Signature {
                name: name.into(),
                email: email.into(),
                ..Signature::default()
            };
            map.correct_one(&mut signature);
            let found = (&signature.name[..], &signature.email[..]);
            assert_eq!(found, (expected.0.as_bytes(), expected.1.as_bytes()));
        };
        check("any", "A@x", ("Proper", "A@x"));
        check("any", "old@x", ("any", "new@x"));
        check("any", "b@x", ("Both", "both@x"));
        check("nick", "shared@x", ("Named", "named@x"));
        check("other", "shared@x", ("other", "shared@x"));
        check("any", "none@x", ("any", "none@x"));
    }
}
