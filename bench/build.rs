//! Tells the program which commit it is made of: the working directory of a run may be at another one, or at none.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What figures depend on, beside the crates.
const SOURCES: [&str; 5] = ["Cargo.toml", "Cargo.lock", "conf", "bench/src", "bench/build.rs"];
/// Crates that this one is not made of.
const OTHERS: [&str; 2] = ["clique", "proving"];

fn main() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    // Without a commit in between, `-dirty` comes and goes with the sources.
    let mut watched: Vec<PathBuf> = SOURCES.iter().map(|source| root.join(source)).collect();
    let crates = std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    watched
        .extend(crates.filter(|of| OTHERS.iter().all(|other| of.file_name() != *other)).map(|of| of.path()));
    let commit = commit(&root);
    if commit.is_some() {
        watched.extend(references(&root));
    }
    // Of what is not there, Cargo would believe at each build that it had changed.
    for path in watched.iter().filter(|path| path.exists()) {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    println!("cargo:rustc-env=CLIQUE_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

/// The commit that is checked out, if this is a repository of its own and not a folder in another one.
fn commit(root: &Path) -> Option<String> {
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    let is_own = std::fs::canonicalize(top).ok()? == std::fs::canonicalize(root).ok()?;
    git(root, &["describe", "--always", "--dirty"]).filter(|_| is_own)
}

/// The files that say which commit is checked out.
fn references(root: &Path) -> Vec<PathBuf> {
    let branch = git(root, &["symbolic-ref", "--quiet", "HEAD"]);
    let names = ["HEAD".to_owned(), "packed-refs".to_owned()].into_iter().chain(branch);
    let path = |name: String| git(root, &["rev-parse", "--git-path", &name]);
    names.filter_map(path).map(|path| root.join(path)).collect()
}

/// The line that git prints.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
