//! The targets of `cli/tests/it/fuzz`, under libFuzzer: `scripts/fuzz` builds and runs it.
//!
//! The environment says which target is run: TRAWL_FUZZ_TARGET. With TRAWL_FUZZ_SEEDS its seeds are
//! written to that directory first.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::env;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use targets::{TARGETS, Target};

#[path = "../../../cli/tests/it/fuzz/targets/mod.rs"]
mod targets;

static TARGET: OnceLock<&Target> = OnceLock::new();

fuzz_target!(
    init: {
        let name = env::var("TRAWL_FUZZ_TARGET").unwrap_or_default();
        let known = TARGETS.iter().map(|target| target.name);
        let known = known.collect::<Vec<_>>().join(", ");
        let target = TARGETS.iter().find(|target| target.name == name);
        let target = target.unwrap_or_else(|| {
            eprintln!("no target `{name}`; there are {known}");
            std::process::exit(2);
        });
        if let Ok(directory) = env::var("TRAWL_FUZZ_SEEDS") {
            for (number, seed) in (target.seeds)().into_iter().enumerate() {
                let file = Path::new(&directory).join(format!("seed-{number}"));
                fs::write(file, seed).expect("the directory is there");
            }
        }
        let _ = TARGET.set(target);
    },
    |data: &[u8]| (TARGET.get().expect("it was set first").run)(data)
);
