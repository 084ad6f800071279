//! Linker flags of profile `dist` for Linux with glibc: relocations packed in a bitmap (glibc
//! 2.36), and on x86-64, where Rust brings LLD, one copy of equal functions.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value| env::var(name).is_ok_and(|it| it == value);
    // Only `dist` optimises this crate for size.
    if !is("OPT_LEVEL", "z") || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return;
    }
    println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    if is("CARGO_CFG_TARGET_ARCH", "x86_64") {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
}
