//! Fuzzing in small: what reads foreign bytes is given mutations of what it should be given.
//!
//! The inputs are the same in every run: they follow from [`SEED`] alone. `scripts/fuzz` makes
//! others, for as long as it is let, of the same targets.

mod mutation;
mod targets;

use mutation::Mutations;
use std::panic::{AssertUnwindSafe, catch_unwind};
use targets::TARGETS;

/// Another number is another set of inputs.
const SEED: u64 = 20_260_101;

/// Runs a target with its seeds and mutations of them; a failure shows the input.
fn smoke(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.expect("there is a target of that name");
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty());
    let inputs = u64::from(target.smoke_inputs);
    let mutations = Mutations::new(SEED, seeds.clone()).take(inputs as usize);
    for (number, input) in seeds.clone().into_iter().chain(mutations).enumerate() {
        let run = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
        if run.is_err() {
            let shown = &input[..input.len().min(4096)];
            panic!(
                "{name}: input {number} of seed {SEED}, {} bytes: {}",
                input.len(),
                shown.escape_ascii()
            );
        }
    }
}

/// A test for each target: they run side by side, and a failure has the target's name.
macro_rules! smoke_tests {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                smoke(stringify!($name));
            }
        )*

        #[test]
        fn every_target_has_a_test() {
            let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

smoke_tests!(frames messages shard manifest pattern query text rules ranks answer request http);
