//! Names and addresses of people, as `.mailmap` corrects them.

use schema::message::{Commit, Signature};
use std::collections::HashMap;

#[derive(Default)]
pub(crate) struct Mailmap {
    people: HashMap<(Vec<u8>, Option<Vec<u8>>), Person>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Person {
    name: Vec<u8>,
    email: Vec<u8>,
}

impl Mailmap {
    pub(crate) fn parse(text: &[u8]) -> Mailmap {
        let mut map = Mailmap::default();
        for line in text.split(|&byte| byte == b'\n') {
            if !line.starts_with(b"#") {
                map.add(line);
            }
        }
        map
    }

    fn add(&mut self, line: &[u8]) -> Option<()> {
        let (name, email, rest) = person(line)?;
        let (old_name, old_email) = match person(rest) {
            Some((old_name, old_email, _)) => (old_name, old_email),
            None => (&b""[..], email),
        };
        let is_renamed = old_email != email || !old_name.is_empty();
        let person = Person {
            name: name.to_vec(),
            email: if is_renamed {
                email.to_vec()
            } else {
                Vec::new()
            },
        };
        let old_name = (!old_name.is_empty()).then(|| old_name.to_ascii_lowercase());
        let key = (old_email.to_ascii_lowercase(), old_name);
        let known = self.people.entry(key).or_default();
        for (part, new) in [
            (&mut known.name, person.name),
            (&mut known.email, person.email),
        ] {
            if !new.is_empty() {
                *part = new;
            }
        }
        Some(())
    }

    pub(crate) fn correct(&self, commit: &mut Commit) {
        for signature in [&mut commit.author, &mut commit.committer] {
            self.correct_one(signature);
        }
    }

    fn correct_one(&self, signature: &mut Signature) {
        if self.people.is_empty() {
            return;
        }
        let email = signature.email.to_ascii_lowercase();
        let by_name = (email, Some(signature.name.to_ascii_lowercase()));
        let found = self.people.get(&by_name);
        let Some(person) = found.or_else(|| self.people.get(&(by_name.0, None))) else {
            return;
        };
        if !person.name.is_empty() {
            signature.name.clone_from(&person.name);
        }
        if !person.email.is_empty() {
            signature.email.clone_from(&person.email);
        }
    }
}

fn person(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let open = line.iter().position(|&byte| byte == b'<')?;
    let close = open + line[open..].iter().position(|&byte| byte == b'>')?;
    let email = line[open + 1..close].trim_ascii();
    Some((line[..open].trim_ascii(), email, &line[close + 1..]))
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
