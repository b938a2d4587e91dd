//! Finds DPDK's libraries, and tells the program which commit it is made of. The functions that are called are real ones, so nothing of C is compiled.

#[path = "../commit.rs"]
mod commit;

use std::path::{Path, PathBuf};
use std::process::Command;

/// What figures depend on, beside the crates.
const SOURCES: [&str; 5] =
    ["bench/rte-fib", "bench/commit.rs", "bench/src/machine.rs", "bench/src/lpm", "conf"];
/// Crates that this one is not made of.
const OTHERS: [&str; 2] = ["clique", "proving"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = commit::crates_but(&root, &OTHERS);
    sources.extend(SOURCES.map(PathBuf::from));
    commit::tell(&root, &sources);
    find_dpdk();
}

fn find_dpdk() {
    let output = Command::new("pkg-config").args(["--libs-only-L", "libdpdk"]).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        println!("cargo::error=pkg-config knows no libdpdk: is dpdk-dev installed?");
        return;
    };
    let flags = String::from_utf8_lossy(&output.stdout);
    for folder in flags.split_whitespace().filter_map(|flag| flag.strip_prefix("-L")) {
        println!("cargo::rustc-link-search=native={folder}");
    }
    for library in ["rte_fib", "rte_eal"] {
        println!("cargo::rustc-link-lib=dylib={library}");
    }
}
