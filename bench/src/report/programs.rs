//! The programs that a report runs.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program `clique`, if it was built.
pub(super) fn router() -> Option<PathBuf> {
    let this = std::env::current_exe().ok()?;
    Some(this.with_file_name("clique")).filter(|clique| clique.exists())
}

/// What a program's command prints as JSON.
pub(super) fn run(program: &Path, command: &[String]) -> Result<Value, String> {
    let output = Command::new(program)
        .args(command)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{}: {e}", command.join(" ")))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|e| format!("{}: {e}", command.join(" ")))
}
