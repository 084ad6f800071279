use crate::world::World;
use std::sync::Barrier;
use std::thread;

/// How often the indexers race; `scripts/object_storage --rounds` sets it.
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
    // It has nothing new, so it takes nothing back.
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
