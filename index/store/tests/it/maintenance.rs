use crate::world::{World, names};
use std::time::Duration;
use store::{Keep, StoreError, collect, history, rollback, verify};

const KEEP_ALL: Keep = Keep {
    count: 100,
    age: Duration::ZERO,
    dry_run: false,
};

/// Three generations, each with another version of one package.
fn three() -> World {
    let world = World::new();
    let machine = world.machine("it");
    for version in 1..=3 {
        machine.index(&format!("a_{version}"), &format!("int v{version};"));
        machine.publish();
    }
    world
}

#[test]
fn an_empty_store_says_so() {
    let world = World::new();
    let is_empty = |error: StoreError| matches!(error, StoreError::Empty(_));
    assert!(is_empty(collect(&world.objects, KEEP_ALL).unwrap_err()));
    assert!(is_empty(
        verify(&world.objects, true, &|_, _| ()).unwrap_err()
    ));
    let (current, generations) = history(&world.objects).unwrap();
    assert!(current.is_none() && generations.is_empty());
}

#[test]
fn history_has_every_generation_and_rollback_makes_one_current_again() {
    let world = three();
    assert_eq!(world.packages(), ["a_3"]);
    assert_eq!(rollback(&world.objects, Some(1)).unwrap(), 4);
    assert_eq!(world.packages(), ["a_1"]);
    assert_eq!(rollback(&world.objects, None).unwrap(), 5);
    assert_eq!(world.packages(), ["a_3"]);
    let (current, generations) = history(&world.objects).unwrap();
    assert_eq!(current, Some(5));
    let listed = generations
        .iter()
        .map(|(number, generation)| (*number, names(generation.as_ref().unwrap()).join(" ")));
    let listed: Vec<_> = listed.collect();
    let expected = [(5, "a_3"), (4, "a_1"), (3, "a_3"), (2, "a_2"), (1, "a_1")];
    let expected = expected.map(|(number, names)| (number, names.to_owned()));
    assert_eq!(listed, expected);
    let missing = rollback(&world.objects, Some(9)).unwrap_err();
    assert!(matches!(
        missing,
        StoreError::NoGeneration { number: 9, .. }
    ));
}

/// Files are too young to be removed.
#[test]
fn generations_are_kept_by_count_and_age_and_young_files_always() {
    let world = three();
    let keep = Keep {
        count: 2,
        ..KEEP_ALL
    };
    let dry = collect(
        &world.objects,
        Keep {
            dry_run: true,
            ..keep
        },
    )
    .unwrap();
    assert_eq!((dry.kept, dry.generations, dry.young), (2, 1, 1));
    assert_eq!(history(&world.objects).unwrap().1.len(), 3);
    let by_age = Keep {
        age: Duration::from_secs(3600),
        ..keep
    };
    assert_eq!(collect(&world.objects, by_age).unwrap().generations, 0);
    let collected = collect(&world.objects, keep).unwrap();
    assert_eq!(
        (collected.kept, collected.generations, collected.files),
        (2, 1, 0)
    );
    let none = Keep {
        count: 0,
        ..KEEP_ALL
    };
    assert_eq!(collect(&world.objects, none).unwrap().kept, 1);
    assert_eq!(world.packages(), ["a_3"]);
    assert!(
        verify(&world.objects, true, &|_, _| ())
            .unwrap()
            .damage
            .is_empty()
    );
}

#[test]
fn verify_names_what_is_damaged_and_who_needs_it() {
    let world = three();
    let whole = verify(&world.objects, true, &|_, _| ()).unwrap();
    assert_eq!(
        (whole.generations, whole.files, whole.damage.len()),
        (3, 3, 0)
    );
    let files = world.objects.list("files").unwrap();
    let [first, second, third] = &files[..] else {
        panic!("{files:?}");
    };
    let swapped = vec![b'x'; first.bytes as usize];
    world
        .objects
        .upload(&first.name, &mut &swapped[..], first.bytes)
        .unwrap();
    world
        .objects
        .upload(&second.name, &mut &b"short"[..], 5)
        .unwrap();
    world.objects.delete(&third.name).unwrap();
    let damaged = |reads| {
        let verified = verify(&world.objects, reads, &|_, _| ()).unwrap();
        let damage = verified.damage.into_iter();
        damage.map(|it| it.object).collect::<Vec<_>>()
    };
    assert_eq!(damaged(true), [&*first.name, &second.name, &third.name]);
    assert_eq!(damaged(false), [&*second.name, &third.name]);
}

#[test]
fn rollback_to_a_generation_whose_files_are_gone_is_refused() {
    let world = three();
    for file in world.objects.list("files").unwrap() {
        world.objects.delete(&file.name).unwrap();
    }
    let error = rollback(&world.objects, Some(1)).unwrap_err();
    assert!(error.is_damage(), "{error}");
    assert_eq!(world.packages(), ["a_3"]);
}

#[test]
fn a_damaged_head_is_replaced_by_a_rollback() {
    let world = three();
    world
        .objects
        .upload("HEAD", &mut &b"garbage"[..], 7)
        .unwrap();
    let (current, generations) = history(&world.objects).unwrap();
    assert_eq!((current, generations.len()), (None, 3));
    let verified = verify(&world.objects, false, &|_, _| ()).unwrap();
    assert_eq!(verified.damage[0].object, "HEAD");
    assert!(rollback(&world.objects, None).unwrap_err().is_damage());
    assert_eq!(rollback(&world.objects, Some(2)).unwrap(), 4);
    assert_eq!(world.packages(), ["a_2"]);
}

#[test]
fn objects_of_others_are_neither_listed_nor_removed() {
    let world = three();
    let foreign = ["files/README", "generations/README", "generations/7-x"];
    for name in foreign {
        world.objects.upload(name, &mut &b"hello"[..], 5).unwrap();
        // A bucket cannot change the age of a file.
        let path = world.path("store").join(name);
        if path.exists() {
            let old = std::time::SystemTime::now() - Duration::from_secs(100_000);
            let file = std::fs::File::options().write(true).open(path);
            file.unwrap().set_modified(old).unwrap();
        }
    }
    assert_eq!(history(&world.objects).unwrap().1.len(), 3);
    let none = Keep {
        count: 0,
        ..KEEP_ALL
    };
    assert_eq!(collect(&world.objects, none).unwrap().files, 0);
    let verified = verify(&world.objects, true, &|_, _| ()).unwrap();
    assert!(verified.damage.is_empty(), "{:?}", verified.damage);
    for name in foreign {
        assert!(world.objects.head(name).unwrap().is_some(), "{name}");
    }
}
