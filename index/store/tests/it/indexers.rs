use crate::world::World;
use std::sync::Barrier;
use std::thread;

/// Set by `scripts/faults/object_storage --rounds`.
fn rounds() -> usize {
    let set = std::env::var("TRAWL_TEST_ROUNDS").ok();
    set.map_or(2, |rounds| rounds.parse().unwrap())
}

#[test]
fn racing_indexers_lose_no_package() {
    let world = World::new();
    let machines: Vec<_> = (0..16)
        .map(|number| (number, world.machine(&format!("machine-{number}"))))
        .collect();
    let together = Barrier::new(machines.len());
    for round in 0..rounds() {
        thread::scope(|scope| {
            for (number, machine) in &machines {
                let together = &together;
                scope.spawn(move || {
                    let package = format!("package{number}_{round}");
                    machine.index(&package, &format!("int f{number} = {round};"));
                    together.wait();
                    machine.publish();
                });
            }
        });
        let mut expected: Vec<_> = (0..16).map(|it| format!("package{it}_{round}")).collect();
        expected.sort();
        assert_eq!(world.packages(), expected, "round {round}");
    }
}

#[test]
fn a_package_is_that_of_who_has_changed_it_last() {
    let world = World::new();
    let (first, second) = (world.machine("first"), world.machine("second"));
    first.index("shared_1", "int one;");
    first.index("own_1", "int own;");
    assert_eq!(first.publish().generation, 1);
    second.index("shared_1", "int two;");
    second.publish();
    assert_eq!(world.packages(), ["own_1", "shared_1"]);
    // Nothing is new.
    let again = first.publish();
    assert_eq!((again.generation, again.is_new), (2, false));
    first.remove("shared_1");
    first.publish();
    assert_eq!(world.packages(), ["own_1", "shared_1"]);
    second.remove("shared_1");
    second.publish();
    assert_eq!(world.packages(), ["own_1"]);
}

#[test]
fn only_what_is_new_is_uploaded() {
    let world = World::new();
    let machine = world.machine("it");
    machine.index("a_1", "int a;");
    assert_eq!(machine.publish().uploaded_files, 1);
    assert_eq!(machine.publish().uploaded_files, 0);
    machine.index("b_1", "int b;");
    assert_eq!(machine.publish().uploaded_files, 1);
}

#[test]
fn what_a_restored_store_lacks_is_published_again() {
    let world = World::new();
    let (first, second, third) = (
        world.machine("first"),
        world.machine("second"),
        world.machine("third"),
    );
    first.index("a_1", "int a;");
    first.publish();
    let copy = world.objects.read("HEAD").unwrap().unwrap().0;
    second.index("b_1", "int b;");
    second.publish();
    third.index("c_1", "int c;");
    assert_eq!(third.publish().generation, 3);
    assert_eq!(world.packages(), ["a_1", "b_1", "c_1"]);
    // Later generations are lost.
    for generation in world.objects.list("generations").unwrap().split_off(1) {
        world.objects.delete(&generation.name).unwrap();
    }
    let bytes = copy.len() as u64;
    world.objects.upload("HEAD", &mut &copy[..], bytes).unwrap();
    assert_eq!(world.packages(), ["a_1"]);
    // Never used.
    assert_eq!(third.publish().generation, 4);
    assert_eq!(world.packages(), ["a_1", "c_1"]);
    assert_eq!(second.publish().generation, 5);
    assert_eq!(world.packages(), ["a_1", "b_1", "c_1"]);
    assert!(!first.publish().is_new);
    // A rollback is permanent.
    store::rollback(&world.objects, Some(4)).unwrap();
    assert!(!second.publish().is_new);
    assert_eq!(world.packages(), ["a_1", "c_1"]);
}
