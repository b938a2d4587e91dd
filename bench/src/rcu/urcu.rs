//! liburcu, as a program of its own beside this one: `urcu.c`, compiled when it is needed.
//!
//! So nothing of it is linked here, and a machine without it loses a line of the table and nothing else. It is
//! built with the read side inlined and loops unrolled, as rustc unrolls ours, and allocates with the C library's `malloc`,
//! as Rust does.

use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What one run found.
#[derive(Debug, Deserialize)]
pub(crate) struct Outcome {
    /// Nanoseconds of the reader's processor time a read.
    pub(crate) ns: f64,
    /// Updates begun a second, and values freed a second until the updater stopped.
    pub(crate) updates_per_s: f64,
    pub(crate) reclaimed_per_s: f64,
    /// Processor time an update and its callback, of all threads but the reader.
    pub(crate) processor_ns: f64,
    /// The longest `synchronize_rcu`.
    pub(crate) longest_ns: f64,
    /// By how much the process grew while the updater ran, at its most.
    pub(crate) grown_kib: i64,
}

/// The compiled program.
pub(crate) struct Urcu {
    program: PathBuf,
}

impl Urcu {
    /// Compiles it.
    ///
    /// # Errors
    /// Why it cannot be had here.
    pub(crate) fn build() -> Result<Urcu, String> {
        let folder = std::env::temp_dir().join(format!("clique-bench-{}", std::process::id()));
        let urcu = Urcu { program: folder.join("urcu") };
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let source = folder.join("urcu.c");
        std::fs::write(&source, include_str!("urcu.c")).map_err(|e| format!("{}: {e}", source.display()))?;
        let output = Command::new("cc")
            .args(["-O3", "-funroll-loops", "-o"])
            .args([&urcu.program, &source])
            .args(["-lurcu-qsbr", "-pthread"])
            .output()
            .map_err(|e| format!("cannot run the C compiler: {e}"))?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            return Err(format!(
                "does not compile (is liburcu-dev installed?): {}",
                complaint.lines().next().unwrap_or("")
            ));
        }
        Ok(urcu)
    }

    /// Where the program is.
    pub(crate) fn path(&self) -> &Path {
        &self.program
    }

    /// Reads for about so many milliseconds, beside an updater: `none`, `callbacks`, `recycle` or `synchronize`. If `every` is 0,
    /// sections of a quarter of a second.
    ///
    /// # Errors
    /// The program failed.
    pub(crate) fn run(&self, ms: u64, every: u64, updater: &str) -> Result<Outcome, String> {
        let output = Command::new(&self.program)
            .args(["0", &ms.to_string(), &every.to_string(), updater])
            .output()
            .map_err(|e| format!("{}: {e}", self.program.display()))?;
        serde_json::from_slice(&output.stdout).map_err(|e| format!("what urcu.c printed: {e}"))
    }
}

impl Drop for Urcu {
    fn drop(&mut self) {
        if let Some(folder) = self.program.parent() {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
