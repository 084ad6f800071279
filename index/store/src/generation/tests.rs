use super::*;
use index::manifest::PackageEntry;

const STORE_ID: &str = "0123456789abcdef0123456789abcdef";

fn generation() -> Generation {
    let package = PackageEntry {
        signature: 7,
        directory: b"sed_4.9".to_vec(),
        is_dead: false,
        has_own_name: false,
    };
    let shard = ShardEntry {
        id: [0xab; 32],
        file: "ab.shard".to_owned(),
        packages: vec![package],
        revisions: None,
        is_history: false,
    };
    let file = StoredFile {
        hash: [0xcd; 32],
        bytes: 1_048_576,
    };
    Generation {
        store: STORE_ID.to_owned(),
        number: 17,
        written: 1_769_212_345,
        replicas: 2,
        files: BTreeMap::from([("ab.shard".to_owned(), file)]),
        manifest: Manifest {
            options: Options {
                block_bytes: 4096,
                no_ignore: true,
            },
            shards: vec![shard],
            beside: Vec::new(),
            recorded: None,
            precise: None,
        },
    }
}

fn objects() -> (tempfile::TempDir, Objects) {
    let directory = tempfile::tempdir().unwrap();
    let objects = Objects::open(directory.path().to_str().unwrap()).unwrap();
    (directory, objects)
}

#[test]
fn parses_what_it_rendered() {
    let (id, text) = generation().render();
    assert_eq!(
        Generation::parse("it", text.as_bytes()).unwrap(),
        generation()
    );
    assert_eq!(GenerationId::parse(&id.to_string()), Some(id));
}

/// The name has the hash, so that damage is detected.
#[test]
fn every_truncation_and_every_flipped_bit_is_noticed() {
    let (_directory, objects) = objects();
    let (id, text) = generation().render();
    let mut version = None;
    let mut check = |bytes: &[u8]| {
        let put = objects.swap(&id.object(), version.as_ref(), bytes).unwrap();
        assert!(put.is_some(), "refused");
        version = put;
        Generation::read(&objects, &id)
    };
    assert_eq!(check(text.as_bytes()).unwrap(), generation());
    for length in 0..text.len() {
        assert!(
            check(&text.as_bytes()[..length]).unwrap_err().is_damage(),
            "cut at {length}"
        );
    }
    for byte in 0..text.len() {
        let mut broken = text.clone().into_bytes();
        broken[byte] ^= 1;
        assert!(check(&broken).unwrap_err().is_damage(), "byte {byte}");
    }
}

#[test]
fn records_that_contradict_each_other_are_refused() {
    let parse = |change: &dyn Fn(&mut Generation)| {
        let mut changed = generation();
        change(&mut changed);
        Generation::parse("it", changed.render().1.as_bytes())
    };
    assert!(parse(&|_| ()).is_ok());
    assert!(parse(&|it| it.replicas = 0).unwrap_err().is_damage());
    assert!(parse(&|it| it.replicas = 200).unwrap_err().is_damage());
    assert!(parse(&|it| it.files.clear()).unwrap_err().is_damage());
    let more = |it: &mut Generation| {
        let file = it.files["ab.shard"].clone();
        it.files.insert("../passwd.shard".to_owned(), file);
    };
    assert!(parse(&more).unwrap_err().is_damage());
}

#[test]
fn a_newer_format_is_named() {
    let text = "trawl-generation 2\nsomething else\n";
    let error = Generation::parse("the store", text.as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the store: format 2; this version of Trawl reads format 1: update Trawl"
    );
    let error = Head::parse("HEAD", b"trawl-store 7 x\n").unwrap_err();
    assert!(matches!(error, StoreError::Newer { version: 7, .. }));
}

#[test]
fn head_is_read_as_it_was_written_and_refused_when_it_is_damaged() {
    let (id, _) = generation().render();
    let head = Head {
        store: STORE_ID.to_owned(),
        generation: id,
    };
    let text = head.render();
    assert_eq!(Head::parse("HEAD", text.as_bytes()).unwrap(), head);
    for length in 0..text.len() {
        let error = Head::parse("HEAD", &text.as_bytes()[..length]).unwrap_err();
        assert!(error.is_damage(), "cut at {length}: {error}");
    }
}

#[test]
fn of_several_who_advance_head_one_succeeds() {
    let (_directory, objects) = objects();
    let (id, _) = generation().render();
    assert!(Head::advance(&objects, None, STORE_ID, id.clone()).unwrap());
    let next = |number| GenerationId {
        number,
        ..id.clone()
    };
    assert!(!Head::advance(&objects, None, STORE_ID, next(16)).unwrap());
    let before = Head::read(&objects).unwrap();
    assert!(Head::advance(&objects, before.as_ref(), STORE_ID, next(18)).unwrap());
    assert!(!Head::advance(&objects, before.as_ref(), STORE_ID, next(19)).unwrap());
    // A request repeated after its response was lost.
    assert!(Head::advance(&objects, before.as_ref(), STORE_ID, next(18)).unwrap());
}
