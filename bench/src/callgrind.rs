//! Instructions, counted by valgrind's callgrind.

use std::path::Path;
use std::process::Command;

/// Packets of the two runs whose difference is counted, so that starting and stopping cancel out.
const FEW: u64 = 5_000;
const MANY: u64 = 25_000;

/// Instructions a packet of the forwarding case with this name: this program's own, under callgrind.
///
/// # Errors
/// A sentence: valgrind is not there, or its output is not as expected.
pub(crate) fn per_packet(case: &str) -> Result<f64, String> {
    per_packet_of(&["forward", "--runs", "1", "--only", case])
}

/// Instructions a packet of this program's own command that takes `--packets`.
///
/// # Errors
/// As [`per_packet`].
pub(crate) fn per_packet_of(command: &[&str]) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|e| format!("this program's own path: {e}"))?;
    per_unit(FEW, MANY, |packets| count(&program, &[command, &["--packets", &packets.to_string()]].concat()))
}

/// Instructions of each of many things, given how many some of them take: the difference of two runs.
///
/// # Errors
/// As counting them says.
pub(crate) fn per_unit(
    few: u64,
    many: u64,
    count: impl Fn(u64) -> Result<u64, String>,
) -> Result<f64, String> {
    let (for_few, for_many) = (count(few)?, count(many)?);
    Ok(for_many.saturating_sub(for_few) as f64 / (many - few) as f64)
}

/// The instructions of one run of a program.
///
/// # Errors
/// As [`per_packet`].
pub(crate) fn count(program: &Path, arguments: &[&str]) -> Result<u64, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments)
        .output()
        .map_err(|e| format!("cannot run valgrind, which counts instructions (is it installed?): {e}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    collected(&text)
        .filter(|_| output.status.success())
        .ok_or_else(|| format!("no count of instructions from callgrind:\n{text}"))
}

/// The instructions of this program's own pieces, run with `arguments` under callgrind: of the first `pieces` of
/// those that lie between two calls of the function that `boundary` names (a pattern), from the first call to the
/// second, the third to the fourth, and so on.
///
/// # Errors
/// As [`per_packet`].
pub(crate) fn between(boundary: &str, arguments: &[&str], pieces: usize) -> Result<Vec<f64>, String> {
    let program = std::env::current_exe().map_err(|e| format!("this program's own path: {e}"))?;
    let directory = std::env::temp_dir().join(format!("clique-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let file = directory.join("counts");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", &format!("--dump-before={boundary}")])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program)
        .args(arguments)
        .output()
        .map_err(|e| format!("cannot run valgrind, which counts instructions (is it installed?): {e}"))?;
    let counts = if output.status.success() {
        // A file is written at each call, with what has run since the one before.
        (1..=pieces).map(|piece| total(&format!("{}.{}", file.display(), 2 * piece))).collect()
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    };
    std::fs::remove_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    counts
}

/// The instructions that a file of callgrind's counts.
fn total(name: &str) -> Result<f64, String> {
    let text = std::fs::read_to_string(name).map_err(|e| format!("{name}: {e}"))?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    total.and_then(|total| total.trim().parse().ok()).ok_or(format!("{name}: no totals"))
}

/// The number in callgrind's last line, `==PID== Collected : NUMBER`.
fn collected(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("Collected :"))?;
    line.split(':').next_back()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::collected;

    #[test]
    fn the_line_is_found() {
        let text = "==1== Callgrind, a profiler\n==1==\n==1== Events    : Ir\n==1== Collected : 123456\n";
        assert_eq!(collected(text), Some(123_456));
        assert_eq!(collected("==1== nothing"), None);
    }
}
