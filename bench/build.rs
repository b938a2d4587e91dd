//! Tells the program which commit it is made of: the working directory of a run may be at another one, or at none.

mod commit;

use std::path::{Path, PathBuf};

/// What figures depend on, beside the crates.
const SOURCES: [&str; 6] =
    ["Cargo.toml", "Cargo.lock", "conf", "bench/src", "bench/build.rs", "bench/commit.rs"];
/// Crates that this one is not made of.
const OTHERS: [&str; 2] = ["clique", "proving"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = commit::crates_but(&root, &OTHERS);
    sources.extend(SOURCES.map(PathBuf::from));
    commit::tell(&root, &sources);
}
