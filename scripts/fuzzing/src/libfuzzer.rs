//! Runs a target under libFuzzer, for `scripts/ci/fuzz`.
//!
//! TRAWL_FUZZ_TARGET names the target; without it, all names are printed. TRAWL_FUZZ_SEEDS names a
//! directory for seeds.

#![no_main]
use fuzzing::{TARGETS, Target};
use libfuzzer_sys::fuzz_target;
use std::env;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

static TARGET: OnceLock<&Target> = OnceLock::new();

fuzz_target!(
    init: {
        let Ok(name) = env::var("TRAWL_FUZZ_TARGET") else {
            TARGETS.iter().for_each(|target| println!("{}", target.name));
            std::process::exit(0);
        };
        let target = TARGETS.iter().find(|target| target.name == name);
        let target = target.unwrap_or_else(|| {
            let known: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
            eprintln!("unknown target `{name}`; expected one of {}", known.join(", "));
            std::process::exit(2);
        });
        if let Ok(directory) = env::var("TRAWL_FUZZ_SEEDS") {
            for (number, seed) in (target.seeds)().into_iter().enumerate() {
                let file = Path::new(&directory).join(format!("seed-{number}"));
                fs::write(file, seed).expect("the seed directory is writable");
            }
        }
        let _ = TARGET.set(target);
    },
    |data: &[u8]| (TARGET.get().expect("init ran first").run)(data)
);
