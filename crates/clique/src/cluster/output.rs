//! What the subcommands print, and where they find a cluster of this process.

use crate::console;
use crate::status::Status;
use std::path::PathBuf;

/// The socket of a cluster in one process, if none is named: where only its user can make one, if there is such a place.
pub(super) fn default_socket() -> PathBuf {
    let own = std::env::var_os("XDG_RUNTIME_DIR").filter(|directory| !directory.is_empty());
    own.map_or_else(std::env::temp_dir, PathBuf::from).join("clique-cluster.sock")
}

/// Prints a result as JSON.
pub(super) fn json(value: &impl serde::Serialize) -> Status {
    match serde_json::to_string_pretty(value) {
        Ok(text) => console::write_result(None, &(text + "\n")),
        Err(error) => complain("", &error.to_string(), Status::Failure),
    }
}

/// Says what went wrong.
pub(super) fn complain(command: &str, error: &str, status: Status) -> Status {
    console::complain(&format!("clique cluster {command}: {error}\n"));
    status
}
