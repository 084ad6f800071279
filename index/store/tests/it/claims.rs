use crate::world::World;
use std::sync::Mutex;
use std::thread;
use store::claims::Claims;

#[test]
fn of_racing_machines_one_gets_each_package() {
    let world = World::new();
    let packages: Vec<String> = (0..12).map(|number| format!("package_{number}")).collect();
    let taken = Mutex::new(Vec::new());
    let work = || {
        let claims = Claims::open(&world.objects).unwrap();
        for package in &packages {
            if claims.take(package.as_bytes()).unwrap() {
                taken.lock().unwrap().push(package.clone());
            }
        }
        claims.renew().unwrap();
    };
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(work);
        }
    });
    let mut taken = taken.into_inner().unwrap();
    taken.sort();
    let mut packages = packages;
    packages.sort();
    assert_eq!(taken, packages);
}
