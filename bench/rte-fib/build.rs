//! Finds DPDK's libraries. The functions that are called are real ones, so nothing of C is compiled.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
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
