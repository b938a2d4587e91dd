//! Which commit a program is made of, for the build scripts of the programs that measure.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Sets `CLIQUE_COMMIT` for the package that is built, and has its build script run again when one of `sources` changes, which are paths below
/// `root`, or when another commit is checked out.
pub(super) fn tell(root: &Path, sources: &[PathBuf]) {
    // Without a commit in between, `-dirty` comes and goes with the sources.
    let mut watched = sources.to_vec();
    let commit = commit(root);
    if commit.is_some() {
        watched.extend(references(root));
    }
    // Of what is not there, Cargo would believe at each build that it had changed.
    for path in watched.iter().map(|path| root.join(path)).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!("cargo::rustc-env=CLIQUE_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

/// The crates of the product but for `others`, each as a path below `root`.
pub(super) fn crates_but(root: &Path, others: &[&str]) -> Vec<PathBuf> {
    let crates = std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    crates.filter(|of| others.iter().all(|other| of.file_name() != *other)).map(|of| of.path()).collect()
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
    names.filter_map(|name| git(root, &["rev-parse", "--git-path", &name])).map(PathBuf::from).collect()
}

/// The line that git prints.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
