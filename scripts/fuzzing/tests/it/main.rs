//! Smoke run of every fuzz target. [`SEED`] alone determines the inputs.

mod mutation;

use fuzzing::TARGETS;
use mutation::Mutations;
use std::panic::{AssertUnwindSafe, catch_unwind};

const SEED: u64 = 20_260_101;

/// A failure prints the input.
fn smoke(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.expect("TARGETS has the name");
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty());
    let mutations = Mutations::new(SEED, seeds.clone()).take(target.smoke_inputs as usize);
    for (number, input) in seeds.clone().into_iter().chain(mutations).enumerate() {
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
        if outcome.is_err() {
            let shown = &input[..input.len().min(4096)];
            panic!(
                "{name}: input {number} of seed {SEED}, {} bytes: {}",
                input.len(),
                shown.escape_ascii()
            );
        }
    }
}

/// Tests run in parallel, and failures name the target.
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

smoke_tests!(
    frames messages shard manifest pattern query symbols_c symbols_java symbols_javascript symbols_blocks
    symbols_python symbols_shell symbols_make symbols_functional symbols_ada symbols_documents text ignore_rules
    git_index package_ranks nodes store backend_reply query_string http agents calls
);
